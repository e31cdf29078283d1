// The columns that every visible row carries beside its own: its version and its digest.
#pragma once

#include <array>
#include <string_view>

#include "lastword/schema.h"

namespace lastword {

inline constexpr std::array<const char*, 5> kVersionColumns = {"_lw_epoch", "_lw_hi", "_lw_mid",
                                                               "_lw_lo", "_lw_digest"};

/// uint32 for the epoch, uint64 for the others.
inline Type VersionColumnType(std::string_view column) {
  Type type;
  type.kind = column == kVersionColumns[0] ? TypeKind::kUint32 : TypeKind::kUint64;
  return type;
}

/// `schema` as it is stored: its columns, then the version columns; key columns and version columns
/// not nullable.
Schema StoredSchema(const Schema& schema);
/// The other way: without the version columns. Fails with kUnsupportedFormat where one is missing
/// or of another type.
Result<Schema> UserSchema(const Schema& stored);

}  // namespace lastword
