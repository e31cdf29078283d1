// How a table's schema may change under its rows: columns added at the end, types widened without
// losing anything. Says whether; model/row_chunk.h converts rows in memory, storage what it holds.
#pragma once

#include <string>

#include "lastword/schema.h"

namespace lastword {

/// Ok where every value of `from` is a value of `to` and keeps its key and digest: the same type;
/// int8 -> int16 -> int32 -> int64, the same for uint; uintN -> a larger intM; float32 -> float64;
/// decimal with at least as many digits on both sides of the point; list of such. Otherwise
/// kSchemaIncompatible, whose message says why not; the caller adds the column.
Status CanWiden(const Type& from, const Type& to);

/// Ok where `to` has the columns of `from` in order, each with its name and the same or a wider
/// type, then new nullable columns, and the same key. Otherwise kSchemaIncompatible with the
/// column.
Status CanEvolve(const Schema& from, const Schema& to);

}  // namespace lastword
