// Options of the C interface: JSON text into the library's own types (include/lastword/c.h lists
// the members), and schemas back into JSON. Unknown members are errors, so that a misspelt one is
// not taken for its default.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "lastword/table.h"

namespace lastword::capi {

/// A declared schema. A table without a key gets a uuid column that identifies each row.
struct DeclaredSchema {
  Schema schema;               // with the append key as its last column, where there is one
  size_t encoded_columns = 0;  // columns of an encoded row: the first ones of the schema
  bool appends = false;
};

/// Where the versions of a writer's changes come from.
struct VersionRule {
  enum class Source { kArrival, kGiven, kColumns } source = Source::kArrival;
  std::vector<uint32_t> columns;  // kColumns: into hi, mid, lo in this order
  bool removals_rank_above =
      false;  // kColumns: -D and -U carry the sequence of the row they remove
};

struct WriterOptions {
  DeclaredSchema declared;
  VersionRule versions;
  uint64_t sealed_bytes_max = UINT64_MAX;  // about: where what is sealed is cut
};

struct TableOpening {
  DeclaredSchema declared;  // without columns where none were given
  TableOptions options;     // without the schema
  bool evolve = false;
  std::string input = "api";
};

Result<WriterOptions> ParseWriterOptions(std::string_view text);
Result<TableOpening> ParseTableOptions(std::string_view text);
/// Reads the members "columns" and "key" or "append_key".
Result<DeclaredSchema> ParseDeclaredSchema(const Json& json);

/// {"columns": […], "key": […]}, which ParseDeclaredSchema reads back.
Json SchemaToJson(const Schema& schema);

}  // namespace lastword::capi
