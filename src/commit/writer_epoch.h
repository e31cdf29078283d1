// Writer epochs that no two processes of one machine share. Opening a table commits nothing, so two
// that open it one after the other would find the same epoch in it: the one that lost the lock
// could not be told from the one that has it. A file beside the table remembers the last one handed
// out. Only a hint: where it is lost, epochs go on from what is committed.
#pragma once

#include <cstdint>
#include <string>

#include "lastword/status.h"

namespace lastword {

/// An epoch of at least `at_least` and above every one that the file has seen. The caller holds the
/// table's lock.
Result<uint64_t> TakeWriterEpoch(const std::string& path, uint64_t at_least);

}  // namespace lastword
