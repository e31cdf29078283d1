// A TableSpec made ready for decoding: columns by name and by the order in which they usually come,
// key, sequence and metadata columns, the forms that the last schema wrapper announced, and scratch
// rows for keys. One a table and decoder; knows nothing of any format.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codec/connect_schema.h"
#include "codec/decoder.h"
#include "codec/name_memo.h"
#include "model/digest.h"
#include "model/rows.h"

namespace lastword::codec {

/// What fills a column that has `from:`.
enum class Metadata : uint8_t { kSource, kHeader, kTopic, kPartition, kOffset };

struct MetadataColumn {
  uint32_t column = 0;
  Metadata kind = Metadata::kTopic;
  std::string name;  // of the source field or the header
};

/// Stands for the record's offset among sequence columns.
inline constexpr uint32_t kOffsetColumn = kNone - 1;

struct TablePlan {
  TablePlan(uint32_t index, const TableSpec& spec);
  TablePlan(const TablePlan&) = delete;
  TablePlan& operator=(const TablePlan&) = delete;

  /// Moves to the next member of an image, the `position`-th one, and finds its column, or kNone.
  /// False where Members::Next is.
  bool NextColumn(size_t position, Members& members, uint32_t& column) {
    return x_names.Next(
        position, members, [this](std::string_view name) { return FindByName(name); }, column);
  }

  /// The column that the image's member `name` fills, or kNone.
  uint32_t FindByName(std::string_view name) const {
    const auto found = x_by_name.find(name);
    return found == x_by_name.end() ? kNone : found->second;
  }

  /// Whether values of members that are no column of the table mean nothing.
  bool IgnoresUnknown() const {
    return !spec.discover && spec.evolution == TableSpec::Evolution::kIgnore;
  }

  /// Marks `column` as seen in the image at hand; false where it was seen already.
  bool Mark(uint32_t column) {
    if (stamps[column] == stamp) return false;
    stamps[column] = stamp;
    return true;
  }
  bool Marked(uint32_t column) const { return stamps[column] == stamp; }

  const uint32_t index;
  const TableSpec spec;
  const Schema& schema;  // of `spec`
  Digester digester;
  std::vector<std::string_view> image_names;  // a column: its name in the image; empty = metadata
  uint32_t image_columns = 0;                 // how many columns the image fills
  std::vector<uint8_t> is_key;                // a column: 1 where it is part of the key
  bool key_from_source = false;               // a key column is filled from the envelope's source
  std::vector<std::string> origin_columns;    // of the key: model/origin.h
  bool told_apart_with_schemas = false;       // by them: codec/source_names.h
  bool told_apart_without_schemas = false;
  std::vector<MetadataColumn> metadata;
  std::vector<std::string> key_names;  // declared, else those of the first record key that was seen
  std::vector<uint32_t> sequence;      // columns that make the version, in order; or kOffsetColumn
  struct Filled {
    uint64_t rows = 0, bytes = 0;
  };
  std::vector<Filled> filled;  // a column: how much the last call of the decoder put into it
  std::vector<uint32_t> stamps;
  uint32_t stamp = 0;

  std::vector<ValueForm> plain_forms;  // a column: kPlain
  /// Forms under the schema wrapper with `wrapper_hash`; see WrapperBinder.
  std::vector<ValueForm> wrapper_forms;
  std::vector<ConnectField> wrapper_fields;
  uint64_t wrapper_hash = 0;
  bool wrapper_bound = false;

  Rows image_key, record_key;  // scratch: one row, only in key and sequence columns
  std::vector<uint32_t> scratch_columns;

 private:
  NameMemo x_names;
  std::unordered_map<std::string_view, uint32_t> x_by_name;
};

}  // namespace lastword::codec
