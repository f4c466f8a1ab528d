// Keras: layers, models, losses, metrics, optimizers, callbacks, data.
#pragma once
#include "thalweg/keras/activations.h"
#include "thalweg/keras/callbacks.h"
#include "thalweg/keras/constraints.h"
#include "thalweg/keras/initializers.h"
#include "thalweg/keras/layers.h"
#include "thalweg/keras/losses.h"
#include "thalweg/keras/metrics.h"
#include "thalweg/keras/model.h"
#include "thalweg/keras/optimizers.h"
#include "thalweg/keras/plot_model.h"
#include "thalweg/keras/random_seed.h"
#include "thalweg/keras/regularizers.h"
