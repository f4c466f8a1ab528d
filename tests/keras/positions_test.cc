// Options by position (docs/decisions/0013), for everything that Keras configures: the configurations are the same.
#include <gtest/gtest.h>

#include "thalweg/thalweg.h"

namespace thalweg::keras {
namespace {

using namespace layers;

template <class H> std::string text(const H& handle) { return handle.class_name() + " " + handle.get_config().json(); }

// Both expressions make objects with one configuration.
#define EXPECT_SAME(by_position, in_options) EXPECT_EQ(text(by_position), text(in_options)) << #by_position

TEST(Positions, AllFormsMeanTheSame) {
  EXPECT_SAME(Dense(4, "relu", {.name = "d"}), Dense(4, {.activation = "relu", .name = "d"}));
  for (const Layer& layer : {Dense(4, nn::relu), Dense(4, nn::softmax), Dense(4, nn::leaky_relu)})
    EXPECT_EQ(layer(ones({2, 3})).shape(), (Shape{2, 4}));
  EXPECT_SAME(Dense(4, std::string("tanh"), {.name = "d"}), Dense(4, {.activation = "tanh", .name = "d"}));
  EXPECT_EQ(Dense(4, "relu").get_config()["activation"].text(), "relu");
  const Layer doubled = Dense(2, [](const Tensor& x) { return 2 * x; }, {.kernel_initializer = "ones"});
  EXPECT_EQ(doubled(Tensor({{1.0f, 2.0f}})).str(), Tensor({{6.0f, 6.0f}}).str());
}

TEST(Positions, Layers) {
  EXPECT_SAME(Masking(2.0, {.name = "m"}), Masking({.mask_value = 2.0, .name = "m"}));
  EXPECT_SAME(ReLU(6, {.name = "r"}), ReLU({.max_value = 6.0f, .name = "r"}));
  EXPECT_SAME(LeakyReLU(0.5, {.name = "r"}), LeakyReLU({.alpha = 0.5f, .name = "r"}));
  EXPECT_SAME(ELU(0.5, {.name = "r"}), ELU({.alpha = 0.5f, .name = "r"}));
  EXPECT_SAME(ThresholdedReLU(0.5, {.name = "r"}), ThresholdedReLU({.theta = 0.5f, .name = "r"}));
  EXPECT_SAME(Softmax(1, {.name = "s"}), Softmax({.axis = 1, .name = "s"}));
  EXPECT_SAME(Softmax({1, 2}, {.name = "s"}), Softmax({.axis = {1, 2}, .name = "s"}));
  EXPECT_SAME(Concatenate(1, {.name = "c"}), Concatenate({.axis = 1, .name = "c"}));
  const Tensor x = {{1.0f}, {2.0f}};
  EXPECT_EQ(concatenate({x, x}, 0).str(), concatenate({x, x}, {.axis = 0}).str());
  EXPECT_SAME(CategoryEncoding(4, {.name = "c"}), CategoryEncoding({.num_tokens = 4, .name = "c"}));
  EXPECT_SAME(Discretization(std::vector{1.0, 2.0}, {.name = "d"}),
              Discretization({.bin_boundaries = std::vector{1.0, 2.0}, .name = "d"}));
  EXPECT_SAME(LayerNormalization(1, {.name = "n"}), LayerNormalization({.axis = 1, .name = "n"}));
  EXPECT_SAME(GroupNormalization(2, {.name = "n"}), GroupNormalization({.groups = 2, .name = "n"}));
  EXPECT_SAME(UnitNormalization(1, {.name = "n"}), UnitNormalization({.axis = 1, .name = "n"}));
  const Layer dense = Dense(2);
  EXPECT_SAME(SpectralNormalization(dense, 2, {.name = "n"}),
              SpectralNormalization(dense, {.power_iterations = 2, .name = "n"}));
  EXPECT_SAME(Rescaling(2.0, 1.0, {.name = "n"}), Rescaling(2.0, {.offset = 1.0, .name = "n"}));
  EXPECT_SAME(Normalization(-1, {.name = "n"}), Normalization({.axis = -1, .name = "n"}));
  EXPECT_SAME(Resizing(4, 4, "nearest", {.name = "r"}), Resizing(4, 4, {.interpolation = "nearest", .name = "r"}));
}

TEST(Positions, Convolutions) {
  EXPECT_SAME(Conv1D(8, 3, 2, {.name = "c"}), Conv1D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(Conv2D(8, 3, {2, 1}, {.name = "c"}), Conv2D(8, 3, {.strides = {2, 1}, .name = "c"}));
  EXPECT_SAME(Conv3D(8, 3, 2, {.name = "c"}), Conv3D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(Conv1DTranspose(8, 3, 2, {.name = "c"}), Conv1DTranspose(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(Conv2DTranspose(8, 3, 2, {.name = "c"}), Conv2DTranspose(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(Conv3DTranspose(8, 3, 2, {.name = "c"}), Conv3DTranspose(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(DepthwiseConv1D(3, 2, {.name = "c"}), DepthwiseConv1D(3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(DepthwiseConv2D(3, 2, {.name = "c"}), DepthwiseConv2D(3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(SeparableConv1D(8, 3, 2, {.name = "c"}), SeparableConv1D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(SeparableConv2D(8, 3, 2, {.name = "c"}), SeparableConv2D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(LocallyConnected1D(8, 3, 2, {.name = "c"}), LocallyConnected1D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(LocallyConnected2D(8, 3, 2, {.name = "c"}), LocallyConnected2D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(ConvLSTM1D(8, 3, 2, {.name = "c"}), ConvLSTM1D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(ConvLSTM2D(8, 3, 2, {.name = "c"}), ConvLSTM2D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(ConvLSTM3D(8, 3, 2, {.name = "c"}), ConvLSTM3D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(Convolution1D(8, 3, 2, {.name = "c"}), Conv1D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(Convolution2D(8, 3, 2, {.name = "c"}), Conv2D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(Convolution3D(8, 3, 2, {.name = "c"}), Conv3D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(Convolution1DTranspose(8, 3, 2, {.name = "c"}), Conv1DTranspose(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(Convolution2DTranspose(8, 3, 2, {.name = "c"}), Conv2DTranspose(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(Convolution3DTranspose(8, 3, 2, {.name = "c"}), Conv3DTranspose(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(SeparableConvolution1D(8, 3, 2, {.name = "c"}), SeparableConv1D(8, 3, {.strides = 2, .name = "c"}));
  EXPECT_SAME(SeparableConvolution2D(8, 3, 2, {.name = "c"}), SeparableConv2D(8, 3, {.strides = 2, .name = "c"}));
}

TEST(Positions, Windows) {
  EXPECT_SAME(MaxPooling1D(3, {.name = "p"}), MaxPooling1D({.pool_size = 3, .name = "p"}));
  EXPECT_SAME(MaxPooling2D({3, 2}, {.name = "p"}), MaxPooling2D({.pool_size = {3, 2}, .name = "p"}));
  EXPECT_SAME(MaxPooling3D(3, {.name = "p"}), MaxPooling3D({.pool_size = 3, .name = "p"}));
  EXPECT_SAME(AveragePooling1D(3, {.name = "p"}), AveragePooling1D({.pool_size = 3, .name = "p"}));
  EXPECT_SAME(AveragePooling2D(3, {.name = "p"}), AveragePooling2D({.pool_size = 3, .name = "p"}));
  EXPECT_SAME(AveragePooling3D(3, {.name = "p"}), AveragePooling3D({.pool_size = 3, .name = "p"}));
  EXPECT_SAME(MaxPool1D(3, {.name = "p"}), MaxPooling1D({.pool_size = 3, .name = "p"}));
  EXPECT_SAME(MaxPool2D(3, {.name = "p"}), MaxPooling2D({.pool_size = 3, .name = "p"}));
  EXPECT_SAME(MaxPool3D(3, {.name = "p"}), MaxPooling3D({.pool_size = 3, .name = "p"}));
  EXPECT_SAME(AvgPool1D(3, {.name = "p"}), AveragePooling1D({.pool_size = 3, .name = "p"}));
  EXPECT_SAME(AvgPool2D(3, {.name = "p"}), AveragePooling2D({.pool_size = 3, .name = "p"}));
  EXPECT_SAME(AvgPool3D(3, {.name = "p"}), AveragePooling3D({.pool_size = 3, .name = "p"}));
  EXPECT_SAME(ZeroPadding1D(2, {.name = "p"}), ZeroPadding1D({.padding = 2, .name = "p"}));
  EXPECT_SAME(ZeroPadding2D({{1, 2}, {0, 1}}, {.name = "p"}),
              ZeroPadding2D({.padding = {{1, 2}, {0, 1}}, .name = "p"}));
  EXPECT_SAME(ZeroPadding3D(2, {.name = "p"}), ZeroPadding3D({.padding = 2, .name = "p"}));
  EXPECT_SAME(Cropping1D({1, 0}, {.name = "p"}), Cropping1D({.cropping = {1, 0}, .name = "p"}));
  EXPECT_SAME(Cropping2D(2, {.name = "p"}), Cropping2D({.cropping = 2, .name = "p"}));
  EXPECT_SAME(Cropping3D(2, {.name = "p"}), Cropping3D({.cropping = 2, .name = "p"}));
  EXPECT_SAME(UpSampling1D(3, {.name = "p"}), UpSampling1D({.size = 3, .name = "p"}));
  EXPECT_SAME(UpSampling2D({3, 1}, {.name = "p"}), UpSampling2D({.size = {3, 1}, .name = "p"}));
  EXPECT_SAME(UpSampling3D(3, {.name = "p"}), UpSampling3D({.size = 3, .name = "p"}));
}

TEST(Positions, Recurrence) {
  EXPECT_SAME(SimpleRNN(4, "relu", {.name = "r"}), SimpleRNN(4, {.activation = "relu", .name = "r"}));
  EXPECT_SAME(LSTM(4, "relu", {.name = "r"}), LSTM(4, {.activation = "relu", .name = "r"}));
  EXPECT_SAME(GRU(4, "relu", {.name = "r"}), GRU(4, {.activation = "relu", .name = "r"}));
  EXPECT_SAME(SimpleRNNCell(4, "relu", {.name = "r"}), SimpleRNNCell(4, {.activation = "relu", .name = "r"}));
  EXPECT_SAME(LSTMCell(4, "relu", {.name = "r"}), LSTMCell(4, {.activation = "relu", .name = "r"}));
  EXPECT_SAME(GRUCell(4, "relu", {.name = "r"}), GRUCell(4, {.activation = "relu", .name = "r"}));
}

TEST(Positions, Optimizers) {
  using namespace optimizers;
  EXPECT_SAME(SGD(0.1), SGD({.learning_rate = 0.1}));
  EXPECT_SAME(SGD(0.1, {.momentum = 0.9}), SGD({.learning_rate = 0.1, .momentum = 0.9}));
  EXPECT_SAME(RMSprop(0.1), RMSprop({.learning_rate = 0.1}));
  EXPECT_SAME(Adam(1e-3f), Adam({.learning_rate = 1e-3f}));
  EXPECT_SAME(AdamW(0.1), AdamW({.learning_rate = 0.1}));
  EXPECT_SAME(Adadelta(1), Adadelta({.learning_rate = 1}));
  EXPECT_SAME(Adagrad(0.1), Adagrad({.learning_rate = 0.1}));
  EXPECT_SAME(Adamax(0.1), Adamax({.learning_rate = 0.1}));
  EXPECT_SAME(Adafactor(0.1), Adafactor({.learning_rate = 0.1}));
  EXPECT_SAME(Nadam(0.1), Nadam({.learning_rate = 0.1}));
  EXPECT_SAME(Ftrl(0.1), Ftrl({.learning_rate = 0.1}));
  EXPECT_SAME(Lion(0.1), Lion({.learning_rate = 0.1}));
  EXPECT_SAME(Adam(schedules::CosineDecay(0.1, 100, 0.5)),
              Adam({.learning_rate = schedules::CosineDecay(0.1, 100, {.alpha = 0.5})}));
  EXPECT_SAME(schedules::PolynomialDecay(0.1, 100, 0.01),
              schedules::PolynomialDecay(0.1, 100, {.end_learning_rate = 0.01}));
}

TEST(Positions, InitializersAndKin) {
  using namespace initializers;
  EXPECT_SAME(initializers::Identity(2), initializers::Identity({.gain = 2}));
  EXPECT_SAME(RandomNormal(0, 0.02), RandomNormal({.mean = 0, .stddev = 0.02}));
  EXPECT_SAME(RandomNormal(0, 0.02, {.seed = 1}), RandomNormal({.mean = 0, .stddev = 0.02, .seed = 1}));
  EXPECT_SAME(TruncatedNormal(0, 0.02), TruncatedNormal({.mean = 0, .stddev = 0.02}));
  EXPECT_SAME(RandomUniform(-1, 1), RandomUniform({.minval = -1, .maxval = 1}));
  EXPECT_SAME(Orthogonal(2.0), Orthogonal({.gain = 2.0}));
  EXPECT_SAME(VarianceScaling(2.0), VarianceScaling({.scale = 2.0}));
  EXPECT_SAME(GlorotUniform(3), GlorotUniform({.seed = 3}));
  EXPECT_SAME(GlorotNormal(3), GlorotNormal({.seed = 3}));
  EXPECT_SAME(HeUniform(3), HeUniform({.seed = 3}));
  EXPECT_SAME(HeNormal(3), HeNormal({.seed = 3}));
  EXPECT_SAME(LecunUniform(3), LecunUniform({.seed = 3}));
  EXPECT_SAME(LecunNormal(3), LecunNormal({.seed = 3}));
  EXPECT_SAME(regularizers::L1L2(0.1, 0.2), regularizers::L1L2({.l1 = 0.1, .l2 = 0.2}));
  EXPECT_SAME(regularizers::l1_l2(0.1, 0.2), regularizers::l1_l2({.l1 = 0.1, .l2 = 0.2}));
  EXPECT_SAME(regularizers::OrthogonalRegularizer(0.1), regularizers::OrthogonalRegularizer({.factor = 0.1}));
  EXPECT_SAME(regularizers::orthogonal_regularizer(0.1), regularizers::orthogonal_regularizer({.factor = 0.1}));
  EXPECT_SAME(constraints::MaxNorm(3), constraints::MaxNorm({.max_value = 3}));
  EXPECT_SAME(constraints::MinMaxNorm(0.5, 3), constraints::MinMaxNorm({.min_value = 0.5, .max_value = 3}));
  EXPECT_SAME(constraints::UnitNorm(1), constraints::UnitNorm({.axis = 1}));
  EXPECT_SAME(losses::Huber(2), losses::Huber({.delta = 2}));
  EXPECT_SAME(losses::CosineSimilarity(1), losses::CosineSimilarity({.axis = 1}));
}

TEST(Positions, Callbacks) {
  using namespace callbacks;
  EXPECT_SAME(EarlyStopping("loss", {.patience = 2}), EarlyStopping({.monitor = "loss", .patience = 2}));
  EXPECT_SAME(ReduceLROnPlateau("loss"), ReduceLROnPlateau({.monitor = "loss"}));
  EXPECT_EQ(LearningRateScheduler([](int) { return 0.1; }, 1).class_name(), "LearningRateScheduler");
  EXPECT_EQ(CSVLogger("log.csv", ";").class_name(), "CSVLogger");
}

TEST(Positions, Metrics) {
  using namespace metrics;
  EXPECT_SAME(Mean("loss"), Mean({.name = "loss"}));
  EXPECT_SAME(Sum("s"), Sum({.name = "s"}));
  EXPECT_SAME(MeanTensor("m"), MeanTensor({.name = "m"}));
  EXPECT_SAME(MeanSquaredError("m"), MeanSquaredError({.name = "m"}));
  EXPECT_SAME(RootMeanSquaredError("m"), RootMeanSquaredError({.name = "m"}));
  EXPECT_SAME(MeanAbsoluteError("m"), MeanAbsoluteError({.name = "m"}));
  EXPECT_SAME(MeanAbsolutePercentageError("m"), MeanAbsolutePercentageError({.name = "m"}));
  EXPECT_SAME(MeanSquaredLogarithmicError("m"), MeanSquaredLogarithmicError({.name = "m"}));
  EXPECT_SAME(MeanRelativeError({1.0f}, "m"), MeanRelativeError({1.0f}, {.name = "m"}));
  EXPECT_SAME(LogCoshError("m"), LogCoshError({.name = "m"}));
  EXPECT_SAME(CosineSimilarity("m", {.axis = 1}), CosineSimilarity({.name = "m", .axis = 1}));
  EXPECT_SAME(R2Score("variance_weighted_average"), R2Score({.class_aggregation = "variance_weighted_average"}));
  EXPECT_SAME(Poisson("m"), Poisson({.name = "m"}));
  EXPECT_SAME(KLDivergence("m"), KLDivergence({.name = "m"}));
  EXPECT_SAME(BinaryCrossentropy("m"), BinaryCrossentropy({.name = "m"}));
  EXPECT_SAME(CategoricalCrossentropy("m"), CategoricalCrossentropy({.name = "m"}));
  EXPECT_SAME(SparseCategoricalCrossentropy("m"), SparseCategoricalCrossentropy({.name = "m"}));
  EXPECT_SAME(Hinge("m"), Hinge({.name = "m"}));
  EXPECT_SAME(SquaredHinge("m"), SquaredHinge({.name = "m"}));
  EXPECT_SAME(CategoricalHinge("m"), CategoricalHinge({.name = "m"}));
  EXPECT_SAME(Accuracy("m"), Accuracy({.name = "m"}));
  EXPECT_SAME(BinaryAccuracy("m"), BinaryAccuracy({.name = "m"}));
  EXPECT_SAME(CategoricalAccuracy("m"), CategoricalAccuracy({.name = "m"}));
  EXPECT_SAME(SparseCategoricalAccuracy("m"), SparseCategoricalAccuracy({.name = "m"}));
  EXPECT_SAME(TopKCategoricalAccuracy(3), TopKCategoricalAccuracy({.k = 3}));
  EXPECT_SAME(SparseTopKCategoricalAccuracy(3), SparseTopKCategoricalAccuracy({.k = 3}));
  EXPECT_SAME(TruePositives(0.3, {.name = "m"}), TruePositives({.thresholds = 0.3, .name = "m"}));
  EXPECT_SAME(TrueNegatives({0.3, 0.6}, {.name = "m"}), TrueNegatives({.thresholds = {0.3, 0.6}, .name = "m"}));
  EXPECT_SAME(FalsePositives(0.3, {.name = "m"}), FalsePositives({.thresholds = 0.3, .name = "m"}));
  EXPECT_SAME(FalseNegatives(0.3, {.name = "m"}), FalseNegatives({.thresholds = 0.3, .name = "m"}));
  EXPECT_SAME(Precision(0.3, {.name = "m"}), Precision({.thresholds = 0.3, .name = "m"}));
  EXPECT_SAME(Recall({0.3, 0.6}, {.name = "m"}), Recall({.thresholds = {0.3, 0.6}, .name = "m"}));
  EXPECT_SAME(SensitivityAtSpecificity(0.5, 100, {.name = "m"}),
              SensitivityAtSpecificity(0.5, {.num_thresholds = 100, .name = "m"}));
  EXPECT_SAME(SpecificityAtSensitivity(0.5, 100, {.name = "m"}),
              SpecificityAtSensitivity(0.5, {.num_thresholds = 100, .name = "m"}));
  EXPECT_SAME(PrecisionAtRecall(0.5, 100, {.name = "m"}), PrecisionAtRecall(0.5, {.num_thresholds = 100, .name = "m"}));
  EXPECT_SAME(RecallAtPrecision(0.5, 100, {.name = "m"}), RecallAtPrecision(0.5, {.num_thresholds = 100, .name = "m"}));
  EXPECT_SAME(AUC(100, {.name = "m"}), AUC({.num_thresholds = 100, .name = "m"}));
  EXPECT_SAME(IoU(2, {0}, "m"), IoU(2, {0}, {.name = "m"}));
  EXPECT_SAME(BinaryIoU({1}, {.name = "m"}), BinaryIoU({.target_class_ids = {1}, .name = "m"}));
  EXPECT_SAME(MeanIoU(2, "m"), MeanIoU(2, {.name = "m"}));
  EXPECT_SAME(OneHotIoU(2, {0}, "m"), OneHotIoU(2, {0}, {.name = "m"}));
  EXPECT_SAME(OneHotMeanIoU(2, "m"), OneHotMeanIoU(2, {.name = "m"}));
  EXPECT_SAME(FBetaScore("micro"), FBetaScore({.average = "micro"}));
  EXPECT_SAME(F1Score("micro"), F1Score({.average = "micro"}));
}

}  // namespace
}  // namespace thalweg::keras
