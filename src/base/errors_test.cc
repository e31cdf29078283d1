#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "lastword/status.h"

namespace lastword {
namespace {

constexpr int kKindCount = static_cast<int>(ErrorKind::kInternal) + 1;

TEST(Errors, NamesAreUniqueSnakeCase) {
  std::set<std::string_view> names;
  for (int i = 0; i < kKindCount; ++i) {
    const std::string_view name = NameOf(static_cast<ErrorKind>(i));
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos);
  }
}

// The names and exit codes that the command line promises.
TEST(Errors, PromisedNamesHaveTheirExitCode) {
  const std::set<std::string_view> of_records = {
      "bad_json",           "bad_envelope",
      "missing_key",        "null_in_key",
      "ambiguous_key",      "unavailable_key",
      "type_mismatch",      "unavailable_without_base",
      "out_of_range",       "not_finite_decimal",
      "decimal_overflow",   "unsupported_op",
      "unrouted_table",     "reserved_column",
      "schema_unavailable", "schema_incompatible",
      "no_version",         "replica_identity_unsuitable",
      "source_rewound",     "source_gap",
      "slot_lost",          "pk_overlap_in_transaction",
      "version_conflict",   "invalid_operation"};
  const std::set<std::string_view> of_writers = {"commit_conflict", "fenced_writer"};
  const std::set<std::string_view> of_storage = {
      "storage_full",   "storage_corrupt",    "storage_unavailable", "ledger_missing",
      "positions_lost", "unsupported_format", "source_unavailable",  "commit_state_unknown"};
  for (int i = 0; i < kKindCount; ++i) {
    const auto kind = static_cast<ErrorKind>(i);
    const std::string_view name = NameOf(kind);
    const int expected = of_records.contains(name)   ? 3
                         : of_writers.contains(name) ? 4
                         : of_storage.contains(name) ? 5
                         : name == "usage"           ? 2
                                                     : 70;
    EXPECT_EQ(ExitCodeOf(kind), expected) << name;
  }
  EXPECT_EQ(kKindCount,
            static_cast<int>(of_records.size() + of_writers.size() + of_storage.size()) + 2);
}

TEST(Errors, ClassesSayWhatARunnerDoes) {
  EXPECT_EQ(ClassOf(ErrorKind::kBadJson), ErrorClass::kStop);
  EXPECT_EQ(ClassOf(ErrorKind::kStorageFull), ErrorClass::kStop);
  EXPECT_EQ(ClassOf(ErrorKind::kStorageUnavailable), ErrorClass::kRetry);
  EXPECT_EQ(ClassOf(ErrorKind::kSourceUnavailable), ErrorClass::kRetry);
  EXPECT_EQ(ClassOf(ErrorKind::kCommitConflict), ErrorClass::kReread);
  EXPECT_EQ(ClassOf(ErrorKind::kCommitStateUnknown), ErrorClass::kLookUp);
  EXPECT_EQ(ClassOf(ErrorKind::kFencedWriter), ErrorClass::kFenced);
  EXPECT_EQ(ClassOf(ErrorKind::kInternal), ErrorClass::kDefect);
}

TEST(Errors, AKindOutsideTheEnumerationIsOurDefect) {
  EXPECT_EQ(NameOf(static_cast<ErrorKind>(250)), "internal");
}

TEST(Errors, TextNamesThePlace) {
  Error error{ErrorKind::kBadJson, "line is not JSON"};
  EXPECT_EQ(ToString(error), "bad_json: line is not JSON");
  error.place = {.input = "a.ndjson",
                 .offset = 120,
                 .line = 3,
                 .table = "orders",
                 .key = "7",
                 .column = "qty"};
  EXPECT_EQ(ToString(error),
            "bad_json: line is not JSON (input a.ndjson, line 3, offset 120, table orders, key 7, "
            "column qty)");
}

}  // namespace
}  // namespace lastword
