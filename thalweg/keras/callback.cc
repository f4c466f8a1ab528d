#include "thalweg/keras/callback.h"

namespace thalweg::keras {

template class Handle<CallbackInterface>;

}  // namespace thalweg::keras
