// Memory of tables that are probed at random. Each probe touches a page of its own there, so what a
// page costs (its first touch, its place in the processor's tables) is most of what a probe costs:
// where it is large, the kernel is asked for huge pages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lastword {

/// Uninitialised memory, for any type; null for none. Ends the process where there is no memory.
void* AllocateLarge(uint64_t bytes);
/// Takes back what AllocateLarge gave for `bytes`.
void FreeLarge(void* memory, uint64_t bytes);

/// For containers of the standard library whose elements are touched at random.
template <typename T>
struct LargeAllocator {
  using value_type = T;

  LargeAllocator() = default;
  template <typename U>
  LargeAllocator(const LargeAllocator<U>&) {}

  T* allocate(size_t count) { return static_cast<T*>(AllocateLarge(count * sizeof(T))); }
  void deallocate(T* memory, size_t count) { FreeLarge(memory, count * sizeof(T)); }
  bool operator==(const LargeAllocator&) const = default;
};

}  // namespace lastword
