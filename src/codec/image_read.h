// A row image (a JSON object) into the typed columns of one table. Decides what an absent, an
// unknown, a repeated and an unchanged column means; asks for a schema change where the table's
// settings allow one. Never routes, never orders, knows no envelope.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/decoder.h"
#include "codec/record.h"
#include "codec/table_plan.h"
#include "codec/value_decode.h"

namespace lastword::codec {

/// Why a record cannot be decoded: an error, or a schema change that must come first.
struct Stop {
  std::optional<Error> error;
  std::optional<Schema> schema;  // whole new schema of the table

  /// Both return false, so that callers can return them.
  bool Fail(ErrorKind kind, std::string message, std::string column = {});
  bool Request(Schema new_schema);
};

/// A column that the table does not have yet.
struct NewColumn {
  std::string name;
  Type type;
};

/// A member of an image whose names are known already: its column and its value.
struct KnownMember {
  uint32_t column = kNone;
  uint32_t token = 0;
};

/// A row image: a value in a document, or members of an object whose names are known and whose
/// other members were checked.
struct Image {
  JsonRef value;
  const std::vector<KnownMember>* members = nullptr;  // with them, `value` only names the document

  Image() = default;
  Image(JsonRef unread) : value(unread) {}
  Image(const JsonDoc& doc, const std::vector<KnownMember>& known)
      : value{&doc, 0}, members(&known) {}

  JsonKind kind() const { return members != nullptr ? JsonKind::kObject : value.kind(); }
};

class ImageReader {
 public:
  /// Appends one row to `rows` from `image`, which is an object. Metadata columns are left to the
  /// caller. False: `stop` says why, and `rows` must be truncated. `forms` has one entry a column;
  /// `fields` are the wrapper's columns, if there is one.
  bool Read(TablePlan& plan, const Image& image, const std::vector<ValueForm>& forms,
            const std::vector<ConnectField>* fields, Rows& rows, Stop& stop);

  /// Columns that the last Read found unchanged (NULL in the row) or filled with their default;
  /// ascending.
  const std::vector<uint32_t>& unavailable() const { return x_unavailable; }
  const std::vector<uint32_t>& absent() const { return x_absent; }

  enum class Part : uint8_t { kAbsent, kNull, kValue, kUnavailable };

  /// Reads only the columns for which `wanted(column)` is true into `rows`, whose wanted columns
  /// then have one value more where parts() says kValue or kNull, and nothing for the others.
  /// Everything else in the object is checked and skipped.
  template <typename Wanted>
  bool ReadSome(TablePlan& plan, const Image& image, const std::vector<ValueForm>& forms,
                const Wanted& wanted, Rows& rows, Stop& stop) {
    x_parts.assign(plan.schema.columns.size(), Part::kAbsent);
    ++plan.stamp;
    JsonFault fault;
    const JsonDoc& doc = *image.value.doc;
    if (image.members != nullptr) {
      for (const KnownMember& member : *image.members) {
        uint32_t at = member.token;
        if (wanted(member.column) &&
            !ReadPart(plan, doc, at, forms, member.column, rows, fault, stop)) {
          return false;
        }
      }
      return true;
    }
    Members members(doc, image.value.token, fault);
    size_t position = 0;
    uint32_t column = kNone;
    while (plan.NextColumn(position++, members, column)) {
      uint32_t at = members.value();
      if (column == kNone || !wanted(column)) {
        if (!SkipChecked(doc, at, fault, 1)) break;
      } else if (!ReadPart(plan, doc, at, forms, column, rows, fault, stop)) {
        return false;
      }
      members.Done(at);
    }
    return members.ok() || stop.Fail(ErrorKind::kBadJson, fault.why);
  }
  const std::vector<Part>& parts() const { return x_parts; }

 private:
  bool ReadColumn(TablePlan& plan, const JsonDoc& doc, uint32_t& token,
                  const std::vector<ValueForm>& forms, uint32_t column, Rows& rows,
                  JsonFault& fault, Stop& stop);
  bool Unknown(TablePlan& plan, const JsonDoc& doc, uint32_t& token, std::string_view name,
               const std::vector<ConnectField>* fields, JsonFault& fault, Stop& stop);
  bool Missing(TablePlan& plan, Rows& rows, Stop& stop);
  bool Repeated(const TablePlan& plan, uint32_t column, Stop& stop);
  bool ValueFailed(const TablePlan& plan, uint32_t column, Stop& stop);
  bool RequestColumns(const TablePlan& plan, Stop& stop);
  bool ReadPart(TablePlan& plan, const JsonDoc& doc, uint32_t& token,
                const std::vector<ValueForm>& forms, uint32_t column, Rows& rows, JsonFault& fault,
                Stop& stop);

  ValueDecoder x_values;
  ValueError x_error;
  std::vector<uint32_t> x_unavailable, x_absent;
  std::vector<NewColumn> x_new;
  std::vector<Part> x_parts;
};

}  // namespace lastword::codec
