// The optimizers of Keras. Options that all have: weight_decay shrinks variables by that share of the rate in each
// step; clipnorm, clipvalue and global_clipnorm bound gradients; use_ema keeps averages of the variables, which take
// their place every ema_overwrite_frequency steps and when training ends. jit_compile changes nothing here.
#pragma once
#include "thalweg/keras/optimizer.h"
#include "thalweg/keras/schedules.h"

namespace thalweg::keras::optimizers {

struct SGDOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0;
  Flag nesterov = false;
  std::optional<double> weight_decay = {}, clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  Flag use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  Flag jit_compile = true;
  std::string name = "SGD";
};
/// Gradient descent, with momentum if wanted.
THALWEG_API Optimizer SGD(const SGDOptions& options = {});

struct RMSpropOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.9, momentum = 0, epsilon = 1e-7;
  Flag centered = false;
  std::optional<double> weight_decay = {}, clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  Flag use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {100};
  Flag jit_compile = true;
  std::string name = "RMSprop";
};
/// Divides gradients by the root of the running mean of their squares, or, centered, of their variance.
THALWEG_API Optimizer RMSprop(const RMSpropOptions& options = {});

struct AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  Flag amsgrad = false;
  std::optional<double> weight_decay = {}, clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  Flag use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  Flag jit_compile = true;
  std::string name = "Adam";
};
/// Steps by the running means of gradients and of their squares; amsgrad keeps the largest of the latter.
THALWEG_API Optimizer Adam(const AdamOptions& options = {});

struct AdamWOptions {
  LearningRate learning_rate = 0.001;
  std::optional<double> weight_decay = 0.004;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  Flag amsgrad = false;
  std::optional<double> clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  Flag use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  Flag jit_compile = true;
  std::string name = "AdamW";
};
/// Adam with weight decay.
THALWEG_API Optimizer AdamW(const AdamWOptions& options = {});

struct AdadeltaOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.95, epsilon = 1e-7;
  std::optional<double> weight_decay = {}, clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  Flag use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  Flag jit_compile = true;
  std::string name = "Adadelta";
};
/// Steps whose length follows that of the last ones.
THALWEG_API Optimizer Adadelta(const AdadeltaOptions& options = {});

struct AdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1, epsilon = 1e-7;
  std::optional<double> weight_decay = {}, clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  Flag use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  Flag jit_compile = true;
  std::string name = "Adagrad";
};
/// Divides gradients by the root of the sum of all their squares: for sparse ones.
THALWEG_API Optimizer Adagrad(const AdagradOptions& options = {});

struct AdamaxOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  std::optional<double> weight_decay = {}, clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  Flag use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  Flag jit_compile = true;
  std::string name = "Adamax";
};
/// Adam with the largest gradient, faded by beta_2, in place of the root of the squares.
THALWEG_API Optimizer Adamax(const AdamaxOptions& options = {});

struct AdafactorOptions {
  LearningRate learning_rate = 0.001;
  double beta_2_decay = -0.8, epsilon_1 = 1e-30, epsilon_2 = 1e-3, clip_threshold = 1;
  Flag relative_step = true;
  std::optional<double> weight_decay = {}, clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  Flag use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  Flag jit_compile = true;
  std::string name = "Adafactor";
};
/// Adam that keeps the squares of matrices by rows and columns alone: for large models.
THALWEG_API Optimizer Adafactor(const AdafactorOptions& options = {});

struct NadamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9, beta_2 = 0.999, epsilon = 1e-7;
  std::optional<double> weight_decay = {}, clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  Flag use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  Flag jit_compile = true;
  std::string name = "Nadam";
};
/// Adam with Nesterov's momentum.
THALWEG_API Optimizer Nadam(const NadamOptions& options = {});

struct FtrlOptions {
  LearningRate learning_rate = 0.001;
  double learning_rate_power = -0.5, initial_accumulator_value = 0.1, l1_regularization_strength = 0;
  double l2_regularization_strength = 0, l2_shrinkage_regularization_strength = 0, beta = 0;
  std::optional<double> weight_decay = {}, clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  Flag use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  Flag jit_compile = true;
  std::string name = "Ftrl";
};
/// Follows the regularised leader: for large, shallow models with sparse features.
THALWEG_API Optimizer Ftrl(const FtrlOptions& options = {});

struct LionOptions {
  LearningRate learning_rate = 0.0001;
  double beta_1 = 0.9, beta_2 = 0.99;
  std::optional<double> weight_decay = {}, clipnorm = {}, clipvalue = {}, global_clipnorm = {};
  Flag use_ema = false;
  double ema_momentum = 0.99;
  std::optional<int64_t> ema_overwrite_frequency = {};
  Flag jit_compile = true;
  std::string name = "Lion";
};
/// Steps by the sign of the running mean alone.
THALWEG_API Optimizer Lion(const LionOptions& options = {});

// The same with an option by position (docs/decisions/0013).
template <As<LearningRate> A = LearningRate> Optimizer SGD(const A& learning_rate, SGDOptions options = {}) {
  return SGD(with(options, options.learning_rate, learning_rate));
}
template <As<LearningRate> A = LearningRate> Optimizer RMSprop(const A& learning_rate, RMSpropOptions options = {}) {
  return RMSprop(with(options, options.learning_rate, learning_rate));
}
template <As<LearningRate> A = LearningRate> Optimizer Adam(const A& learning_rate, AdamOptions options = {}) {
  return Adam(with(options, options.learning_rate, learning_rate));
}
template <As<LearningRate> A = LearningRate> Optimizer AdamW(const A& learning_rate, AdamWOptions options = {}) {
  return AdamW(with(options, options.learning_rate, learning_rate));
}
template <As<LearningRate> A = LearningRate> Optimizer Adadelta(const A& learning_rate, AdadeltaOptions options = {}) {
  return Adadelta(with(options, options.learning_rate, learning_rate));
}
template <As<LearningRate> A = LearningRate> Optimizer Adagrad(const A& learning_rate, AdagradOptions options = {}) {
  return Adagrad(with(options, options.learning_rate, learning_rate));
}
template <As<LearningRate> A = LearningRate> Optimizer Adamax(const A& learning_rate, AdamaxOptions options = {}) {
  return Adamax(with(options, options.learning_rate, learning_rate));
}
template <As<LearningRate> A = LearningRate>
Optimizer Adafactor(const A& learning_rate, AdafactorOptions options = {}) {
  return Adafactor(with(options, options.learning_rate, learning_rate));
}
template <As<LearningRate> A = LearningRate> Optimizer Nadam(const A& learning_rate, NadamOptions options = {}) {
  return Nadam(with(options, options.learning_rate, learning_rate));
}
template <As<LearningRate> A = LearningRate> Optimizer Ftrl(const A& learning_rate, FtrlOptions options = {}) {
  return Ftrl(with(options, options.learning_rate, learning_rate));
}
template <As<LearningRate> A = LearningRate> Optimizer Lion(const A& learning_rate, LionOptions options = {}) {
  return Lion(with(options, options.learning_rate, learning_rate));
}

}  // namespace thalweg::keras::optimizers
