// The values of attributes as TensorFlow's messages.
#pragma once
#include "thalweg/io/node_def.h"

namespace thalweg::io {

/// A value of this kind; throws InvalidArgumentError, which `what` begins, where it has none.
proto::AttrValue to_attr_proto(const AttrValue& value, AttrKind kind, const FunctionNamer& namer,
                               const std::string& what);
/// The value of a message that must be of this kind.
AttrValue from_attr_proto(const proto::AttrValue& message, AttrKind kind, const FunctionResolver& resolver,
                          const std::string& what);

}  // namespace thalweg::io
