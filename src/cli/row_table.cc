#include "cli/row_table.h"

#include <algorithm>

#include "model/row_text.h"

namespace lastword::cli {
namespace {

constexpr size_t kRowsToMeasure = 1000;

// Characters, not bytes: what UTF-8 text takes on a terminal, wide ones aside.
size_t WidthOf(const std::string& text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

}  // namespace

RowTable::RowTable(const Schema& schema) : x_schema(schema) {
  for (const Column& column : schema.columns) x_widths.push_back(WidthOf(column.name));
}

void RowTable::Add(const Row& row, std::ostream& out) {
  ++x_rows;
  std::vector<std::string>& cells = x_held.emplace_back();
  for (size_t i = 0; i < x_schema.columns.size(); ++i) {
    const Column& column = x_schema.columns[i];
    const auto named = std::find_if(row.begin(), row.end(),
                                    [&](const auto& value) { return value.first == column.name; });
    cells.push_back(ValueToText(named == row.end() ? Value() : named->second, column.type));
    x_widths[i] = std::max(x_widths[i], WidthOf(cells.back()));
  }
  if (x_held.size() >= kRowsToMeasure) Flush(out);
}

void RowTable::Flush(std::ostream& out) {
  if (!x_header_printed) {
    std::vector<std::string> names, rules;
    for (size_t i = 0; i < x_schema.columns.size(); ++i) {
      names.push_back(x_schema.columns[i].name);
      rules.emplace_back(x_widths[i], '-');
    }
    PrintLine(names, out);
    PrintLine(rules, out);
    x_header_printed = true;
  }
  for (const auto& cells : x_held) PrintLine(cells, out);
  x_held.clear();
}

void RowTable::PrintLine(const std::vector<std::string>& cells, std::ostream& out) const {
  std::string line;
  for (size_t i = 0; i < cells.size(); ++i) {
    line += cells[i];
    // The last column is not filled up: no blanks at the end of a line.
    if (i + 1 < cells.size()) line.append(x_widths[i] - WidthOf(cells[i]) + 2, ' ');
  }
  out << line << '\n';
}

void RowTable::End(std::ostream& out) {
  Flush(out);
  out << '(' << x_rows << (x_rows == 1 ? " row)" : " rows)") << '\n';
}

}  // namespace lastword::cli
