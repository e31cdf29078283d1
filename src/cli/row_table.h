// Rows as a table for people: columns lined up over the first rows, later ones at least as wide.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "lastword/schema.h"
#include "lastword/value.h"

namespace lastword::cli {

class RowTable {
 public:
  explicit RowTable(const Schema& schema);
  /// `out` gets the header and rows once enough of them are known to line up.
  void Add(const Row& row, std::ostream& out);
  /// Prints what is held back and a line with the number of rows.
  void End(std::ostream& out);

 private:
  void Flush(std::ostream& out);
  void PrintLine(const std::vector<std::string>& cells, std::ostream& out) const;

  Schema x_schema;
  std::vector<size_t> x_widths;
  std::vector<std::vector<std::string>> x_held;
  bool x_header_printed = false;
  uint64_t x_rows = 0;
};

}  // namespace lastword::cli
