// How the engine reads the streams of workload.h: the one spec of their table, for benchmarks that
// call the library instead of the program.
#pragma once

#include "bench/workload.h"
#include "codec/decoder.h"

namespace lastword {

/// Table `orders` with the columns of `shape`; the key is `id`.
codec::TableSpec OrdersSpec(const WorkloadShape& shape);

}  // namespace lastword
