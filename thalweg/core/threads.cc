#include "thalweg/core/threads.h"

#include <immintrin.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "thalweg/core/error.h"

namespace thalweg {
namespace {

// Training meets denormals, and they cost a factor of 24: every thread that computes flushes them.
void flush_denormals() { _mm_setcsr(_mm_getcsr() | 0x8040); }

thread_local bool inside_pool = false;

/// One parallel call. It lives on the caller's stack; `workers` counts the threads that may still look at it.
struct Job {
  void (*run)(const void*, int64_t) = nullptr;
  const void* body = nullptr;
  int64_t num_chunks = 0;
  std::atomic<int64_t> next{0};
  std::atomic<int64_t> done{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  int workers = 0;  // under the pool's mutex

  // Claims chunks until none is left. A chunk that was claimed is always counted as done.
  void work() {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < num_chunks;) {
      if (!failed.load(std::memory_order_relaxed)) {
        try {
          run(body, i);
        } catch (...) {
          if (!failed.exchange(true)) error = std::current_exception();
        }
      }
      done.fetch_add(1, std::memory_order_acq_rel);
    }
  }
};

class Pool {
 public:
  Pool() { resize(0); }
  ~Pool() { stop(); }

  int size() const { return size_.load(std::memory_order_relaxed); }

  void resize(int count) {
    std::lock_guard serial(call_mutex_);
    stop();
    if (count <= 0) count = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    size_ = count;
    stopping_ = false;
  }

  void run(Job& job) {
    std::unique_lock serial(call_mutex_, std::try_to_lock);
    if (!serial.owns_lock()) return job.work();  // another thread is using the workers: compute alone
    if (threads_.empty()) start();
    {
      std::lock_guard lock(mutex_);
      job_ = &job;
      ticket_.fetch_add(1, std::memory_order_release);
      if (sleeping_) wake_.notify_all();
    }
    job.work();
    // All chunks are claimed; wait for those that others are still computing, then for their owners to let go.
    for (int spins = 0; job.done.load(std::memory_order_acquire) < job.num_chunks; ++spins)
      if (spins < 2000) _mm_pause();
      else std::this_thread::yield();
    std::unique_lock lock(mutex_);
    job_ = nullptr;
    while (job.workers) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
  }

 private:
  void start() {
    try {
      for (int i = 1; i < size_; ++i) threads_.emplace_back([this] { loop(); });
    } catch (const std::system_error&) {
      return;  // the system allows no more threads: those that there are do the work
    }
  }
  void stop() {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
      wake_.notify_all();
    }
    for (auto& t : threads_) t.join();
    threads_.clear();
  }
  void loop() {
    flush_denormals();
    inside_pool = true;
    uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    while (!stopping_) {
      if (job_ && ticket_.load(std::memory_order_relaxed) != seen) {
        seen = ticket_.load(std::memory_order_relaxed);
        Job& job = *job_;
        ++job.workers;
        lock.unlock();
        job.work();
        lock.lock();
        --job.workers;
        continue;
      }
      seen = ticket_.load(std::memory_order_relaxed);
      // Stay awake a moment: small ops follow each other closely. Then sleep, so that an idle program costs nothing.
      lock.unlock();
      bool news = false;
      for (int i = 0; i < 4000 && !news; ++i) {
        _mm_pause();
        news = ticket_.load(std::memory_order_acquire) != seen;
      }
      lock.lock();
      if (news || stopping_ || ticket_.load(std::memory_order_relaxed) != seen) continue;
      ++sleeping_;
      wake_.wait(lock, [&] { return stopping_ || ticket_.load(std::memory_order_relaxed) != seen; });
      --sleeping_;
    }
  }

  std::mutex call_mutex_;  // held by the one caller that uses the workers
  std::mutex mutex_;
  std::condition_variable wake_;
  std::vector<std::thread> threads_;
  std::atomic<int> size_{1};
  std::atomic<uint64_t> ticket_{0};
  Job* job_ = nullptr;
  int sleeping_ = 0;
  bool stopping_ = false;
};

// Never destroyed: a worker may outlive static destructors of the program.
Pool& pool() {
  static Pool& instance = *new Pool;
  return instance;
}
}  // namespace

int num_threads() { return pool().size(); }
void set_num_threads(int count) {
  if (inside_pool) throw RuntimeError("set_num_threads cannot be called from inside a parallel computation");
  pool().resize(count);
}

namespace detail {
void run_chunks(int64_t num_chunks, void (*run)(const void*, int64_t), const void* body) {
  if (inside_pool || num_chunks == 1 || pool().size() == 1) {
    for (int64_t i = 0; i < num_chunks; ++i) run(body, i);
    return;
  }
  Job job;
  job.run = run;
  job.body = body;
  job.num_chunks = num_chunks;
  inside_pool = true;
  pool().run(job);
  inside_pool = false;
  if (job.error) std::rethrow_exception(job.error);
}
}  // namespace detail
}  // namespace thalweg
