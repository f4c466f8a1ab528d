#include "thalweg/kernels/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numbers>

namespace thalweg::kernels {
namespace {

constexpr size_t max_kept = 16;
constexpr int64_t longest_kept = int64_t{1} << 20;

// The factors of n, fours first; empty where one is too large for a pass.
std::vector<int> factors(int64_t n) {
  std::vector<int> found;
  for (int f : {4, 2, 3, 5, 7, 11, 13, 17, 19, 23})
    for (; n % f == 0; n /= f) found.push_back(f);
  if (n != 1) found.clear();
  return found;
}

template <class R> std::complex<R> narrow(std::complex<double> z) {
  return {static_cast<R>(z.real()), static_cast<R>(z.imag())};
}

template <class R> void add_passes(FftPlan<R>& plan, const std::vector<int>& radices) {
  int64_t left = plan.n, done = 1;
  for (int r : radices) {
    FftPass pass{r, left / r, done, static_cast<int64_t>(plan.twiddles.size()),
                 static_cast<int64_t>(plan.roots.size())};
    for (int64_t p = 0; p < pass.m; ++p)
      for (int k = 1; k < r; ++k) plan.twiddles.push_back(narrow<R>(root_of_unity(p * k, left)));
    for (int k = 0; k < r; ++k) plan.roots.push_back(narrow<R>(root_of_unity(k, r)));
    plan.passes.push_back(pass);
    left /= r;
    done *= r;
  }
}

// j k = (j^2 + k^2 - (k - j)^2) / 2 turns the transform into a convolution with exp(i pi j^2 / n), which a transform of
// a convenient length computes.
template <class R> void add_convolution(FftPlan<R>& plan) {
  const int64_t n = plan.n;
  int64_t length = 1;
  while (length < 2 * n - 1) length *= 2;
  plan.convolution = fft_plan<R>(length);
  std::vector<double> data(static_cast<size_t>(2 * length)), other(data.size());
  for (int64_t j = 0; j < n; ++j) {
    auto square = static_cast<int64_t>(static_cast<unsigned __int128>(j) * static_cast<unsigned __int128>(j) %
                                       static_cast<unsigned __int128>(2 * n));
    std::complex<double> z = root_of_unity(square, 2 * n);
    plan.chirp.push_back(narrow<R>(z));
    for (int64_t at : {j, (length - j) % length}) {
      data[static_cast<size_t>(2 * at)] = z.real();
      data[static_cast<size_t>(2 * at + 1)] = -z.imag();
    }
  }
  const double* filter = run_passes<double, 1>(*fft_plan<double>(length), data.data(), other.data());
  const double scale = 1 / static_cast<double>(length);
  for (int64_t j = 0; j < length; ++j)
    plan.filter.push_back(narrow<R>({filter[2 * j] * scale, filter[2 * j + 1] * scale}));
}

template <class R> struct Roots {
  int64_t n;
  int multiples;
  int64_t count;
  std::vector<std::complex<R>> values;
};

// The latest things made, up to `max_kept` of them. Never destroyed: threads may compute while the program ends.
template <class T> class Kept {
 public:
  template <class Matches> std::shared_ptr<const T> find(const Matches& matches) {
    std::lock_guard lock(mutex_);
    for (auto it = things_.begin(); it != things_.end(); ++it)
      if (matches(**it)) {
        std::rotate(it, it + 1, things_.end());
        return things_.back();
      }
    return nullptr;
  }
  void keep(std::shared_ptr<const T> thing) {
    std::lock_guard lock(mutex_);
    if (things_.size() == max_kept) things_.erase(things_.begin());
    things_.push_back(std::move(thing));
  }

 private:
  std::mutex mutex_;
  std::vector<std::shared_ptr<const T>> things_;  // the latest last
};

}  // namespace

// Angles are reduced to an eighth of a turn in integers, so that nothing is lost in pi.
std::complex<double> root_of_unity(int64_t k, int64_t n) {
  auto eighth = static_cast<int64_t>(static_cast<unsigned __int128>(k % n) * 8 / static_cast<unsigned __int128>(n));
  auto turn = [&](int64_t a, int64_t b) {  // a / b of a quarter turn from the nearest axis
    return 2 * std::numbers::pi * static_cast<double>(a) / static_cast<double>(b);
  };
  k %= n;
  double c = 1, s = 0;
  switch (eighth) {
    case 0:
      c = std::cos(turn(k, n)), s = std::sin(turn(k, n));
      break;
    case 1:
      c = std::sin(turn(n - 4 * k, 4 * n)), s = std::cos(turn(n - 4 * k, 4 * n));
      break;
    case 2:
      c = -std::sin(turn(4 * k - n, 4 * n)), s = std::cos(turn(4 * k - n, 4 * n));
      break;
    case 3:
      c = -std::cos(turn(n - 2 * k, 2 * n)), s = std::sin(turn(n - 2 * k, 2 * n));
      break;
    case 4:
      c = -std::cos(turn(2 * k - n, 2 * n)), s = -std::sin(turn(2 * k - n, 2 * n));
      break;
    case 5:
      c = -std::sin(turn(3 * n - 4 * k, 4 * n)), s = -std::cos(turn(3 * n - 4 * k, 4 * n));
      break;
    case 6:
      c = std::sin(turn(4 * k - 3 * n, 4 * n)), s = -std::cos(turn(4 * k - 3 * n, 4 * n));
      break;
    default:
      c = std::cos(turn(n - k, n)), s = -std::sin(turn(n - k, n));
  }
  return {c, -s};
}

template <class R> std::shared_ptr<const FftPlan<R>> fft_plan(int64_t n) {
  static Kept<FftPlan<R>>& kept = *new Kept<FftPlan<R>>;
  if (auto found = kept.find([&](const FftPlan<R>& p) { return p.n == n; })) return found;
  auto plan = std::make_shared<FftPlan<R>>();
  plan->n = n;
  std::vector<int> radices = factors(n);
  if (radices.empty() && n > 1) add_convolution(*plan);
  else add_passes(*plan, radices);
  if (n <= longest_kept) kept.keep(plan);
  return plan;
}

template <class R>
std::shared_ptr<const std::vector<std::complex<R>>> fft_roots(int64_t n, int multiples, int64_t count) {
  static Kept<Roots<R>>& kept = *new Kept<Roots<R>>;
  auto found = kept.find([&](const Roots<R>& r) { return r.n == n && r.multiples == multiples && r.count == count; });
  if (!found) {
    auto roots = std::make_shared<Roots<R>>(Roots<R>{n, multiples, count, {}});
    for (int v = 1; v <= multiples; ++v)
      for (int64_t k = 0; k < count; ++k) roots->values.push_back(narrow<R>(root_of_unity(v * k, n)));
    if (n <= longest_kept) kept.keep(roots);
    found = roots;
  }
  return {found, &found->values};
}

template std::shared_ptr<const FftPlan<float>> fft_plan(int64_t);
template std::shared_ptr<const FftPlan<double>> fft_plan(int64_t);
template std::shared_ptr<const std::vector<std::complex<float>>> fft_roots(int64_t, int, int64_t);
template std::shared_ptr<const std::vector<std::complex<double>>> fft_roots(int64_t, int, int64_t);

}  // namespace thalweg::kernels
