// Making elements ahead, on a thread of its own.
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "thalweg/core/error.h"
#include "thalweg/data/stage.h"

namespace thalweg::data::stages {
namespace {

class PrefetchDataset : public Transformation {
 public:
  PrefetchDataset(const StagePtr& from, int64_t buffer_size) : Transformation(from), buffer_size_(buffer_size) {}
  std::unique_ptr<Iterator> iterate() const override {
    if (buffer_size_ == 0) return input().iterate();
    return std::make_unique<Ahead>(input().iterate(), static_cast<size_t>(buffer_size_ < 0 ? 2 : buffer_size_));
  }
  int64_t cardinality() const override { return input().cardinality(); }
  const char* name() const override { return "PrefetchDataset"; }

 private:
  class Ahead : public Iterator {
   public:
    Ahead(std::unique_ptr<Iterator> source, size_t size)
        : input_(std::move(source)), size_(size), thread_([this] { produce(); }) {}
    ~Ahead() override {
      {
        std::lock_guard lock(mutex_);
        stopped_ = true;
      }
      changed_.notify_all();
      thread_.join();
    }
    bool next(std::vector<Tensor>& element) override {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !ready_.empty() || ended_; });
      if (ready_.empty()) {
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
        return false;
      }
      element = std::move(ready_.front());
      ready_.pop_front();
      lock.unlock();
      changed_.notify_all();
      return true;
    }

   private:
    void produce() {
      for (;;) {
        std::vector<Tensor> element;
        bool more = false;
        std::exception_ptr failure;
        try {
          more = input_->next(element);
        } catch (...) {
          failure = std::current_exception();
        }
        std::unique_lock lock(mutex_);
        if (more) ready_.push_back(std::move(element));
        ended_ = !more;
        failure_ = failure;
        changed_.notify_all();
        if (ended_) return;
        changed_.wait(lock, [&] { return ready_.size() < size_ || stopped_; });
        if (stopped_) return;
      }
    }

    std::unique_ptr<Iterator> input_;
    size_t size_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::vector<Tensor>> ready_;
    bool ended_ = false, stopped_ = false;
    std::exception_ptr failure_;
    std::thread thread_;  // the last member: it uses all others
  };

  int64_t buffer_size_;
};

}  // namespace

StagePtr prefetch(const StagePtr& input, int64_t buffer_size) {
  if (buffer_size < AUTOTUNE)
    throw InvalidArgumentError("prefetch: buffer_size must be at least 0, or AUTOTUNE (-1), got " +
                               std::to_string(buffer_size));
  return std::make_shared<PrefetchDataset>(input, buffer_size);
}

}  // namespace thalweg::data::stages
