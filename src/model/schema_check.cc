#include "model/schema_check.h"

#include <algorithm>
#include <unordered_set>

#include "base/format.h"

namespace lastword {
namespace {

// Lance fills or computes these itself; a stored column of that name would be hidden or refused.
constexpr std::string_view kLanceSystemColumns[] = {
    "_rowid",
    "_rowaddr",
    "_rowoffset",
    "_row_created_at_version",
    "_row_last_updated_at_version",
    "_distance",
    "_score",
};

constexpr std::string_view kOurPrefix = "_lw_";

Error Reserved(std::string_view name, std::string_view why) {
  Error error{ErrorKind::kReservedColumn,
              Message("column name `{}` {}; give the column another name and map it with `from: "
                      "{}`",
                      name, why, name)};
  error.place.column = name;
  return error;
}

}  // namespace

Status CheckColumnName(std::string_view name) {
  if (name.empty()) {
    return Error{ErrorKind::kReservedColumn,
                 "a column has an empty name; give it a name and map it with `from:`"};
  }
  if (name.starts_with(kOurPrefix)) {
    return Reserved(name, "is reserved: names that start with `_lw_` hold a row's version");
  }
  if (std::find(std::begin(kLanceSystemColumns), std::end(kLanceSystemColumns), name) !=
      std::end(kLanceSystemColumns)) {
    return Reserved(name, "is reserved: it is a system column of Lance");
  }
  if (name.find('.') != std::string_view::npos) {
    return Reserved(name, "holds a dot, which Lance refuses in a top-level column");
  }
  // Lance takes these, and then no reader can name the column any more.
  if (name.find('`') != std::string_view::npos) {
    return Reserved(name, "holds a backtick, which Lance reads as a quotation mark");
  }
  if (name == "*") return Reserved(name, "means all columns to Lance");
  if (name.find('\0') != std::string_view::npos) {
    return Reserved(name, "holds a NUL character, where names end in Arrow");
  }
  return Ok{};
}

Status CheckColumnNames(const Schema& schema) {
  std::unordered_set<std::string_view> seen;
  for (const Column& column : schema.columns) {
    LW_RETURN_IF_ERROR(CheckColumnName(column.name));
    if (!seen.insert(column.name).second) {
      Error error{ErrorKind::kUsage,
                  Message("column `{}` is declared twice; remove one", column.name)};
      error.place.column = column.name;
      return error;
    }
  }
  return Ok{};
}

}  // namespace lastword
