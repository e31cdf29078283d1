// The ledger: a second dataset beside the visible table that holds what a key needs beyond its
// visible row, and the ids of the newest checkpoints. Never read at another version than the one
// that the visible table pins.
//
// Columns: kind (uint8: 1 key, 2 checkpoint), key_high and key_low (uint64: hash of the key or of
// the checkpoint id), key (bytes: canonical key), status (uint8: KeyStatus), epoch (uint32), hi,
// mid, lo (uint64: of a tombstone, else of the state; hi of a checkpoint: the version of the table
// that it became, 0 in older ledgers), delete_input (uint32), extra (bytes:
// state/key_extra.h; NULL = none). Persisted: columns are only ever added.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "lance/dataset.h"
#include "state/stored.h"

namespace lastword {

/// "…/orders.lance" -> "…/orders.lance.lastword", the folder of everything that is ours beside the
/// table.
std::string CompanionFolder(const std::string& table_uri);
std::string LedgerUri(const std::string& table_uri);

Schema LedgerSchema();

using CheckpointIds = std::unordered_set<KeyHash, KeyHashHasher>;
KeyHash CheckpointHash(const std::string& id);

/// Rows of one ledger commit: those of keys in order, then the checkpoint id unless it is empty.
Rows LedgerRows(const std::vector<LedgerRow>& keys, const std::string& checkpoint_id,
                uint64_t table_version);

/// Properties of a ledger version: the writer that made it.
Properties LedgerProperties(uint64_t writer_epoch);
/// The writer epoch in them; 0 where they carry none of ours.
uint64_t LedgerWriterEpoch(const Properties& properties);

/// What stays in memory of a ledger.
struct LedgerContents {
  std::unordered_map<KeyHash, StoredExtra, KeyHashHasher> extras;
  CheckpointIds checkpoints;
};

/// Reads the version that `ledger` stands at, and gives the index entry of each key to `sink`: that
/// of a tombstone, or one without a state for a key of which the ledger knows only an extra.
/// kStorageCorrupt where rows contradict the columns above.
Result<LedgerContents> ReadLedger(Dataset& ledger,
                                  const std::function<Status(const KeyEntry& entry)>& sink);

/// The `count` oldest checkpoints in it, with their addresses. Reads the whole ledger.
using StoredCheckpoint = std::pair<KeyHash, RowAddress>;
Result<std::vector<StoredCheckpoint>> OldestCheckpoints(Dataset& ledger, uint64_t count);

/// Visits the keys in it, with their canonical bytes.
Status ScanLedgerKeys(Dataset& ledger, const StoredRows::KeyVisit& visit);
/// Keys of the rows in some fragments of the ledger, with their addresses; checkpoints are left out
/// and counted in the result.
Result<uint64_t> ScanLedgerAddresses(
    Dataset& ledger, std::span<const uint64_t> fragments,
    const std::function<Status(const KeyHash& key, RowAddress address)>& visit);

}  // namespace lastword
