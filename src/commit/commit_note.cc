#include "commit/commit_note.h"

#include <utility>

#include "commit/properties.h"

namespace lastword {

Result<std::optional<CommitNote>> ReadCommitNote(const Properties& properties) {
  LW_ASSIGN_OR_RETURN(std::optional<TableProperties> own, DecodeProperties(properties));
  if (!own) return std::optional<CommitNote>();
  return std::optional<CommitNote>(
      {std::move(own->checkpoint), own->writer_epoch, own->ledger_version, own->head.totals});
}

}  // namespace lastword
