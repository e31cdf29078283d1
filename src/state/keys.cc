// Slots of the overlay and the extras behind them.
#include <algorithm>

#include "base/planted_bug.h"
#include "state/key_index.h"
#include "state/law.h"
#include "state/table_state.h"

namespace lastword {
namespace {
constexpr uint64_t kArenaBlockBytes = 64 << 10;

// KeyEntry::delete_input of an input, and back.
constexpr uint16_t MemoryOf(uint32_t input) {
  return static_cast<uint16_t>(input + 1);
}
constexpr uint16_t InputOf(uint16_t memory) {
  return memory & ~kNullValueSeen;
}

bool HasInput(const std::vector<uint16_t>& memories, uint32_t input) {
  return std::any_of(memories.begin(), memories.end(),
                     [&](uint16_t memory) { return InputOf(memory) == MemoryOf(input); });
}
}  // namespace

// Keys that the batch has touched already are not asked of the index again, and found here once.
void TableState::LookAhead(const ChangeBatch& batch, size_t begin, size_t end) {
  x_known.clear();
  x_ahead.clear();
  for (size_t i = begin; i < end; ++i) x_overlay.PrefetchSlot(batch.heads[i].key);
  for (size_t i = begin; i < end; ++i) x_overlay.PrefetchKey(batch.heads[i].key);
  for (size_t i = begin; i < end; ++i) {
    const KeyHash& key = batch.heads[i].key;
    x_known.push_back(x_overlay.Find(key));
    if (x_known.back() == nullptr) x_ahead.push_back(key);
  }
  x_index.Prefetch(x_ahead);
}

PendingKey& TableState::Load(const KeyHash& key, std::string_view bytes, PendingKey* known) {
  PendingKey* found = known != nullptr ? known : x_overlay.Find(key);
  if (found == nullptr) {
    found = &x_overlay.Add(key);
    if (x_index.Find(key, found->before)) {
      found->now = found->before;
      const std::string_view own = bytes.empty() ? BytesOf(*found) : bytes;
      if (found->now.status != KeyStatus::kNone && Truncated(found->now.version(), own)) {
        found->now.status = KeyStatus::kNone;
        found->changed = true;
        ForgetSeenDeletes(*found);
      }
    }
  }
  if (found->key.empty() && !bytes.empty()) {
    if (x_key_arena.empty() ||
        x_key_arena.back().size() + bytes.size() > x_key_arena.back().capacity()) {
      x_key_arena.emplace_back().reserve(std::max<uint64_t>(kArenaBlockBytes, bytes.size()));
    }
    std::string& block = x_key_arena.back();
    const uint64_t begin = block.size();
    block.append(bytes);
    found->key = std::string_view(block).substr(begin);
  }
  return *found;
}

std::string_view TableState::BytesOf(const PendingKey& key) const {
  if (!key.key.empty()) return key.key;
  const auto stored = x_extras.find(key.now.key);
  return stored == x_extras.end() ? std::string_view() : std::string_view(stored->second.key);
}

std::optional<Version> TableState::FloorOf(const PendingKey& key) const {
  return x_head.floors.Of(*x_schema, BytesOf(key));
}

const KeyExtra* TableState::ExtraOf(const PendingKey& key) const {
  if (key.extra) return key.extra.get();
  if (!key.before.has_extra) return nullptr;
  const auto stored = x_extras.find(key.now.key);
  return stored == x_extras.end() ? nullptr : &stored->second.extra;
}

KeyExtra& TableState::MutableExtra(PendingKey& key) {
  if (!key.extra) {
    const KeyExtra* stored = ExtraOf(key);
    key.extra = std::make_unique<KeyExtra>(stored != nullptr ? *stored : KeyExtra{});
  }
  key.changed = true;
  return *key.extra;
}

std::optional<StoredChange> TableState::StateOf(const PendingKey& key) const {
  const KeyExtra* extra = ExtraOf(key);
  if (extra != nullptr && extra->waiting) {
    return StoredChange{extra->waiting->version, extra->waiting->digest, true, !key.now.live()};
  }
  if (key.now.status == KeyStatus::kNone) return std::nullopt;
  return StoredChange{key.now.version(), key.now.digest, key.now.live()};
}

bool TableState::LastWasDelete(const PendingKey& key, uint32_t input) const {
  if (InputOf(key.now.delete_input) == MemoryOf(input)) return true;
  const KeyExtra* extra = ExtraOf(key);
  return extra != nullptr && HasInput(extra->delete_inputs, input);
}

void TableState::RememberDelete(PendingKey& key, const Incoming& in) {
  // A re-read shows records whose successors were seen: the memory is that of the newest record
  // already.
  if (!in.batch.null_values || in.reread || Planted(PlantedBug::kForgottenDelete)) return;
  if (in.head.kind != Kind::kDelete) {
    if (LastWasDelete(key, in.input)) SetDeleteMemory(key, in.input, 0);
    return;
  }
  const uint16_t seen = in.has(kNullValue) ? kNullValueSeen : 0;
  SetDeleteMemory(key, in.input, MemoryOf(in.input) | seen);
}

void TableState::RememberNullValue(PendingKey& key, const Incoming& in) {
  if (in.reread) return;
  SetDeleteMemory(key, in.input, MemoryOf(in.input) | kNullValueSeen);
  if (key.now.status == KeyStatus::kNone) ForgetSeenDeletes(key);
}

// `memory`: as KeyEntry::delete_input; 0 forgets.
void TableState::SetDeleteMemory(PendingKey& key, uint32_t input, uint16_t memory) {
  const KeyExtra* extra = ExtraOf(key);
  if (extra != nullptr && HasInput(extra->delete_inputs, input)) {
    std::vector<uint16_t>& inputs = MutableExtra(key).delete_inputs;
    std::erase_if(inputs, [&](uint16_t known) { return InputOf(known) == MemoryOf(input); });
    if (memory != 0) inputs.push_back(memory);
    return;
  }
  uint16_t& own = key.now.delete_input;
  if (own == memory) return;
  if (own == 0 || InputOf(own) == MemoryOf(input)) {
    own = memory;
    key.changed = true;
  } else if (memory != 0) {
    MutableExtra(key).delete_inputs.push_back(memory);
  }
}

// Of a key without state, whose tombstone is gone.
void TableState::ForgetSeenDeletes(PendingKey& key) {
  if (key.now.delete_input & kNullValueSeen) {
    key.now.delete_input = 0;
    key.changed = true;
  }
  const KeyExtra* extra = ExtraOf(key);
  if (extra == nullptr || extra->delete_inputs.empty()) return;
  std::erase_if(MutableExtra(key).delete_inputs,
                [](uint16_t known) { return (known & kNullValueSeen) != 0; });
}

uint32_t TableState::NewChunk(std::shared_ptr<const Schema> schema) {
  x_chunks.push_back(std::make_unique<RowChunk>(std::move(schema)));
  return static_cast<uint32_t>(x_chunks.size() - 1);
}

void TableState::CountChunks() {
  for (; x_counted < x_chunks.size(); ++x_counted) {
    if (x_counted != x_built) x_counted_bytes += x_chunks[x_counted]->rows.bytes_held();
  }
}

// The next row that is put together here goes into a new chunk.
void TableState::LeaveBuilt() {
  if (x_built < x_counted) x_counted_bytes += x_chunks[x_built]->rows.bytes_held();
  x_built = UINT32_MAX;
}

TableState::KeyView TableState::View(const KeyHash& key, std::string_view canonical_key) {
  const PendingKey& pending = Load(key, canonical_key);
  return {pending.now, pending.row, ExtraOf(pending)};
}

uint64_t TableState::pending_bytes() const {
  uint64_t bytes = x_overlay.bytes_held() + x_counted_bytes;
  for (uint64_t i = x_counted; i < x_chunks.size(); ++i) bytes += x_chunks[i]->rows.bytes_held();
  if (x_built < x_counted) bytes += x_chunks[x_built]->rows.bytes_held();
  for (const std::string& block : x_key_arena) bytes += block.capacity();
  return bytes;
}

}  // namespace lastword
