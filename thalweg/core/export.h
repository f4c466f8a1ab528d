#pragma once

/// Marks what the shared library shows; everything else is hidden.
#define THALWEG_API __attribute__((visibility("default")))
