#include "model/schema_change.h"

#include <utility>

#include "base/format.h"

namespace lastword {
namespace {

struct Integer {
  bool is_signed = false;
  int bits = 0;
};

// bits 0: not an integer.
Integer IntegerOf(TypeKind kind) {
  switch (kind) {
    case TypeKind::kInt8:
      return {true, 8};
    case TypeKind::kInt16:
      return {true, 16};
    case TypeKind::kInt32:
      return {true, 32};
    case TypeKind::kInt64:
      return {true, 64};
    case TypeKind::kUint8:
      return {false, 8};
    case TypeKind::kUint16:
      return {false, 16};
    case TypeKind::kUint32:
      return {false, 32};
    case TypeKind::kUint64:
      return {false, 64};
    default:
      return {};
  }
}

Error Incompatible(const Type& from, const Type& to, std::string_view why) {
  return Error{ErrorKind::kSchemaIncompatible,
               Message("type {} cannot become {}: {}; keep the type, or load the table anew with "
                       "the other one",
                       ToString(from), ToString(to), why)};
}

bool IntegerFits(Integer from, Integer to) {
  if (from.is_signed == to.is_signed) return from.bits <= to.bits;
  return to.is_signed && from.bits < to.bits;
}

Status CanWidenDecimal(const Type& from, const Type& to) {
  if (to.scale < from.scale) return Incompatible(from, to, "digits behind the point would be lost");
  if (to.precision - to.scale < from.precision - from.scale) {
    return Incompatible(from, to, "digits in front of the point would be lost");
  }
  return Ok{};
}

Error WithColumn(Error error, const std::string& column) {
  error.place.column = column;
  return error;
}

}  // namespace

Status CanWiden(const Type& from, const Type& to) {
  if (from == to) return Ok{};
  const Integer narrow = IntegerOf(from.kind), wide = IntegerOf(to.kind);
  if (narrow.bits != 0 && wide.bits != 0) {
    if (IntegerFits(narrow, wide)) return Ok{};
    return Incompatible(from, to, "not every value fits");
  }
  if (from.kind == TypeKind::kFloat32 && to.kind == TypeKind::kFloat64) return Ok{};
  if (from.kind == TypeKind::kFloat64 && to.kind == TypeKind::kFloat32) {
    return Incompatible(from, to, "not every value fits");
  }
  if (from.kind == TypeKind::kDecimal && to.kind == TypeKind::kDecimal) {
    return CanWidenDecimal(from, to);
  }
  if (from.kind == TypeKind::kList && to.kind == TypeKind::kList) {
    return CanWiden(*from.element, *to.element);
  }
  return Incompatible(from, to, "it would change what the values mean");
}

Status CanEvolve(const Schema& from, const Schema& to) {
  if (to.columns.size() < from.columns.size()) {
    return WithColumn(Error{ErrorKind::kSchemaIncompatible,
                            "a column disappears; columns of a table are never removed"},
                      from.columns[to.columns.size()].name);
  }
  for (size_t i = 0; i < to.columns.size(); ++i) {
    const Column& column = to.columns[i];
    if (i >= from.columns.size()) {
      if (!column.nullable) {
        return WithColumn(Error{ErrorKind::kSchemaIncompatible,
                                "a column that is added must be nullable: the rows that exist hold "
                                "NULL there"},
                          column.name);
      }
      continue;
    }
    if (column.name != from.columns[i].name) {
      return WithColumn(
          Error{ErrorKind::kSchemaIncompatible,
                Message("column `{}` stands where `{}` was; columns keep their place and name",
                        column.name, from.columns[i].name)},
          column.name);
    }
    if (Status status = CanWiden(from.columns[i].type, column.type); !status.ok()) {
      return WithColumn(std::move(status.error()), column.name);
    }
  }
  if (from.key != to.key) {
    return Error{ErrorKind::kSchemaIncompatible,
                 "the primary key changes; load the table anew with the new key"};
  }
  return Ok{};
}

}  // namespace lastword
