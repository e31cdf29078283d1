#include "cli/allocator.h"

#include <sys/types.h>

#include <cstddef>
#include <initializer_list>

// jemalloc's own names and syntax: man 3 jemalloc, MALLCTL NAMESPACE and TUNING.
extern "C" {
int mallctl(const char* name, void* old_value, size_t* old_size, void* new_value, size_t new_size)
    __attribute__((weak));
// Read before main. Every arena keeps freed memory of its own.
extern const char* malloc_conf;
const char* malloc_conf = "narenas:4,muzzy_decay_ms:0";
}

namespace lastword::cli {
namespace {

// What is freed within a moment may add up to a hundred megabytes: from here on that is little.
constexpr uint64_t kRoomFrom = 1ull << 30;

}  // namespace

void BoundFreedMemory(uint64_t memory_bytes) {
  if (mallctl == nullptr || memory_bytes >= kRoomFrom) return;
  ssize_t at_once = 0;
  // The first arena is there already, the others are made as threads need them.
  for (const char* name : {"arena.0.dirty_decay_ms", "arenas.dirty_decay_ms"}) {
    (void)mallctl(name, nullptr, nullptr, &at_once, sizeof at_once);
  }
}

}  // namespace lastword::cli
