// What few keys need beyond their state: where carried columns come from, halves of key changes
// that wait for each other, the overwritten row of a key swap, quarantine. Lies in the ledger
// beside the key.
//
//   extra     := field*
//   field     := tag(1) length(4) body(length)      unknown tags are refused (kUnsupportedFormat)
//   'C' body  := version column:bytes               a carried column and the version its value
//   comes from 'Q' body  := empty                              quarantined 'H' body  := version
//   held back since a bad record (dead letter) of that version 'D' body  := input(4) the last
//   record of this key in that input was a delete 'K' body  := version new_key(16) row row kept for
//   the upsert half of a key change at that position 'W' body  := version position:version
//   digest(8) old_key(16) count(4) (length(4) column)* row      upsert half that waits 'O' body  :=
//   epoch(4) hi(8) row?                overwritten by an upsert half of that transaction; empty row
//   = not kept version   := epoch(4) hi(8) mid(8) lo(8), little-endian; row as in model/row_chunk.h
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "lastword/version.h"
#include "model/row_chunk.h"

namespace lastword {

/// A column that the winning change marked as unchanged: its value stems from an older change of
/// the key.
struct CarriedColumn {
  std::string column;
  Version from;
};

/// A single row that outlives its place in the table.
using SharedRow = std::shared_ptr<const RowChunk>;  // exactly one row

/// A row on its way into an extra: read already, or still the committed row at `address` (then it
/// is read when it is needed, at the latest when the checkpoint is sealed). Neither: no row.
struct LazyRow {
  SharedRow row;
  uint64_t address = UINT64_MAX;
  bool present() const { return row || address != UINT64_MAX; }
};

/// The removed row of a key-change delete, kept until the upsert half has taken its unavailable
/// columns.
struct KeptRow {
  Version position;  // of the delete half
  KeyHash new_key;   // zero where the delete half did not name it
  LazyRow row;
};

/// An upsert half that came before the delete half of its old key and needs that row.
struct WaitingChange {
  Version version;   // of the newest change merged into it
  Version position;  // of the upsert half itself: what the delete half is matched by
  uint64_t digest = 0;
  KeyHash old_key;
  std::vector<std::string> missing;  // columns still unavailable
  SharedRow row;                     // NULL in the missing columns
};

/// An upsert half took the place of a live row of another transaction (key swap).
struct OverwrittenRow {
  uint32_t epoch = 0;
  uint64_t hi = 0;  // transaction of the upsert half
  LazyRow row;
};

struct KeyExtra {
  std::vector<CarriedColumn> carried;
  bool quarantined = false;
  std::optional<Version> held;
  std::vector<uint16_t>
      delete_inputs;  // beyond KeyEntry::delete_input; same numbering (1 + number)
  std::vector<KeptRow> kept;
  std::optional<WaitingChange> waiting;
  std::optional<OverwrittenRow> overwritten;

  bool empty() const {
    return carried.empty() && !quarantined && !held && delete_inputs.empty() && kept.empty() &&
           !waiting && !overwritten;
  }
};

std::string ExtraToBytes(const KeyExtra& extra);
Result<KeyExtra> ExtraFromBytes(std::string_view bytes);

}  // namespace lastword
