// What every version of the visible table says of itself: the transaction properties of our
// commits.
//
//   lastword.format        "1"
//   lastword.checkpoint    id of the checkpoint, free text; empty for maintenance commits
//   lastword.writer_epoch  decimal
//   lastword.ledger        decimal: the version of the ledger that belongs to this version
//   lastword.state         JSON object, see StateToJson in properties.cc
//   lastword.positions     JSON object: input -> opaque text of its source
//
// Persisted: old formats are read for ever; a higher format is refused (kUnsupportedFormat).
#pragma once

#include <map>
#include <optional>
#include <string>

#include "lance/dataset.h"
#include "state/state_head.h"

namespace lastword {

struct TableProperties {
  std::string checkpoint;
  uint64_t writer_epoch = 0;
  uint64_t ledger_version = 0;
  StateHead head;
  std::map<std::string, std::string> positions;
  uint64_t version = 0;  // of the table that carries them; not stored
};

Properties EncodeProperties(const TableProperties& properties);

/// Empty where the version carries none of ours. Fails with kStorageCorrupt or kUnsupportedFormat.
Result<std::optional<TableProperties>> DecodeProperties(const Properties& properties);

/// The properties that hold for `version`: its own, those of the version that it restored, or those
/// of the nearest older version that has some (compaction's reservation, foreign commits).
/// kPositionsLost where clean-up by others left none. `foreign` lists the data commits by others
/// that were passed on the way; may be null.
Result<TableProperties> EffectiveProperties(Dataset& table, uint64_t version,
                                            std::vector<std::string>* foreign);

}  // namespace lastword
