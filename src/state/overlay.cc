#include "state/overlay.h"

#include <algorithm>

namespace lastword {
namespace {
constexpr uint64_t kSlotsMin = 1024;
}  // namespace

PendingKey* Overlay::Find(const KeyHash& key) {
  if (x_slots.empty()) return nullptr;
  const uint64_t mask = x_slots.size() - 1;
  for (uint64_t at = Home(key); x_slots[at].number != kFree; at = (at + 1) & mask) {
    if (x_slots[at].tag != TagOf(key)) continue;
    PendingKey& pending = x_keys[x_slots[at].number];
    if (pending.now.key == key) return &pending;
  }
  return nullptr;
}

PendingKey& Overlay::Add(const KeyHash& key) {
  if ((x_keys.size() + 1) * 2 > x_slots.size()) Rehash(std::max(kSlotsMin, x_slots.size() * 2));
  Place(static_cast<uint32_t>(x_keys.size()), key);
  PendingKey& pending = x_keys.Add();
  pending.before.key = pending.now.key = key;
  return pending;
}

void Overlay::Place(uint32_t number, const KeyHash& key) {
  const uint64_t mask = x_slots.size() - 1;
  uint64_t at = Home(key);
  while (x_slots[at].number != kFree) at = (at + 1) & mask;
  x_slots[at] = {number, TagOf(key)};
}

void Overlay::Rehash(uint64_t slots) {
  x_slots.assign(slots, {});
  for (uint64_t i = 0; i < x_keys.size(); ++i) Place(static_cast<uint32_t>(i), x_keys[i].now.key);
}

void Overlay::Clear() {
  x_keys.Clear();
  std::fill(x_slots.begin(), x_slots.end(), Slot{});
}

}  // namespace lastword
