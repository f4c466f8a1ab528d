// error: a part of a variable is changed, not replaced: write w(0).assign(...)
#include <thalweg/thalweg.h>

void change(thalweg::Variable w) { w(0) = 5.0f; }
