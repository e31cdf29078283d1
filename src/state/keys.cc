// Slots of the overlay and the extras behind them.
#include <algorithm>

#include "base/planted_bug.h"
#include "state/table_state.h"

namespace lastword {
namespace {
constexpr uint64_t kArenaBlockBytes = 64 << 10;
}  // namespace

PendingKey& TableState::Load(const KeyHash& key, std::string_view bytes) {
  PendingKey* found = x_overlay.Find(key);
  if (found == nullptr) {
    found = &x_overlay.Add(key);
    if (x_index.Find(key, found->before)) {
      found->now = found->before;
      if (found->now.status != KeyStatus::kNone && Truncated(found->now.version())) {
        found->now.status = KeyStatus::kNone;
        found->changed = true;
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
  const uint16_t number = static_cast<uint16_t>(input + 1);
  if (key.now.delete_input == number) return true;
  const KeyExtra* extra = ExtraOf(key);
  return extra != nullptr &&
         std::count(extra->delete_inputs.begin(), extra->delete_inputs.end(), number) != 0;
}

void TableState::RememberDelete(PendingKey& key, const Incoming& in) {
  // A re-read shows records whose successors were seen: the memory is that of the newest record
  // already.
  if (!in.batch.null_values || in.reread || Planted(PlantedBug::kForgottenDelete)) return;
  const uint16_t number = static_cast<uint16_t>(in.input + 1);
  const bool known = LastWasDelete(key, in.input);
  if (in.head.kind == Kind::kDelete) {
    if (known) return;
    if (key.now.delete_input == 0) {
      key.now.delete_input = number;
    } else {
      MutableExtra(key).delete_inputs.push_back(number);
    }
    key.changed = true;
  } else if (known) {
    if (key.now.delete_input == number) {
      key.now.delete_input = 0;
    } else {
      std::erase(MutableExtra(key).delete_inputs, number);
    }
    key.changed = true;
  }
}

uint32_t TableState::NewChunk(std::shared_ptr<const Schema> schema) {
  x_chunks.push_back(std::make_unique<RowChunk>(std::move(schema)));
  return static_cast<uint32_t>(x_chunks.size() - 1);
}

TableState::KeyView TableState::View(const KeyHash& key) {
  const PendingKey& pending = Load(key, {});
  return {pending.now, pending.row, ExtraOf(pending)};
}

uint64_t TableState::pending_bytes() const {
  uint64_t bytes = x_overlay.bytes_held();
  for (const auto& chunk : x_chunks) bytes += chunk->rows.bytes_held();
  for (const std::string& block : x_key_arena) bytes += block.capacity();
  return bytes;
}

}  // namespace lastword
