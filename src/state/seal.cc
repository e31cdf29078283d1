// From the overlay to what a checkpoint writes, and back into the index once it is written.
#include <algorithm>

#include "base/check.h"
#include "base/format.h"
#include "base/planted_bug.h"
#include "model/digest.h"
#include "model/key.h"
#include "model/version_columns.h"
#include "state/key_index.h"
#include "state/law.h"
#include "state/table_state.h"

namespace lastword {
namespace {

constexpr uint64_t kStoresAhead = 8;  // entries; more than a core has reads under way

// A key needs a ledger row for its tombstone, its extra, or the memory of a delete.
bool NeedsLedgerRow(const KeyEntry& entry, const KeyExtra* extra) {
  return entry.status == KeyStatus::kTombstone || entry.delete_input != 0 ||
         (extra != nullptr && !extra->empty());
}

}  // namespace

Status TableState::SealLoneUpdateBefores() {
  for (const auto& [hash, version] : x_lone_update_befores) {
    PendingKey& key = *x_overlay.Find(hash);
    if (x_options.lone_update_before == LoneUpdateBefore::kFail) {
      return Error{
          ErrorKind::kInvalidOperation,
          Message("a -U without its +U at the end of a checkpoint, key {}. Set lone_update_before: "
                  "delete or drop to decide what it means",
                  KeyToText(key.key)),
          {}};
    }
    if (x_options.lone_update_before == LoneUpdateBefore::kDelete) {
      const std::optional<StoredChange> stored = StateOf(key);
      if (!stored || version > stored->version) BecomeTombstone(key, version);
    }
    key.lone_update_before = false;
  }
  x_lone_update_befores.clear();
  return Ok{};
}

// Extras outlive the rows they name by address: those are read now.
Status TableState::SealLazyRows(KeyExtra& extra) {
  const auto resolve = [this](LazyRow& lazy) -> Status {
    LW_ASSIGN_OR_RETURN(lazy.row, ReadRow(lazy));
    lazy.address = kNoAddress;
    return Ok{};
  };
  for (KeptRow& kept : extra.kept) LW_RETURN_IF_ERROR(resolve(kept.row));
  if (extra.overwritten) LW_RETURN_IF_ERROR(resolve(extra.overwritten->row));
  return Ok{};
}

void TableState::SealKey(PendingKey& key, SealedBatch& sealed) {
  const KeyExtra* extra = ExtraOf(key);
  const bool row_replaced = key.before.live() && (!key.now.live() || key.row.pending());
  if (row_replaced) sealed.superseded.push_back(key.before.address);
  if (key.now.live() && key.row.pending()) sealed.row_keys.push_back(&key);

  const auto stored = x_extras.find(key.now.key);
  if (key.before.status == KeyStatus::kTombstone) {
    sealed.ledger_superseded.push_back(key.before.address);
  } else if (stored != x_extras.end()) {
    sealed.ledger_superseded.push_back(stored->second.address);
  }
  if (key.key.empty() && stored != x_extras.end()) key.key = stored->second.key;
  if (NeedsLedgerRow(key.now, extra)) {
    const bool has_fields = extra != nullptr && !extra->empty();
    sealed.ledger_rows.push_back(
        {key.now, key.key, has_fields ? ExtraToBytes(*extra) : std::string()});
    sealed.ledger_keys.push_back(&key);
  }
}

// What a truncate or a clean-up removes beside the keys of the overlay.
Status TableState::SealRemovals(SealedBatch& sealed) {
  if (x_truncated.empty() && !x_collected) return Ok{};
  if (Planted(PlantedBug::kTruncateOnlyPending)) return Ok{};
  return ForEachCommitted(
      x_truncated.any_of_origins(), [&](const KeyEntry& entry, std::string_view key) {
        if (entry.status == KeyStatus::kNone) return;
        const bool collected = entry.status == KeyStatus::kTombstone && x_collected &&
                               entry.version() <= *x_collected && !entry.has_extra;
        if (!collected && !Truncated(entry.version(), key)) return;
        if (x_overlay.Find(entry.key) != nullptr) return;
        (entry.live() ? sealed.superseded : sealed.ledger_superseded).push_back(entry.address);
        sealed.erased.push_back(entry.key);
        if (entry.status == KeyStatus::kTombstone) --sealed.tombstones_added;
      });
}

Status TableState::SealRows(SealedBatch& sealed) {
  sealed.rows = Rows(*x_schema);
  for (const char* column : kVersionColumns) {
    sealed.rows.columns.emplace_back(VersionColumnType(column));
  }
  const size_t expected = sealed.row_keys.size();
  for (ColumnData& column : sealed.rows.columns) {
    column.Reserve(expected, expected * FixedWidth(column.type()));
  }
  // In the order of memory, a chunk's rows column by column: what is read lies side by side.
  std::vector<uint64_t> begins = {0};  // of each chunk's rows among those of all
  for (const auto& chunk : x_chunks) begins.push_back(begins.back() + chunk->rows.size());
  std::vector<PendingKey*> keys(begins.back());
  for (PendingKey* key : sealed.row_keys) keys[begins[key->row.chunk] + key->row.row] = key;
  sealed.row_keys.clear();
  std::vector<uint64_t> rows;
  for (size_t i = 0; i < x_chunks.size(); ++i) {
    rows.clear();
    for (uint64_t at = begins[i]; at < begins[i + 1]; ++at) {
      if (keys[at] == nullptr) continue;
      rows.push_back(at - begins[i]);
      sealed.row_keys.push_back(keys[at]);
    }
    if (rows.empty()) continue;
    const RowChunk& chunk = *x_chunks[i];
    RowAdapter(*chunk.schema, *x_schema).Append(chunk.rows, rows, sealed.rows);
  }
  LW_CHECK(sealed.row_keys.size() == expected, "a row belongs to one key");
  ColumnData* const versions = &sealed.rows.columns[x_schema->columns.size()];
  for (const PendingKey* key : sealed.row_keys) {
    versions[0].AppendFixed(key->now.epoch);
    versions[1].AppendFixed(key->now.hi);
    versions[2].AppendFixed(key->now.mid);
    versions[3].AppendFixed(key->now.lo);
    versions[4].AppendFixed(key->now.digest);
  }
  return Ok{};
}

Result<SealedBatch> TableState::Seal() {
  LW_RETURN_IF_ERROR(SealLoneUpdateBefores());
  SealedBatch sealed;
  for (uint64_t i = 0; i < x_overlay.size(); ++i) {
    PendingKey& key = x_overlay.at(i);
    if (key.extra != nullptr) LW_RETURN_IF_ERROR(SealLazyRows(*key.extra));
    if (key.changed) SealKey(key, sealed);
    sealed.tombstones_added += key.now.status == KeyStatus::kTombstone;
    sealed.tombstones_added -= key.before.status == KeyStatus::kTombstone;
    x_head.highest_hi = std::max(x_head.highest_hi, key.now.hi);
  }
  LW_RETURN_IF_ERROR(SealRemovals(sealed));
  LW_RETURN_IF_ERROR(SealRows(sealed));
  return sealed;
}

void TableState::Readdress(SealedBatch& sealed) {
  sealed.superseded.clear();
  for (uint64_t i = 0; i < x_overlay.size(); ++i) {
    PendingKey& key = x_overlay.at(i);
    if (!key.before.live()) continue;
    KeyEntry fresh;
    if (!x_index.Find(key.before.key, fresh) || !fresh.live()) {
      key.before.status =
          KeyStatus::kNone;  // removed by another program: nothing is left to supersede
      continue;
    }
    key.before.address = fresh.address;
    const bool pending = key.row.pending();
    if (key.now.live() && !pending) key.now.address = fresh.address;
    if (key.changed && (!key.now.live() || pending)) sealed.superseded.push_back(fresh.address);
  }
  for (const KeyHash& key : sealed.erased) {
    KeyEntry entry;
    if (x_index.Find(key, entry) && entry.live()) sealed.superseded.push_back(entry.address);
  }
}

bool TableState::MoveLedgerRow(const KeyHash& key, uint64_t address) {
  const auto stored = x_extras.find(key);
  if (stored != x_extras.end()) stored->second.address = address;
  KeyEntry entry;
  const bool tombstone = x_index.Find(key, entry) && entry.status == KeyStatus::kTombstone;
  if (tombstone) {
    entry.address = address;
    x_index.Store(entry);
  }
  return tombstone || stored != x_extras.end();
}

void TableState::Committed(const SealedBatch& sealed, std::span<const uint64_t> row_addresses,
                           std::span<const uint64_t> ledger_addresses) {
  for (size_t i = 0; i < sealed.row_keys.size(); ++i) {
    sealed.row_keys[i]->now.address = row_addresses[i];
    sealed.row_keys[i]->row = {};
  }
  for (size_t i = 0; i < sealed.ledger_keys.size(); ++i) {
    PendingKey& key = *sealed.ledger_keys[i];
    const KeyExtra* extra = ExtraOf(key);
    StoredExtra stored{extra != nullptr ? *extra : KeyExtra{}, ledger_addresses[i],
                       std::string(key.key)};
    const bool tombstone_only = key.now.status == KeyStatus::kTombstone && stored.extra.empty();
    if (key.now.status == KeyStatus::kTombstone) key.now.address = ledger_addresses[i];
    key.now.has_extra = !tombstone_only;
    if (tombstone_only) {
      x_extras.erase(key.now.key);
    } else {
      x_extras[key.now.key] = std::move(stored);
    }
  }
  for (uint64_t i = 0; i < x_overlay.size(); ++i) {
    if (i + kStoresAhead < x_overlay.size()) {
      x_index.PrefetchStore(x_overlay.at(i + kStoresAhead).now.key);
    }
    PendingKey& key = x_overlay.at(i);
    if (!key.changed) continue;
    if (!NeedsLedgerRow(key.now, ExtraOf(key))) {
      x_extras.erase(key.now.key);
      key.now.has_extra = false;
    }
    if (key.now.status == KeyStatus::kNone && !key.now.has_extra) {
      x_index.Erase(key.now.key);
    } else {
      x_index.Store(key.now);
    }
  }
  for (const KeyHash& key : sealed.erased) x_index.Erase(key);
  Abandon();
  x_waiting_by_old.clear();
  for (const auto& [key, stored] : x_extras) {
    if (stored.extra.waiting) x_waiting_by_old.emplace(stored.extra.waiting->old_key, key);
  }
}

}  // namespace lastword
