// The functions of Keras by the names they have in Python.
#include "thalweg/keras/activations.h"
#include "thalweg/keras/losses.h"
#include "thalweg/keras/metrics.h"
#include "thalweg/ops/function.h"

namespace thalweg::keras {
namespace {

const FunctionDef* const public_functions_functions[] = {
    &define_function<losses::mean_squared_error>(
        {"keras.losses.mean_squared_error", "keras.metrics.mean_squared_error", "keras.losses.mse", "keras.metrics.mse",
         "keras.losses.MSE", "keras.metrics.MSE"},
        {"y_true", "y_pred"}),
    &define_function<losses::mean_absolute_error>(
        {"keras.losses.mean_absolute_error", "keras.metrics.mean_absolute_error", "keras.losses.mae",
         "keras.metrics.mae", "keras.losses.MAE", "keras.metrics.MAE"},
        {"y_true", "y_pred"}),
    &define_function<losses::mean_absolute_percentage_error>(
        {"keras.losses.mean_absolute_percentage_error", "keras.metrics.mean_absolute_percentage_error",
         "keras.losses.mape", "keras.metrics.mape", "keras.losses.MAPE", "keras.metrics.MAPE"},
        {"y_true", "y_pred"}),
    &define_function<losses::mean_squared_logarithmic_error>(
        {"keras.losses.mean_squared_logarithmic_error", "keras.metrics.mean_squared_logarithmic_error",
         "keras.losses.msle", "keras.metrics.msle", "keras.losses.MSLE", "keras.metrics.MSLE"},
        {"y_true", "y_pred"}),
    &define_function<losses::huber>({"keras.losses.huber"}, {"y_true", "y_pred"}),
    &define_function<losses::log_cosh>(
        {"keras.losses.log_cosh", "keras.metrics.log_cosh", "keras.losses.logcosh", "keras.metrics.logcosh"},
        {"y_true", "y_pred"}),
    &define_function<losses::cosine_similarity>({"keras.losses.cosine_similarity"}, {"y_true", "y_pred"}),
    &define_function<losses::poisson>({"keras.losses.poisson", "keras.metrics.poisson"}, {"y_true", "y_pred"}),
    &define_function<losses::kl_divergence>(
        {"keras.losses.kl_divergence", "keras.metrics.kl_divergence", "keras.losses.kullback_leibler_divergence",
         "keras.metrics.kullback_leibler_divergence", "keras.losses.kld", "keras.metrics.kld", "keras.losses.KLD",
         "keras.metrics.KLD"},
        {"y_true", "y_pred"}),
    &define_function<losses::hinge>({"keras.losses.hinge", "keras.metrics.hinge"}, {"y_true", "y_pred"}),
    &define_function<losses::squared_hinge>({"keras.losses.squared_hinge", "keras.metrics.squared_hinge"},
                                            {"y_true", "y_pred"}),
    &define_function<losses::categorical_hinge>({"keras.losses.categorical_hinge"}, {"y_true", "y_pred"}),
    &define_function<losses::binary_crossentropy>(
        {"keras.losses.binary_crossentropy", "keras.metrics.binary_crossentropy"}, {"y_true", "y_pred"}),
    &define_function<losses::binary_focal_crossentropy>(
        {"keras.losses.binary_focal_crossentropy", "keras.metrics.binary_focal_crossentropy"}, {"y_true", "y_pred"}),
    &define_function<losses::categorical_crossentropy>(
        {"keras.losses.categorical_crossentropy", "keras.metrics.categorical_crossentropy"}, {"y_true", "y_pred"}),
    &define_function<losses::categorical_focal_crossentropy>(
        {"keras.losses.categorical_focal_crossentropy", "keras.metrics.categorical_focal_crossentropy"},
        {"y_true", "y_pred"}),
    &define_function<losses::sparse_categorical_crossentropy>(
        {"keras.losses.sparse_categorical_crossentropy", "keras.metrics.sparse_categorical_crossentropy"},
        {"y_true", "y_pred"}),
    &define_function<metrics::binary_accuracy>({"keras.metrics.binary_accuracy"}, {"y_true", "y_pred"}),
    &define_function<metrics::categorical_accuracy>({"keras.metrics.categorical_accuracy"}, {"y_true", "y_pred"}),
    &define_function<metrics::sparse_categorical_accuracy>({"keras.metrics.sparse_categorical_accuracy"},
                                                           {"y_true", "y_pred"}),
    &define_function<metrics::top_k_categorical_accuracy>({"keras.metrics.top_k_categorical_accuracy"},
                                                          {"y_true", "y_pred"}),
    &define_function<metrics::sparse_top_k_categorical_accuracy>({"keras.metrics.sparse_top_k_categorical_accuracy"},
                                                                 {"y_true", "y_pred"}),
    &define_function<activations::linear>({"keras.activations.linear"}, {"x"}),
    &define_function<activations::relu>({"keras.activations.relu"}, {"x"}),
    &define_function<activations::elu>({"keras.activations.elu"}, {"x"}),
    &define_function<activations::selu>({"keras.activations.selu"}, {"x"}),
    &define_function<activations::gelu>({"keras.activations.gelu"}, {"x"}),
    &define_function<activations::swish>({"keras.activations.swish", "keras.activations.silu"}, {"x"}),
    &define_function<activations::mish>({"keras.activations.mish"}, {"x"}),
    &define_function<activations::sigmoid>({"keras.activations.sigmoid"}, {"x"}),
    &define_function<activations::hard_sigmoid>({"keras.activations.hard_sigmoid"}, {"x"}),
    &define_function<activations::tanh>({"keras.activations.tanh"}, {"x"}),
    &define_function<activations::softplus>({"keras.activations.softplus"}, {"x"}),
    &define_function<activations::softsign>({"keras.activations.softsign"}, {"x"}),
    &define_function<activations::exponential>({"keras.activations.exponential"}, {"x"}),
    &define_function<activations::softmax>({"keras.activations.softmax"}, {"x"}),
};

}  // namespace
}  // namespace thalweg::keras
