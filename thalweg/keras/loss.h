// Losses: how far predictions are from what is true, example by example, then reduced to one number.
#pragma once
#include "thalweg/keras/object.h"
#include "thalweg/keras/pair_function.h"

namespace thalweg::keras {

namespace losses {
/// ValueError where it is none of "auto", "none", "sum", "sum_over_batch_size".
THALWEG_API void check_reduction(const std::string& reduction);
/// While one lives, this thread leaves ranks as they are: Keras matches those of tensors alone, and Python also gives
/// arrays and lists.
class THALWEG_API RanksKept {
 public:
  RanksKept();
  ~RanksKept();
  RanksKept(const RanksKept&) = delete;
  RanksKept& operator=(const RanksKept&) = delete;
};
/// Labels and predictions whose ranks differ by one, with the last dimension of one squeezed, as functions take them.
THALWEG_API std::pair<Tensor, Tensor> match_ranks(const Tensor& y_true, const Tensor& y_pred);
/// Losses of examples, weighted and reduced.
THALWEG_API Tensor compute_weighted_loss(const Tensor& losses, const Tensor& sample_weight,
                                         const std::string& reduction);
}  // namespace losses

/// What stands behind a loss. A struct has `call(y_true, y_pred)`, which gives the loss of each example, and may have a
/// member `reduction`: "auto", "sum_over_batch_size", "sum" or "none". A struct that wraps a function of Keras names it
/// in `static constexpr const char* fn`.
class THALWEG_API LossInterface : public Object {
 public:
  static constexpr const char* kind = "loss";
  virtual Tensor call(const Tensor& y_true, const Tensor& y_pred) = 0;

  std::string reduction = "auto";

  template <class T> static constexpr bool implemented_by = detail::HasPairCall<T> || detail::PairFunction<T>;
  template <class T> static constexpr bool wraps_function = requires { T::fn; } || !detail::HasPairCall<T>;
  template <class T> class Adapt : public Adapter<LossInterface, T> {
   public:
    explicit Adapt(T given) : Adapter<LossInterface, T>(std::move(given)) {
      if constexpr (Describable<T>) {
        const Rows& rows = rows_of(this->object);
        if (auto* given_reduction = rows.template find<std::string>("reduction", &this->object))
          this->reduction = *given_reduction;
        if (auto* given_name = rows.template find<std::string>("name", &this->object)) this->name = *given_name;
        losses::check_reduction(this->reduction);
      }
    }
    Tensor call(const Tensor& y_true, const Tensor& y_pred) override {
      if constexpr (wraps_function<T>) {
        auto [labels, predictions] = losses::match_ranks(y_true, y_pred);
        if constexpr (detail::HasPairCall<T>) return this->object.call(labels, predictions);
        else return detail::call_pair(this->object, labels, predictions);
      } else {
        return this->object.call(y_true, y_pred);
      }
    }
    Value get_config() const override {
      Value config = Adapter<LossInterface, T>::get_config();
      if constexpr (requires { T::fn; }) config.set("fn", T::fn);
      return config;
    }
  };
  template <class T> static std::shared_ptr<Object> make(const Value& config) {
    if constexpr (requires { T::fn; }) {
      Value own = config;
      if (own.is_map()) own.erase("fn");
      return std::make_shared<Adapt<T>>(detail::construct<T>(own));
    } else {
      return std::make_shared<Adapt<T>>(detail::construct<T>(config));
    }
  }
};
extern template class Handle<LossInterface>;

/// A loss: `"mse"`, `losses::Huber({.delta = 2})`, a struct or a lambda.
class THALWEG_API Loss : public Handle<LossInterface> {
 public:
  using Handle::Handle;
  Loss() = default;
  /// One number: the mean over the batch, weighted where weights are given, or as the reduction says. Examples that a
  /// mask of the predictions or of the losses leaves out count nothing.
  Tensor operator()(const TensorLike& y_true, const TensorLike& y_pred, const Tensor& sample_weight = {}) const;
  const std::string& reduction() const { return p_->reduction; }
};

}  // namespace thalweg::keras
