#include "capi/row_store.h"

#include <bit>
#include <cstring>

#include "base/large_memory.h"

namespace lastword::capi {
namespace {

constexpr size_t kChunkBytes = 2 << 20;
// A larger room is an allocation of its own.
constexpr uint32_t kChunkedBytesMax = 256 << 10;
constexpr uint32_t kGrain = 16;
// Up to here rooms are multiples of the grain; each doubling behind has eight of them.
constexpr uint32_t kFineBytes = 128;
constexpr uint32_t kFineClasses = kFineBytes / kGrain;
constexpr uint32_t kStepsOfADoubling = 8;

}  // namespace

void RowStore::LargeDeleter::operator()(char* chunk) const {
  FreeLarge(chunk, kChunkBytes);
}

RowStore::Size RowStore::SizeOf(uint32_t bytes) {
  if (bytes <= kFineBytes) {
    const uint32_t grains = (bytes + kGrain - 1) / kGrain;
    return {grains * kGrain, grains};
  }
  const int doubling = std::bit_width(bytes - 1);  // 2^(doubling - 1) < bytes <= 2^doubling
  const uint32_t below = 1u << (doubling - 1);
  const uint32_t step = below / kStepsOfADoubling;
  const uint32_t steps = (bytes - below + step - 1) / step;
  const uint32_t doublings = static_cast<uint32_t>(doubling - std::bit_width(kFineBytes));
  return {below + steps * step, kFineClasses + doublings * kStepsOfADoubling + steps};
}

char* RowStore::NewPlace(uint32_t room) {
  x_bytes_used += room;
  if (room > kChunkedBytesMax) {
    return x_large.emplace_back(std::make_unique_for_overwrite<char[]>(room)).get();
  }
  if (room > x_left) {
    if (x_chunks_used == x_chunks.size()) {
      x_chunks.emplace_back(static_cast<char*>(AllocateLarge(kChunkBytes)));
    }
    ++x_chunks_used;
    x_left = kChunkBytes;
  }
  char* place = x_chunks[x_chunks_used - 1].get() + (kChunkBytes - x_left);
  x_left -= room;
  return place;
}

void RowStore::Put(std::string_view bytes, StoredRow& row) {
  const auto size = static_cast<uint32_t>(bytes.size());
  if (size > row.room) {
    Drop(row);
    const Size needed = SizeOf(size);
    std::vector<char*>& free = x_free[needed.size_class];
    row.room = needed.room;
    if (free.empty()) {
      row.begin = NewPlace(needed.room);
    } else {
      row.begin = free.back();
      free.pop_back();
    }
  }
  std::memcpy(row.begin, bytes.data(), size);
  row.size = size;
}

void RowStore::Drop(StoredRow& row) {
  if (row.empty()) return;
  x_free[SizeOf(row.room).size_class].push_back(row.begin);
  row = StoredRow();
}

void RowStore::Clear() {
  x_chunks.resize(x_chunks_used);
  x_chunks_used = 0;
  x_left = 0;
  x_large.clear();
  for (std::vector<char*>& free : x_free) free.clear();
  x_bytes_used = 0;
}

}  // namespace lastword::capi
