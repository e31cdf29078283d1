#include "base/large_memory.h"

#include <sys/mman.h>

#include <cstdlib>

namespace lastword {
namespace {

// From this size on memory comes from the kernel directly. Neighbours in the address space become
// one area there, so that huge pages need not end where an allocation does.
constexpr uint64_t kMappedBytesMin = 128 << 10;

bool IsMapped(uint64_t bytes) {
  return bytes >= kMappedBytesMin;
}

}  // namespace

void* AllocateLarge(uint64_t bytes) {
  if (bytes == 0) return nullptr;
  if (!IsMapped(bytes)) {
    void* const memory = std::malloc(bytes);
    if (memory == nullptr) std::abort();
    return memory;
  }
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) std::abort();
  // A hint: where the kernel has none, the pages are small.
  (void)madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void FreeLarge(void* memory, uint64_t bytes) {
  if (IsMapped(bytes)) {
    munmap(memory, bytes);
  } else {
    std::free(memory);
  }
}

}  // namespace lastword
