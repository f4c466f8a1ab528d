#include "thalweg/keras/backend.h"

#include <atomic>

namespace thalweg::keras::backend {
namespace {
std::atomic<double> fuzz = 1e-7;
std::atomic<Choice> phase = Choice();
}  // namespace

double epsilon() { return fuzz; }
void set_epsilon(double value) { fuzz = value; }

Choice learning_phase() { return phase; }
void set_learning_phase(Choice training) { phase = training; }

}  // namespace thalweg::keras::backend
