// One JSON value into one typed column. Knows every type of docs/types.md and every form in which
// Debezium sends it: decimals as base64, text, number or {scale, value}; times in days, milli-,
// micro- or nanoseconds or as ISO text; specials of floats; placeholders of unchanged out-of-line
// values. Exact: integers and decimals never pass through a double, nothing is rounded or clamped.
// Knows no tables and no envelopes; messages never hold a value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "codec/decoder.h"
#include "codec/json_cursor.h"
#include "lastword/status.h"
#include "model/rows.h"

namespace lastword::codec {

/// The form that a schema wrapper announces for a column; kPlain where there is none, or where it
/// says nothing that the value does not.
enum class Form : uint8_t {
  kPlain,
  kMillis,        // io.debezium.time.Time and Timestamp, org.apache.kafka.connect.data.…
  kMicros,        // MicroTime, MicroTimestamp
  kNanos,         // NanoTime, NanoTimestamp
  kDecimalBytes,  // base64 of the unscaled number; `scale` digits behind the point
  kDecimalText,   // text or number, whatever decimal_encoding says
  kVariableScale  // {"scale": n, "value": base64}
};

/// How the values of one column look; of a list, how its elements do.
struct ValueForm {
  Form form = Form::kPlain;
  int32_t scale = 0;
  friend bool operator==(const ValueForm&, const ValueForm&) = default;
};

/// What is wrong with a value: the kind and a sentence without the value itself.
struct ValueError {
  ErrorKind kind = ErrorKind::kTypeMismatch;
  std::string what;
  /// For kOutOfRange of an integer: the number, so that a column can be widened to hold it.
  bool is_integer = false, is_negative = false;
  uint64_t magnitude = 0;
};

enum class ValueRead : uint8_t {
  kValue,        // appended
  kNull,         // NULL appended
  kUnavailable,  // the placeholder of an unchanged value: nothing appended
  kError,        // nothing usable appended (the caller truncates); `error` says why
};

/// The text that stands for an unchanged out-of-line value.
inline constexpr std::string_view kUnavailableText = "__debezium_unavailable_value";
inline constexpr std::string_view kUnavailableBase64 = "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==";
inline constexpr std::string_view kUnavailableHex =
    "5f5f646562657a69756d5f756e617661696c61626c655f76616c7565";
/// True for the placeholder itself, its base64 and its hex digits.
inline bool IsUnavailableText(std::string_view text) {
  return text == kUnavailableText || text == kUnavailableBase64 || text == kUnavailableHex;
}
/// True for every form of the placeholder: text, a list of one such text, a list of its byte
/// values, an object of one such member. Reads unchecked; for anything else false.
bool IsUnavailable(const JsonDoc& doc, uint32_t token);

/// Decodes values. Holds scratch buffers, nothing else: not thread-safe, reusable for any column.
class ValueDecoder {
 public:
  /// Reads the value at `token` into `column`, and moves `token` behind it. `encoding` decides how
  /// a decimal in a text reads when the form does not.
  ValueRead Decode(const JsonDoc& doc, uint32_t& token, ValueForm form,
                   TableSpec::DecimalEncoding encoding, ColumnData& column, JsonFault& fault,
                   ValueError& error) {
    if (form.form == Form::kPlain && DecodeUsual(doc, token, column)) {
      ++token;
      return ValueRead::kValue;
    }
    return DecodeAny(doc, token, form, encoding, column, fault, error);
  }

 private:
  /// What most values are: a short whole number for int64, a text without escapes for string. False
  /// where it is anything else, right or wrong; then nothing was appended.
  bool DecodeUsual(const JsonDoc& doc, uint32_t token, ColumnData& column) {
    if (column.type().kind == TypeKind::kInt64) {
      int64_t value = 0;
      if (!ReadShortInteger(doc, token, value)) return false;
      column.AppendFixed(value);
      return true;
    }
    std::string_view text;
    if (column.type().kind != TypeKind::kString || !ReadPlainText(doc, token, text)) return false;
    if (IsUnavailableText(text)) return false;
    column.AppendBytes(text);
    return true;
  }
  ValueRead DecodeAny(const JsonDoc& doc, uint32_t& token, ValueForm form,
                      TableSpec::DecimalEncoding encoding, ColumnData& column, JsonFault& fault,
                      ValueError& error);
  struct Source;  // one value on its way
  ValueRead Element(Source& from, ColumnData& column, bool nested);
  ValueRead Integer(Source& from, ColumnData& column);
  ValueRead Float(Source& from, ColumnData& column);
  ValueRead DecimalValue(Source& from, ColumnData& column);
  ValueRead VariableScale(Source& from, ColumnData& column);
  ValueRead DecimalFromBase64(Source& from, std::string_view text, int32_t scale,
                              ColumnData& column);
  ValueRead Text(Source& from, ColumnData& column);
  ValueRead Temporal(Source& from, ColumnData& column);
  static ValueRead OutOfTime(Source& from, const ColumnData& column);
  ValueRead JsonText(Source& from, ColumnData& column);
  ValueRead ListValue(Source& from, ColumnData& column);
  ValueRead Vector(Source& from, ColumnData& column);
  /// Reads the text at the source's token and moves behind it.
  bool TextOf(Source& from, std::string_view& text);

  std::string x_scratch;
  std::vector<float> x_floats;
};

}  // namespace lastword::codec
