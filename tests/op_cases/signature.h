// TensorFlow's signatures, as tests/golden/op_signatures.txt lists them, beside ours.
#pragma once
#include <string>
#include <vector>

#include "thalweg/ops/op.h"

namespace thalweg::testing {

/// An attribute: `keep_dims:bool = false`, `T:type in [half float]`.
struct SignatureAttr {
  std::string name, kind;
  bool has_default = false;
  std::string default_text;
  bool any_type = true;  // of a type: no list of allowed ones
  TypeSet allowed = {};
};

/// One line: `Name(input:T, ...) -> (output:T, ...) {attributes} [flags]`.
struct Signature {
  std::string name;
  std::vector<std::string> inputs, outputs;  // "input:T", "values:N*T", "data:list T"
  std::vector<SignatureAttr> attrs;
  bool stateful = false;
};

const std::vector<Signature>& tensorflow_signatures();

/// What a record says otherwise, a line each.
std::vector<std::string> compare(const Op& op, const Signature& signature);

}  // namespace thalweg::testing
