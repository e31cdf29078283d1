// For tests: runs a decoder as a source does (schema requests granted, the record decoded again)
// and prints changes as lines that a reader can compare. Not part of the library.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/decoder.h"

namespace lastword::codec {

struct DecodedText {
  /// One line a change: "+ t hi/mid/lo {"id":1} key=1 [flags]", in order of arrival.
  std::vector<std::string> changes;
  uint64_t records = 0;
  std::optional<Error> error;
  std::vector<TableSpec> tables;  // with the schemas as they have become
  uint32_t requests = 0;
};

/// Decodes `text` in one chunk, in chunks of whole lines of about `chunk_bytes` otherwise.
DecodedText DecodeText(Format format, std::vector<TableSpec> tables, std::string_view text,
                       size_t chunk_bytes = 0);

/// One change as text. With `places` its input, offset and line too.
std::string ChangeToText(const TableSpec& table, const ChangeBatch& batch, const ChangeHead& head);

/// A row as JSON: integers exact, decimals as text, bytes as base64, times as integers.
std::string RowToText(const Schema& schema, const Rows& rows, uint64_t row);

/// "int64 id, string v" with the key first: a TableSpec for tests. `key` names columns of
/// `columns`.
TableSpec SpecOf(std::string name, const std::vector<std::pair<std::string, std::string>>& columns,
                 const std::vector<std::string>& key);
/// A table whose columns are discovered.
TableSpec DiscoveredSpec(std::string name, const std::vector<std::string>& key = {});

}  // namespace lastword::codec
