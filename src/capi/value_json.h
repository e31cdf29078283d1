// Answers of the C interface as JSON: what `explain` says of a key, and values of a row.
#pragma once

#include "base/json.h"
#include "lastword/table.h"

namespace lastword::capi {

/// Numbers as numbers, NaN and infinities as text; decimals as text; bytes as base64.
Json ValueToJson(const Value& value);

/// {"state", "version", "lance_version", "checkpoint", "row", "quarantined", "would_be", "why"};
/// what is not known is null.
Json ExplanationToJson(const Explanation& explanation);

}  // namespace lastword::capi
