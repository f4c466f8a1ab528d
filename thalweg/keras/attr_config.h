// Attributes of ops and options of functions as values of configurations, and back.
#pragma once
#include "thalweg/keras/config.h"
#include "thalweg/ops/attrs.h"

namespace thalweg::keras {

/// ValueError for functions, which a configuration cannot hold; `owner` has the attribute.
Value attr_to_value(const AttrValue& attr, std::string_view owner);
/// The value for a member of this type. One number may stand for a list, as it does for Python's callers.
AttrValue attr_from_value(const Value& value, const MemberType& type);

/// Numbers, truth values and texts in lists of lists, as a literal: what it meets decides its dtype.
Tensor literal_from_value(const Value& value);

}  // namespace thalweg::keras
