// Memory of tables that are probed at random. Each probe touches a page of its own there, so what a
// page costs (its first touch, its place in the processor's tables) is most of what a probe costs:
// where it is large, the kernel is asked for huge pages.
#pragma once

#include <cstdint>

namespace lastword {

/// Uninitialised memory, for any type; null for none. Ends the process where there is no memory.
void* AllocateLarge(uint64_t bytes);
/// Takes back what AllocateLarge gave for `bytes`.
void FreeLarge(void* memory, uint64_t bytes);

}  // namespace lastword
