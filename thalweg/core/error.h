// One exception hierarchy, with TensorFlow's names; Python maps it one to one.
#pragma once
#include <stdexcept>
#include <string>

#include "thalweg/core/export.h"

namespace thalweg {

/// The base of every error Thalweg throws; `code()` is TensorFlow's (and gRPC's) status number.
class THALWEG_API Error : public std::runtime_error {
 public:
  int code() const { return code_; }
  /// TensorFlow's class name, such as `InvalidArgumentError`.
  const char* type() const { return type_; }
  const char* what() const noexcept override {
    return context_.empty() ? std::runtime_error::what() : context_.c_str();
  }
  /// Appends where it happened, on the way out: `catch (Error& e) { e.add_context(...); throw; }`.
  void add_context(const std::string& text) { context_ = what() + text; }

 protected:
  Error(const char* type, int code, const std::string& message)
      : std::runtime_error(message), type_(type), code_(code) {}

 private:
  const char* type_;
  int code_;
  std::string context_;
};

namespace errors {
template <int Code> class THALWEG_API Typed : public Error {
 public:
  explicit Typed(const std::string& message) : Error(name(), Code, message) {}

 private:
  static constexpr const char* name() {
    constexpr const char* names[] = {"OK",
                                     "CancelledError",
                                     "UnknownError",
                                     "InvalidArgumentError",
                                     "DeadlineExceededError",
                                     "NotFoundError",
                                     "AlreadyExistsError",
                                     "PermissionDeniedError",
                                     "ResourceExhaustedError",
                                     "FailedPreconditionError",
                                     "AbortedError",
                                     "OutOfRangeError",
                                     "UnimplementedError",
                                     "InternalError",
                                     "UnavailableError",
                                     "DataLossError",
                                     "UnauthenticatedError"};
    return names[Code];
  }
};
using CancelledError = Typed<1>;
using UnknownError = Typed<2>;
using InvalidArgumentError = Typed<3>;
using DeadlineExceededError = Typed<4>;
using NotFoundError = Typed<5>;
using AlreadyExistsError = Typed<6>;
using PermissionDeniedError = Typed<7>;
using ResourceExhaustedError = Typed<8>;
using FailedPreconditionError = Typed<9>;
using AbortedError = Typed<10>;
using OutOfRangeError = Typed<11>;
using UnimplementedError = Typed<12>;
using InternalError = Typed<13>;
using UnavailableError = Typed<14>;
using DataLossError = Typed<15>;
using UnauthenticatedError = Typed<16>;
}  // namespace errors

using errors::FailedPreconditionError;
using errors::InvalidArgumentError;
using errors::NotFoundError;
using errors::OutOfRangeError;
using errors::ResourceExhaustedError;
using errors::UnimplementedError;

/// A value of the wrong type was given; Python's `TypeError`.
class THALWEG_API TypeError : public Error {
 public:
  explicit TypeError(const std::string& message) : Error("TypeError", 3, message) {}
};
/// A value that cannot be used; Python's `ValueError`.
class THALWEG_API ValueError : public Error {
 public:
  explicit ValueError(const std::string& message) : Error("ValueError", 3, message) {}
};
/// A call at the wrong time, such as configuration after first use; Python's `RuntimeError`.
class THALWEG_API RuntimeError : public Error {
 public:
  explicit RuntimeError(const std::string& message) : Error("RuntimeError", 9, message) {}
};

}  // namespace thalweg
