// What a call of the library answers: a value or an Error. Shaped like std::expected, so that an
// alias can replace it once every supported compiler has one. The library throws nothing; the C API
// and JNI catch at their edge.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace lastword {

template <typename T>
class Result;

/// What a user reads: `error.kind` in `--json` and the first word of a message. The names are
/// promises (NameOf).
enum class ErrorKind : uint8_t {
  // A record that cannot be applied (exit code 3).
  kBadJson,
  kBadEnvelope,
  kMissingKey,
  kNullInKey,
  kAmbiguousKey,
  kUnavailableKey,
  kUnavailableWithoutBase,
  kTypeMismatch,
  kOutOfRange,
  kNotFiniteDecimal,
  kDecimalOverflow,
  kUnsupportedOp,
  kUnroutedTable,
  kReservedColumn,
  kSchemaIncompatible,
  kSchemaUnavailable,
  kReplicaIdentityUnsuitable,
  kNoVersion,
  kSourceRewound,
  kSourceGap,
  kSlotLost,
  kPkOverlapInTransaction,
  kVersionConflict,
  kInvalidOperation,
  // Another writer (exit code 4).
  kCommitConflict,
  kFencedWriter,
  // Storage or source (exit code 5).
  kStorageFull,
  kStorageCorrupt,
  kStorageUnavailable,
  kLedgerMissing,
  kPositionsLost,
  kUnsupportedFormat,
  kSourceUnavailable,
  kCommitStateUnknown,
  // The caller (exit code 2) and us (exit code 70).
  kUsage,
  kInternal,
};

/// What a runner does about an error; each kind belongs to exactly one class.
enum class ErrorClass : uint8_t {
  kStop,    // The user must act: a record, a schema, a setting.
  kRetry,   // Back off and try the same call again.
  kReread,  // Nothing was applied: reread the table, then retry.
  kLookUp,  // It may have been applied: ask the table before anything else, clean up nothing.
  kFenced,  // Another writer took over: stop, change nothing.
  kDefect,  // Our bug: stop, commit nothing more.
};

/// The stable name of a kind: "bad_json".
std::string_view NameOf(ErrorKind kind);
/// The kind with that name; kUsage for a name that is none.
Result<ErrorKind> ParseErrorKind(std::string_view name);
ErrorClass ClassOf(ErrorKind kind);
/// The exit code that the command line ends with: 2, 3, 4, 5 or 70.
int ExitCodeOf(ErrorKind kind);

/// Where an error happened; what is not known stays empty.
struct Place {
  std::string input;               // "orders.ndjson", "topic:3"
  std::optional<uint64_t> offset;  // of the record in its input
  std::optional<uint64_t> line;    // counted from 1, for files
  std::string table;
  std::string key;  // as the user would type it for `explain`
  std::string column;
};

/// A failure: what failed, then values, then the remedy. Never holds row contents beyond the key.
struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string message;
  Place place;
};

/// "bad_json: … (input a.ndjson, line 3, key 7, column qty)".
std::string ToString(const Error& error);

/// The value of a call that answers nothing but success.
struct Ok {};

/// A value or an Error. Check before dereferencing.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(runtime/explicit)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(runtime/explicit)

  explicit operator bool() const { return state_.index() == 0; }
  bool ok() const { return state_.index() == 0; }
  T& operator*() { return assert(ok()), *std::get_if<0>(&state_); }
  const T& operator*() const { return assert(ok()), *std::get_if<0>(&state_); }
  T* operator->() { return assert(ok()), std::get_if<0>(&state_); }
  const T* operator->() const { return assert(ok()), std::get_if<0>(&state_); }
  Error& error() { return assert(!ok()), *std::get_if<1>(&state_); }
  const Error& error() const { return assert(!ok()), *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

using Status = Result<Ok>;

}  // namespace lastword

/// Returns the error of `expression` from the enclosing function.
#define LW_RETURN_IF_ERROR(expression)                    \
  do {                                                    \
    if (auto lw_status = (expression); !lw_status.ok()) { \
      return std::move(lw_status.error());                \
    }                                                     \
  } while (false)

#define LW_CONCAT_INNER(a, b) a##b
#define LW_CONCAT(a, b) LW_CONCAT_INNER(a, b)
#define LW_ASSIGN_OR_RETURN(target, expression) \
  LW_ASSIGN_OR_RETURN_INNER(LW_CONCAT(lw_result_, __LINE__), target, expression)
#define LW_ASSIGN_OR_RETURN_INNER(result, target, expression) \
  auto result = (expression);                                 \
  if (!result.ok()) return std::move(result.error());         \
  target = std::move(*result)
