// How the program allocates. It is linked with jemalloc, in front of the C library, so that the
// Rust library and RocksDB use it as well: with glibc's allocator as much again as a run held
// stayed with the process after it was freed. The libraries of Lastword do not choose for their
// hosts; without jemalloc (sanitizers) this does nothing.
#pragma once

#include <cstdint>

namespace lastword::cli {

/// Freed memory goes back to the system at once where `memory_bytes` (`memory:`) leaves no room for
/// it, else after a while, which is faster. Called before tables are opened.
void BoundFreedMemory(uint64_t memory_bytes);

}  // namespace lastword::cli
