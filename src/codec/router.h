// Which table takes a record: by the names under `source:`, which are table names, schema.table
// names or topics. Pure look-up; reads no record.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "codec/decoder.h"

namespace lastword::codec {

class Router {
 public:
  explicit Router(const std::vector<TableSpec>& tables);

  /// The table of an event of `schema`.`table` that came over `topic`; kNone where none takes it.
  /// `schema` is the database where the source has no schemas. Empty names match nothing.
  uint32_t ByTable(std::string_view schema, std::string_view table, std::string_view topic);

  /// The table of a record without an envelope, by its topic: the topic itself, its last two
  /// segments as schema.table, its last one as a table. Without a topic: the only table.
  uint32_t ByTopic(std::string_view topic);

 private:
  uint32_t Named(std::string_view name) const;

  std::unordered_map<std::string, uint32_t> x_names;
  uint32_t x_every = UINT32_MAX;  // the table that takes every record
  uint32_t x_only = UINT32_MAX;   // the table, where there is one
  // The last answer: neighbours usually have one table.
  std::string x_schema, x_table, x_topic;
  uint32_t x_answer = UINT32_MAX;
  bool x_asked = false;
};

}  // namespace lastword::codec
