// Which commit of ours made a version: what people and hosts ask of its properties. The state and
// the positions in them are the engine's (commit/properties.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "lance/dataset.h"
#include "lastword/table.h"

namespace lastword {

struct CommitNote {
  std::string checkpoint;  // empty for maintenance commits
  uint64_t writer_epoch = 0;
  uint64_t ledger_version = 0;
  Counts totals;  // since the table was created
};

/// Contract of DecodeProperties.
Result<std::optional<CommitNote>> ReadCommitNote(const Properties& properties);

}  // namespace lastword
