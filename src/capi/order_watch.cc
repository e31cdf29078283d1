#include "capi/order_watch.h"

namespace lastword::capi {
namespace {

constexpr uint64_t kPlaces = 1 << 17;  // 1 MiB
constexpr uint64_t kLives = 1;

uint64_t PlaceOf(const KeyHash& key) {
  return key.low & (kPlaces - 1);
}

// The bits of the hash that stand in a place; the low half chooses it.
uint64_t NameOf(const KeyHash& key) {
  return key.high & ~kLives;
}

}  // namespace

RowLife OrderWatch::Remembered(const KeyHash& key) const {
  if (x_places.empty()) return RowLife::kUnknown;
  const uint64_t place = x_places[PlaceOf(key)];
  if (place == 0 || (place & ~kLives) != NameOf(key)) return RowLife::kUnknown;
  return (place & kLives) != 0 ? RowLife::kLives : RowLife::kGone;
}

void OrderWatch::Remember(const KeyHash& key, RowLife life) {
  if (x_places.empty()) x_places.resize(kPlaces);
  uint64_t& place = x_places[PlaceOf(key)];
  if (life != RowLife::kUnknown) {
    place = NameOf(key) | (life == RowLife::kLives ? kLives : 0);
  } else if ((place & ~kLives) == NameOf(key)) {
    place = 0;
  }
}

void OrderWatch::Prefetch(const KeyHash& key) const {
  if (!x_places.empty()) __builtin_prefetch(&x_places[PlaceOf(key)]);
}

}  // namespace lastword::capi
