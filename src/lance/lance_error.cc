#include "lance/lance_error.h"

#include "base/format.h"

namespace lastword::lance {
namespace {

ErrorKind KindOf(int32_t error_class, ErrorKind not_found, ErrorKind invalid) {
  switch (error_class) {
    case LASTWORD_LANCE_CONFLICT:
    case LASTWORD_LANCE_ALREADY_EXISTS:
      return ErrorKind::kCommitConflict;
    case LASTWORD_LANCE_OUTCOME_UNKNOWN:
      return ErrorKind::kCommitStateUnknown;
    case LASTWORD_LANCE_IO:
      return ErrorKind::kStorageUnavailable;
    case LASTWORD_LANCE_DISK_FULL:
      return ErrorKind::kStorageFull;
    case LASTWORD_LANCE_NOT_FOUND:
      return not_found;
    case LASTWORD_LANCE_CORRUPT:
      return ErrorKind::kStorageCorrupt;
    case LASTWORD_LANCE_UNSUPPORTED:
      return ErrorKind::kUnsupportedFormat;
    case LASTWORD_LANCE_INVALID:
      return invalid;
    default:
      return ErrorKind::kInternal;
  }
}

}  // namespace

Status Check(lastword_lance_error* error, std::string_view what, ErrorKind not_found,
             ErrorKind invalid) {
  if (error == nullptr) return Ok{};
  const lastword_lance_text text = lastword_lance_error_get_message(error);
  Error result{KindOf(lastword_lance_error_get_class(error), not_found, invalid),
               Message("{}: {}", what, std::string_view(text.data, text.size))};
  if (result.kind == ErrorKind::kStorageCorrupt) {
    result.message +=
        "; a file of the dataset is damaged or gone: put it back from a backup, or restore an "
        "older "
        "version of the table";
  }
  lastword_lance_error_free(error);
  return result;
}

}  // namespace lastword::lance
