// The one table of error kinds: the name a user reads, what a runner does about it, and the exit
// code. A new kind is one row here and one enumerator in lastword/status.h, in the same place.
#include <array>
#include <utility>

#include "base/format.h"
#include "lastword/status.h"

namespace lastword {
namespace {

struct KindEntry {
  ErrorKind kind;
  std::string_view name;
  ErrorClass error_class;
  int exit_code;
};

using enum ErrorKind;
using enum ErrorClass;

constexpr KindEntry kKinds[] = {
    {kBadJson, "bad_json", kStop, 3},
    {kBadEnvelope, "bad_envelope", kStop, 3},
    {kMissingKey, "missing_key", kStop, 3},
    {kNullInKey, "null_in_key", kStop, 3},
    {kAmbiguousKey, "ambiguous_key", kStop, 3},
    {kUnavailableKey, "unavailable_key", kStop, 3},
    {kUnavailableWithoutBase, "unavailable_without_base", kStop, 3},
    {kTypeMismatch, "type_mismatch", kStop, 3},
    {kOutOfRange, "out_of_range", kStop, 3},
    {kNotFiniteDecimal, "not_finite_decimal", kStop, 3},
    {kDecimalOverflow, "decimal_overflow", kStop, 3},
    {kUnsupportedOp, "unsupported_op", kStop, 3},
    {kUnroutedTable, "unrouted_table", kStop, 3},
    {kReservedColumn, "reserved_column", kStop, 3},
    {kSchemaIncompatible, "schema_incompatible", kStop, 3},
    {kSchemaUnavailable, "schema_unavailable", kStop, 3},
    {kReplicaIdentityUnsuitable, "replica_identity_unsuitable", kStop, 3},
    {kNoVersion, "no_version", kStop, 3},
    {kSourceRewound, "source_rewound", kStop, 3},
    {kSourceGap, "source_gap", kStop, 3},
    {kSlotLost, "slot_lost", kStop, 3},
    {kPkOverlapInTransaction, "pk_overlap_in_transaction", kStop, 3},
    {kVersionConflict, "version_conflict", kStop, 3},
    {kInvalidOperation, "invalid_operation", kStop, 3},
    {kCommitConflict, "commit_conflict", kReread, 4},
    {kFencedWriter, "fenced_writer", kFenced, 4},
    // Space does not come back by waiting: somebody must make room.
    {kStorageFull, "storage_full", kStop, 5},
    {kStorageCorrupt, "storage_corrupt", kStop, 5},
    {kStorageUnavailable, "storage_unavailable", kRetry, 5},
    {kLedgerMissing, "ledger_missing", kStop, 5},
    {kPositionsLost, "positions_lost", kStop, 5},
    {kUnsupportedFormat, "unsupported_format", kStop, 5},
    {kSourceUnavailable, "source_unavailable", kRetry, 5},
    {kCommitStateUnknown, "commit_state_unknown", kLookUp, 5},
    {kUsage, "usage", kStop, 2},
    {kInternal, "internal", kDefect, 70},
};

constexpr bool InEnumOrder() {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (static_cast<size_t>(kKinds[i].kind) != i) return false;
  }
  return std::size(kKinds) == static_cast<size_t>(kInternal) + 1;
}
static_assert(InEnumOrder(), "one row a kind, in the order of the enumeration");

const KindEntry& EntryOf(ErrorKind kind) {
  const auto index = static_cast<size_t>(kind);
  // A value from outside the enumeration can only be a defect of ours.
  return kKinds[index < std::size(kKinds) ? index : std::size(kKinds) - 1];
}

}  // namespace

std::string_view NameOf(ErrorKind kind) {
  return EntryOf(kind).name;
}

Result<ErrorKind> ParseErrorKind(std::string_view name) {
  for (const KindEntry& entry : kKinds) {
    if (entry.name == name) return entry.kind;
  }
  return Error{ErrorKind::kUsage, Message("no error kind is named {}", name), {}};
}

ErrorClass ClassOf(ErrorKind kind) {
  return EntryOf(kind).error_class;
}

int ExitCodeOf(ErrorKind kind) {
  return EntryOf(kind).exit_code;
}

std::string ToString(const Error& error) {
  std::string text = Message("{}: {}", NameOf(error.kind), error.message);
  const Place& place = error.place;
  std::string where;
  auto add = [&where](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    if (!where.empty()) where += ", ";
    where += name;
    where += ' ';
    where += value;
  };
  add("input", place.input);
  if (place.line) add("line", Message("{}", *place.line));
  if (place.offset) add("offset", Message("{}", *place.offset));
  add("table", place.table);
  add("key", place.key);
  add("column", place.column);
  if (!where.empty()) text += " (" + where + ")";
  return text;
}

}  // namespace lastword
