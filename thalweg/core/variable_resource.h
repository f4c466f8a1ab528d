// The object behind the handle of a variable: a value that ops read and replace.
#pragma once
#include <mutex>
#include <utility>

#include "thalweg/core/resource.h"
#include "thalweg/core/tensor.h"

namespace thalweg {

/// How the copies of a variable on several devices are kept and read; TensorFlow's names.
enum class VariableSynchronization : uint8_t { automatic, none, on_write, on_read };
enum class VariableAggregation : uint8_t { none, sum, mean, only_first_replica };

/// A value that changes. Reads are snapshots: a tensor once read never changes. Safe to share by threads.
class THALWEG_API VariableResource : public Resource {
 public:
  /// `shape` is what every value must fit; it may be partly unknown. Without a value the variable is uninitialised.
  VariableResource(std::string name, DType dtype, const Shape& shape, Tensor value = {});

  const std::string& name() const { return name_; }
  /// Another name; to be given before others know the variable.
  void rename(std::string name) { name_ = std::move(name); }
  DType dtype() const { return dtype_; }
  /// The shape every value must fit.
  const Shape& shape() const { return shape_; }
  bool is_initialized() const;
  std::string describe() const override;

  /// The value now; FailedPreconditionError before the first.
  Tensor read() const;
  /// Puts another value in its place; InvalidArgumentError when its dtype or shape does not fit.
  void assign(const Tensor& value);
  /// Takes the value away: the next read fails until there is another.
  void clear();
  /// Calls `change(value)` while nobody else reads or writes; what it returns is the new value.
  template <class Change> void update(Change change) {
    std::lock_guard lock(mutex_);
    check_initialized();
    Tensor changed = change(std::as_const(value_));
    check_fits(changed);
    value_ = std::move(changed);
  }

  // Set once, before the variable is shared.
  bool trainable = true;
  bool autocast = false;  // layers read it in the dtype they compute in
  VariableSynchronization synchronization = VariableSynchronization::automatic;
  VariableAggregation aggregation = VariableAggregation::none;
  /// What makes a new value a permitted one; optimizers, which know its type, apply it after each step.
  std::shared_ptr<void> constraint;

 private:
  friend class VariableLock;
  void check_initialized() const;
  void check_fits(const Tensor& value) const;

  std::string name_;
  const DType dtype_;
  const Shape shape_;
  mutable std::mutex mutex_;
  Tensor value_;
};

/// Holds variables while an op changes their values in place. They are locked in one order, so that ops on the same
/// variables never wait for each other in a circle; one given twice is locked once.
class THALWEG_API VariableLock {
 public:
  explicit VariableLock(std::initializer_list<VariableResource*> variables);
  ~VariableLock();
  VariableLock(const VariableLock&) = delete;
  VariableLock& operator=(const VariableLock&) = delete;

  /// The value of variable i; FailedPreconditionError when it has none.
  const Tensor& value(int i) const;
  /// The memory of its value, to write to: first copied if somebody has read it and holds it still. Check everything
  /// that can fail before you write.
  void* writable(int i) const;
  template <class T> T* writable(int i) const { return static_cast<T*>(writable(i)); }

 private:
  static constexpr size_t most = 8;
  VariableResource* given_[most] = {};
  VariableResource* locked_[most] = {};
  size_t count_ = 0;
};

/// A scalar of dtype resource that leads to the object.
THALWEG_API Tensor make_handle(ResourceHandle resource);
/// The variable a handle leads to; InvalidArgumentError when it leads nowhere or to something else.
THALWEG_API VariableResource& variable_of(const Tensor& handle);

}  // namespace thalweg
