#include "state/overlay.h"

#include <algorithm>

namespace lastword {
namespace {
constexpr uint32_t kFree = UINT32_MAX;
constexpr uint64_t kSlotsMin = 1024;
}  // namespace

PendingKey* Overlay::Find(const KeyHash& key) {
  if (x_slots.empty()) return nullptr;
  const uint64_t mask = x_slots.size() - 1;
  for (uint64_t at = key.high & mask; x_slots[at] != kFree; at = (at + 1) & mask) {
    PendingKey& pending = x_keys[x_slots[at]];
    if (pending.now.key == key) return &pending;
  }
  return nullptr;
}

PendingKey& Overlay::Add(const KeyHash& key) {
  if ((x_keys.size() + 1) * 2 > x_slots.size()) Rehash(std::max(kSlotsMin, x_slots.size() * 2));
  const uint64_t mask = x_slots.size() - 1;
  uint64_t at = key.high & mask;
  while (x_slots[at] != kFree) at = (at + 1) & mask;
  x_slots[at] = static_cast<uint32_t>(x_keys.size());
  PendingKey& pending = x_keys.Add();
  pending.before.key = pending.now.key = key;
  return pending;
}

void Overlay::Rehash(uint64_t slots) {
  x_slots.assign(slots, kFree);
  const uint64_t mask = slots - 1;
  for (uint64_t i = 0; i < x_keys.size(); ++i) {
    uint64_t at = x_keys[i].now.key.high & mask;
    while (x_slots[at] != kFree) at = (at + 1) & mask;
    x_slots[at] = static_cast<uint32_t>(i);
  }
}

void Overlay::Clear() {
  x_keys.Clear();
  std::fill(x_slots.begin(), x_slots.end(), kFree);
}

}  // namespace lastword
