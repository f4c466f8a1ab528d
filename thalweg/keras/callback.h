// Callbacks: what is told how training goes, and may change it.
//
//   struct StopWhenGood {
//     double target = 0.1;
//     void on_epoch_end(keras::Model& model, int epoch, const keras::Logs& logs) {
//       if (logs.at("loss") < target) model.stop_training();
//     }
//   };
//   model.fit(x, y, {.callbacks = {StopWhenGood{.target = 0.05}}});
//
// A hook may take the model, the number of the epoch or batch, and the logs, or leave any of them out.
#pragma once
#include "thalweg/keras/logs.h"
#include "thalweg/keras/object.h"

namespace thalweg::keras {

class Model;

/// What a run of fit, evaluate or predict is: epochs, steps (-1: not known), verbosity.
struct RunParameters {
  int verbose = 1;
  int epochs = 1;
  int64_t steps = -1;
};

/// What stands behind a callback; every hook does nothing.
class THALWEG_API CallbackInterface : public Object {
 public:
  static constexpr const char* kind = "callback";
  virtual void set_model(Model&) {}
  virtual void set_params(const RunParameters&) {}
  virtual void on_train_begin(Model&, Logs&) {}
  virtual void on_train_end(Model&, Logs&) {}
  virtual void on_epoch_begin(Model&, int, Logs&) {}
  virtual void on_epoch_end(Model&, int, Logs&) {}
  virtual void on_train_batch_begin(Model&, int64_t, Logs&) {}
  virtual void on_train_batch_end(Model&, int64_t, Logs&) {}
  virtual void on_test_begin(Model&, Logs&) {}
  virtual void on_test_end(Model&, Logs&) {}
  virtual void on_test_batch_begin(Model&, int64_t, Logs&) {}
  virtual void on_test_batch_end(Model&, int64_t, Logs&) {}
  virtual void on_predict_begin(Model&, Logs&) {}
  virtual void on_predict_end(Model&, Logs&) {}
  virtual void on_predict_batch_begin(Model&, int64_t, Logs&) {}
  virtual void on_predict_batch_end(Model&, int64_t, Logs&) {}
  /// Whether it looks at the logs of single batches, which cost time to compute.
  virtual bool wants_batch_logs() const { return false; }
  /// What it found out so far: the member `state` of its struct, `{"wait": 2, "best": 0.5}`.
  virtual Value state() const { return {}; }
  /// The weights it keeps of the best epoch, the member `best_weights` of its struct; none before there are any.
  virtual std::vector<Tensor> best_weights() const { return {}; }

  template <class T>
  static constexpr bool implemented_by =
      requires { &T::on_train_begin; } || requires { &T::on_train_end; } || requires { &T::on_epoch_begin; } ||
      requires { &T::on_epoch_end; } || requires { &T::on_train_batch_begin; } ||
      requires { &T::on_train_batch_end; } || requires { &T::on_test_begin; } || requires { &T::on_test_end; } ||
      requires { &T::on_test_batch_begin; } || requires { &T::on_test_batch_end; } ||
      requires { &T::on_predict_begin; } || requires { &T::on_predict_end; } ||
      requires { &T::on_predict_batch_begin; } || requires { &T::on_predict_batch_end; };
  template <class T> class Adapt;
};

template <class T> class CallbackInterface::Adapt : public Adapter<CallbackInterface, T> {
 public:
  using Adapter<CallbackInterface, T>::Adapter;
  void set_params(const RunParameters& params) override {
    if constexpr (requires { this->object.set_params(params); }) this->object.set_params(params);
  }
  void on_train_begin(Model& m, Logs& l) override {
    if constexpr (requires { &T::on_train_begin; }) hook(&T::on_train_begin, m, 0, l);
  }
  void on_train_end(Model& m, Logs& l) override {
    if constexpr (requires { &T::on_train_end; }) hook(&T::on_train_end, m, 0, l);
  }
  void on_epoch_begin(Model& m, int i, Logs& l) override {
    if constexpr (requires { &T::on_epoch_begin; }) hook(&T::on_epoch_begin, m, i, l);
  }
  void on_epoch_end(Model& m, int i, Logs& l) override {
    if constexpr (requires { &T::on_epoch_end; }) hook(&T::on_epoch_end, m, i, l);
  }
  void on_train_batch_begin(Model& m, int64_t i, Logs& l) override {
    if constexpr (requires { &T::on_train_batch_begin; }) hook(&T::on_train_batch_begin, m, i, l);
  }
  void on_train_batch_end(Model& m, int64_t i, Logs& l) override {
    if constexpr (requires { &T::on_train_batch_end; }) hook(&T::on_train_batch_end, m, i, l);
  }
  void on_test_begin(Model& m, Logs& l) override {
    if constexpr (requires { &T::on_test_begin; }) hook(&T::on_test_begin, m, 0, l);
  }
  void on_test_end(Model& m, Logs& l) override {
    if constexpr (requires { &T::on_test_end; }) hook(&T::on_test_end, m, 0, l);
  }
  void on_test_batch_begin(Model& m, int64_t i, Logs& l) override {
    if constexpr (requires { &T::on_test_batch_begin; }) hook(&T::on_test_batch_begin, m, i, l);
  }
  void on_test_batch_end(Model& m, int64_t i, Logs& l) override {
    if constexpr (requires { &T::on_test_batch_end; }) hook(&T::on_test_batch_end, m, i, l);
  }
  void on_predict_begin(Model& m, Logs& l) override {
    if constexpr (requires { &T::on_predict_begin; }) hook(&T::on_predict_begin, m, 0, l);
  }
  void on_predict_end(Model& m, Logs& l) override {
    if constexpr (requires { &T::on_predict_end; }) hook(&T::on_predict_end, m, 0, l);
  }
  void on_predict_batch_begin(Model& m, int64_t i, Logs& l) override {
    if constexpr (requires { &T::on_predict_batch_begin; }) hook(&T::on_predict_batch_begin, m, i, l);
  }
  void on_predict_batch_end(Model& m, int64_t i, Logs& l) override {
    if constexpr (requires { &T::on_predict_batch_end; }) hook(&T::on_predict_batch_end, m, i, l);
  }
  bool wants_batch_logs() const override {
    if constexpr (requires { this->object.wants_batch_logs(); }) return this->object.wants_batch_logs();
    else {
      bool wants = false;
      if constexpr (requires { &T::on_train_batch_end; }) wants |= takes_logs<decltype(&T::on_train_batch_end)>;
      if constexpr (requires { &T::on_test_batch_end; }) wants |= takes_logs<decltype(&T::on_test_batch_end)>;
      return wants;
    }
  }
  Value state() const override {
    if constexpr (requires { this->object.state; }) return rows_of(this->object.state).get(&this->object.state);
    else return {};
  }
  std::vector<Tensor> best_weights() const override {
    if constexpr (requires { *this->object.best_weights; })
      return this->object.best_weights ? *this->object.best_weights : std::vector<Tensor>();
    else return {};
  }

 private:
  template <class Method>
  static constexpr bool takes_logs =
      std::is_invocable_v<Method, T&, Model&, int64_t, Logs&> || std::is_invocable_v<Method, T&, int64_t, Logs&> ||
      std::is_invocable_v<Method, T&, Model&, Logs&> || std::is_invocable_v<Method, T&, Logs&>;
  // With as much of model, number and logs as the hook takes.
  template <class Method, class I> void hook(Method method, Model& m, [[maybe_unused]] I i, Logs& l) {
    T& t = this->object;
    if constexpr (std::is_invocable_v<Method, T&, Model&, I, Logs&>) (t.*method)(m, i, l);
    else if constexpr (std::is_invocable_v<Method, T&, I, Logs&>) (t.*method)(i, l);
    else if constexpr (std::is_invocable_v<Method, T&, Model&, Logs&>) (t.*method)(m, l);
    else if constexpr (std::is_invocable_v<Method, T&, Logs&>) (t.*method)(l);
    else if constexpr (std::is_invocable_v<Method, T&, Model&, I>) (t.*method)(m, i);
    else if constexpr (std::is_invocable_v<Method, T&, I>) (t.*method)(i);
    else if constexpr (std::is_invocable_v<Method, T&, Model&>) (t.*method)(m);
    else {
      static_assert(std::is_invocable_v<Method, T&>,
                    "a hook of a callback takes (Model& model, int number, const Logs& logs), or fewer of these");
      (t.*method)();
    }
  }
};
extern template class Handle<CallbackInterface>;

/// A callback: a struct with hooks, or one of keras::callbacks.
using Callback = Handle<CallbackInterface>;

}  // namespace thalweg::keras
