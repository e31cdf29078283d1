// A change as a test writes it, and the batch that a codec would make of it.
//
// Table: id int64 (key), a string, b string; with several source tables also src string, the first
// key column, filled from the name of the source table.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/change_batch.h"

namespace lastword {

struct TestChange {
  Kind kind = Kind::kUpsert;
  int64_t key = 0;
  Version version;
  std::optional<std::string> a, b;       // nullopt = NULL
  std::vector<std::string> unavailable;  // "a", "b"
  std::optional<std::string> before_a;   // a value in `before`, for an unavailable a
  uint16_t flags = 0;
  std::optional<int64_t> other_key;  // of a key change
  std::string source;                // its source table, where the key has that column
  std::string input = "0";
  std::optional<uint64_t> offset;  // default: the next of its input
};

Schema TestSchema(bool several_sources = false);
/// "k1@0/20/0/2<>k3=a,b?a": key, version, other key, columns, unavailable ones.
std::string ToText(const TestChange& change);

/// A batch of one input, whose null-value records follow deletes.
ChangeBatch EmptyBatch(const std::string& input, bool several_sources = false);
/// Appends `change` as one of the record at `offset`.
void AppendChange(const TestChange& change, uint64_t offset, ChangeBatch& batch);

}  // namespace lastword
