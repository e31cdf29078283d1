#include "codec/value_decode.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/base64.h"
#include "base/format.h"
#include "model/civil_time.h"
#include "model/decimal.h"
#include "model/uuid.h"

namespace lastword::codec {

using DecimalEncoding = TableSpec::DecimalEncoding;

struct ValueDecoder::Source {
  const JsonDoc& doc;
  uint32_t& token;
  const ValueForm form;
  const DecimalEncoding encoding;
  JsonFault& fault;
  ValueError& error;
  JsonKind kind = JsonKind::kInvalid;

  ValueRead Fail(ErrorKind error_kind, std::string what) {
    error = ValueError{error_kind, std::move(what)};
    return ValueRead::kError;
  }
  ValueRead Mismatch(const Type& type) {
    return Fail(ErrorKind::kTypeMismatch,
                Message("{} where {} is expected", NameOf(kind), ToString(type)));
  }
};

namespace {

enum class Parsed { kOk, kTooLarge, kNotWhole, kNoNumber };

/// Reads a whole JSON number as sign and magnitude.
Parsed ParseInteger(std::string_view raw, bool& negative, uint64_t& magnitude) {
  negative = raw.starts_with('-');
  const std::string_view digits = raw.substr(negative);
  const auto [end, status] =
      std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  if (status == std::errc::invalid_argument ||
      (digits.size() > 1 && digits[0] == '0' && end != digits.data() + 1)) {
    return Parsed::kNoNumber;
  }
  if (end != digits.data() + digits.size()) {
    return IsNumber(raw) ? Parsed::kNotWhole : Parsed::kNoNumber;
  }
  if (status == std::errc::result_out_of_range) return Parsed::kTooLarge;
  return Parsed::kOk;
}

/// Sign and magnitude as a signed number; false where it has none.
bool ToSigned(bool negative, uint64_t magnitude, int64_t& value) {
  constexpr uint64_t kLimit = uint64_t{1} << 63;
  if (negative ? magnitude > kLimit : magnitude >= kLimit) return false;
  value = negative ? static_cast<int64_t>(~magnitude + 1) : static_cast<int64_t>(magnitude);
  return true;
}

template <typename T>
bool AppendSigned(bool negative, uint64_t magnitude, ColumnData& column) {
  int64_t value = 0;
  if (!ToSigned(negative, magnitude, value)) return false;
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) return false;
  column.AppendFixed(static_cast<T>(value));
  return true;
}

template <typename T>
bool AppendUnsigned(bool negative, uint64_t magnitude, ColumnData& column) {
  if ((negative && magnitude != 0) || magnitude > std::numeric_limits<T>::max()) return false;
  column.AppendFixed(static_cast<T>(magnitude));
  return true;
}

bool AppendInteger(TypeKind kind, bool negative, uint64_t magnitude, ColumnData& column) {
  switch (kind) {
    case TypeKind::kInt8:
      return AppendSigned<int8_t>(negative, magnitude, column);
    case TypeKind::kInt16:
      return AppendSigned<int16_t>(negative, magnitude, column);
    case TypeKind::kInt32:
      return AppendSigned<int32_t>(negative, magnitude, column);
    case TypeKind::kInt64:
      return AppendSigned<int64_t>(negative, magnitude, column);
    case TypeKind::kUint8:
      return AppendUnsigned<uint8_t>(negative, magnitude, column);
    case TypeKind::kUint16:
      return AppendUnsigned<uint16_t>(negative, magnitude, column);
    case TypeKind::kUint32:
      return AppendUnsigned<uint32_t>(negative, magnitude, column);
    default:
      return AppendUnsigned<uint64_t>(negative, magnitude, column);
  }
}

/// "NaN", "Infinity", "-Infinity" and the spellings of Debezium's string mode.
template <typename T>
bool SpecialFloat(std::string_view text, T& value) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  if (text == "NaN" || text == "NAN") {
    value = std::numeric_limits<T>::quiet_NaN();
  } else if (text == "Infinity" || text == "+Infinity" || text == "POSITIVE_INFINITY") {
    value = kInfinity;
  } else if (text == "-Infinity" || text == "NEGATIVE_INFINITY") {
    value = -kInfinity;
  } else {
    return false;
  }
  return true;
}

/// Reads a JSON number that was checked by IsNumber; false where it is too large. What is too small
/// for the type is zero.
template <typename T>
bool ParseFloat(std::string_view raw, T& value) {
  const auto [end, status] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
  if (status == std::errc()) return true;
  // One answer for too large and too small: a number below 1 in every form is too small.
  const size_t exponent = raw.find_first_of("eE");
  const bool small = exponent != std::string_view::npos
                         ? raw.substr(exponent + 1).starts_with('-')
                         : raw.find_first_not_of("-0.") > raw.find('.');
  if (!small) return false;
  value = raw.starts_with('-') ? T{-0.0} : T{0.0};
  return true;
}

}  // namespace

bool IsUnavailable(const JsonDoc& doc, uint32_t token) {
  std::string scratch;
  std::string_view text;
  JsonFault fault;
  switch (KindOf(doc, token)) {
    case JsonKind::kString:
      return ReadString(doc, token, scratch, text, fault) && IsUnavailableText(text);
    case JsonKind::kList: {
      if (KindOf(doc, token + 1) == JsonKind::kString) {
        return doc.At(token + 2) == ']' && ReadString(doc, token + 1, scratch, text, fault) &&
               IsUnavailableText(text);
      }
      // [ n , n , … ]: two tokens a byte and the opening bracket.
      const uint32_t close = token + 2 * static_cast<uint32_t>(kUnavailableText.size());
      if (doc.At(close) != ']') return false;
      for (size_t i = 0; i < kUnavailableText.size(); ++i) {
        const uint32_t at = token + 1 + 2 * static_cast<uint32_t>(i);
        if (KindOf(doc, at) != JsonKind::kNumber) return false;
        float value = 0;
        if (!ParseFloat(doc.Scalar(at), value) ||
            value != static_cast<float>(kUnavailableText[i])) {
          return false;
        }
      }
      return true;
    }
    case JsonKind::kObject: {
      // {"name":"value"}: five tokens.
      if (doc.At(token + 4) != '}' || KindOf(doc, token + 1) != JsonKind::kString ||
          KindOf(doc, token + 3) != JsonKind::kString) {
        return false;
      }
      return ReadString(doc, token + 1, scratch, text, fault) && IsUnavailableText(text) &&
             ReadString(doc, token + 3, scratch, text, fault) && IsUnavailableText(text);
    }
    default:
      return false;
  }
}

ValueRead ValueDecoder::DecodeAny(const JsonDoc& doc, uint32_t& token, ValueForm form,
                                  DecimalEncoding encoding, ColumnData& column, JsonFault& fault,
                                  ValueError& error) {
  Source from{doc, token, form, encoding, fault, error};
  const ValueRead read = Element(from, column, false);
  if (read == ValueRead::kError && fault.why != nullptr) {
    error = ValueError{ErrorKind::kBadJson, fault.why};
  }
  return read;
}

bool ValueDecoder::TextOf(Source& from, std::string_view& text) {
  if (!ReadString(from.doc, from.token, x_scratch, text, from.fault)) return false;
  ++from.token;
  return true;
}

ValueRead ValueDecoder::Element(Source& from, ColumnData& column, bool nested) {
  from.kind = KindOf(from.doc, from.token);
  if (from.kind == JsonKind::kNull || from.kind == JsonKind::kInvalid) {
    std::string_view raw;
    if (!ReadPlain(from.doc, from.token, raw, from.fault)) return ValueRead::kError;
    ++from.token;
    column.AppendNull();
    return ValueRead::kNull;
  }
  const TypeKind type = column.type().kind;
  if (!nested && (from.kind == JsonKind::kList || from.kind == JsonKind::kObject) &&
      IsUnavailable(from.doc, from.token)) {
    return SkipChecked(from.doc, from.token, from.fault) ? ValueRead::kUnavailable
                                                         : ValueRead::kError;
  }
  if (!nested && from.kind == JsonKind::kString && type != TypeKind::kString &&
      from.doc.Scalar(from.token).size() >= kUnavailableText.size() &&
      IsUnavailable(from.doc, from.token)) {
    ++from.token;
    return ValueRead::kUnavailable;
  }
  switch (type) {
    case TypeKind::kBool: {
      if (from.kind != JsonKind::kBool) return from.Mismatch(column.type());
      std::string_view raw;
      if (!ReadPlain(from.doc, from.token, raw, from.fault)) return ValueRead::kError;
      ++from.token;
      column.AppendFixed(static_cast<uint8_t>(raw == "true"));
      return ValueRead::kValue;
    }
    case TypeKind::kInt8:
    case TypeKind::kInt16:
    case TypeKind::kInt32:
    case TypeKind::kInt64:
    case TypeKind::kUint8:
    case TypeKind::kUint16:
    case TypeKind::kUint32:
    case TypeKind::kUint64:
      return Integer(from, column);
    case TypeKind::kFloat32:
    case TypeKind::kFloat64:
      return Float(from, column);
    case TypeKind::kDecimal:
      return DecimalValue(from, column);
    case TypeKind::kString:
    case TypeKind::kBytes:
    case TypeKind::kUuid: {
      const ValueRead read = Text(from, column);
      return read == ValueRead::kUnavailable && nested ? from.Mismatch(column.type()) : read;
    }
    case TypeKind::kDate:
    case TypeKind::kTimeUs:
    case TypeKind::kTimestampUs:
    case TypeKind::kTimestamptzUs:
      return Temporal(from, column);
    case TypeKind::kJson:
      return JsonText(from, column);
    case TypeKind::kList:
      return ListValue(from, column);
    case TypeKind::kVector:
      return Vector(from, column);
  }
  return from.Mismatch(column.type());
}

ValueRead ValueDecoder::Integer(Source& from, ColumnData& column) {
  if (from.kind != JsonKind::kNumber) return from.Mismatch(column.type());
  const std::string_view raw = from.doc.Scalar(from.token);
  bool negative = false;
  uint64_t magnitude = 0;
  switch (ParseInteger(raw, negative, magnitude)) {
    case Parsed::kNoNumber:
      from.fault.Set("a number that JSON does not have");
      return ValueRead::kError;
    case Parsed::kNotWhole:
      return from.Fail(ErrorKind::kTypeMismatch,
                       Message("a number with a fraction or an exponent where {} is expected",
                               ToString(column.type())));
    case Parsed::kTooLarge:
      return from.Fail(
          ErrorKind::kOutOfRange,
          Message("an integer beyond 64 bits where {} is expected", ToString(column.type())));
    case Parsed::kOk:
      break;
  }
  if (!AppendInteger(column.type().kind, negative, magnitude, column)) {
    from.Fail(ErrorKind::kOutOfRange,
              Message("an integer beyond the range of {}", ToString(column.type())));
    from.error.is_integer = true;
    from.error.is_negative = negative;
    from.error.magnitude = magnitude;
    return ValueRead::kError;
  }
  ++from.token;
  return ValueRead::kValue;
}

ValueRead ValueDecoder::Float(Source& from, ColumnData& column) {
  const bool wide = column.type().kind == TypeKind::kFloat64;
  double value64 = 0;
  float value32 = 0;
  if (from.kind == JsonKind::kString) {
    std::string_view text;
    if (!TextOf(from, text)) return ValueRead::kError;
    if (!SpecialFloat(text, value64)) return from.Mismatch(column.type());
    SpecialFloat(text, value32);
  } else if (from.kind == JsonKind::kNumber) {
    std::string_view raw;
    if (!ReadPlain(from.doc, from.token, raw, from.fault)) return ValueRead::kError;
    if (!(wide ? ParseFloat(raw, value64) : ParseFloat(raw, value32))) {
      return from.Fail(ErrorKind::kOutOfRange,
                       Message("a number beyond the range of {}", ToString(column.type())));
    }
    ++from.token;
  } else {
    return from.Mismatch(column.type());
  }
  if (wide) {
    column.AppendFixed(value64);
  } else {
    column.AppendFixed(value32);
  }
  return ValueRead::kValue;
}

ValueRead ValueDecoder::DecimalFromBase64(Source& from, std::string_view text, int32_t scale,
                                          ColumnData& column) {
  const Result<std::string> bytes = DecodeBase64(text);
  if (!bytes.ok() || bytes->empty()) {
    return from.Fail(ErrorKind::kTypeMismatch,
                     "a text that is not the base64 of a decimal's bytes; set decimal_encoding: "
                     "string or number if the source sends digits");
  }
  std::array<char, kDecimalBytesMax> stored{};
  if (column.type().kind == TypeKind::kString) {
    // Text keeps every digit: the number is printed with the scale that came with it.
    const Type widest{TypeKind::kDecimal, 76, std::max(scale, 0)};
    if (scale > 76)
      return from.Fail(ErrorKind::kDecimalOverflow, "a decimal of more than 76 digits");
    if (const Status status = DecimalFromBigEndian(*bytes, scale, widest, stored.data());
        !status.ok()) {
      return from.Fail(status.error().kind, "a decimal of more than 76 digits");
    }
    column.AppendBytes(
        DecimalToText(std::string_view(stored.data(), FixedWidth(widest)), widest.scale));
    return ValueRead::kValue;
  }
  if (const Status status = DecimalFromBigEndian(*bytes, scale, column.type(), stored.data());
      !status.ok()) {
    return from.Fail(status.error().kind,
                     Message("a decimal that does not fit {}", ToString(column.type())));
  }
  column.AppendFixedBytes(stored.data());
  return ValueRead::kValue;
}

ValueRead ValueDecoder::VariableScale(Source& from, ColumnData& column) {
  int64_t scale = 0;
  std::string text;
  bool has_scale = false, has_value = false;
  Members members(from.doc, from.token, from.fault);
  while (members.Next()) {
    uint32_t at = members.value();
    if (members.name() == "scale" && KindOf(from.doc, at) == JsonKind::kNumber) {
      bool negative = false;
      uint64_t magnitude = 0;
      has_scale = ParseInteger(from.doc.Scalar(at), negative, magnitude) == Parsed::kOk &&
                  ToSigned(negative, magnitude, scale) && scale >= -10'000 && scale <= 10'000;
    } else if (members.name() == "value" && KindOf(from.doc, at) == JsonKind::kString) {
      std::string_view value;
      if (!ReadString(from.doc, at, x_scratch, value, from.fault)) return ValueRead::kError;
      text = value;
      has_value = true;
    }
    if (!SkipChecked(from.doc, at, from.fault)) return ValueRead::kError;
    members.Done(at);
  }
  if (!members.ok()) return ValueRead::kError;
  if (!has_scale || !has_value) return from.Mismatch(column.type());
  from.token = members.end();
  return DecimalFromBase64(from, text, static_cast<int32_t>(scale), column);
}

ValueRead ValueDecoder::DecimalValue(Source& from, ColumnData& column) {
  std::string_view text;
  if (from.kind == JsonKind::kObject) return VariableScale(from, column);
  if (from.kind == JsonKind::kString) {
    if (!TextOf(from, text)) return ValueRead::kError;
    const bool base64 =
        from.form.form == Form::kDecimalBytes ||
        (from.form.form == Form::kPlain && from.encoding == DecimalEncoding::kBase64);
    if (base64) {
      const int32_t scale =
          from.form.form == Form::kDecimalBytes ? from.form.scale : column.type().scale;
      return DecimalFromBase64(from, text, scale, column);
    }
    double special = 0;
    if (SpecialFloat(text, special)) {
      return from.Fail(
          ErrorKind::kNotFiniteDecimal,
          Message("NaN or an infinity, which {} cannot hold; declare float64 or string",
                  ToString(column.type())));
    }
  } else if (from.kind == JsonKind::kNumber) {
    if (!ReadPlain(from.doc, from.token, text, from.fault)) return ValueRead::kError;
    ++from.token;
  } else {
    return from.Mismatch(column.type());
  }
  std::array<char, kDecimalBytesMax> stored{};
  if (const Status status = DecimalFromText(text, column.type(), stored.data()); !status.ok()) {
    return from.Fail(
        status.error().kind,
        status.error().kind == ErrorKind::kTypeMismatch
            ? Message("a text that is no number where {} is expected", ToString(column.type()))
            : Message("a decimal that does not fit {}", ToString(column.type())));
  }
  column.AppendFixedBytes(stored.data());
  return ValueRead::kValue;
}

ValueRead ValueDecoder::Text(Source& from, ColumnData& column) {
  if (from.kind == JsonKind::kObject && from.form.form == Form::kVariableScale) {
    return VariableScale(from, column);
  }
  if (from.kind != JsonKind::kString) return from.Mismatch(column.type());
  std::string_view text;
  if (!TextOf(from, text)) return ValueRead::kError;
  if (IsUnavailableText(text)) return ValueRead::kUnavailable;
  switch (column.type().kind) {
    case TypeKind::kBytes: {
      const Result<std::string> bytes = DecodeBase64(text);
      if (!bytes.ok()) {
        return from.Fail(ErrorKind::kTypeMismatch,
                         "a text that is no base64 where bytes are expected");
      }
      column.AppendBytes(*bytes);
      return ValueRead::kValue;
    }
    case TypeKind::kUuid: {
      const Result<Uuid> uuid = ParseUuid(text);
      if (!uuid.ok()) return from.Fail(ErrorKind::kTypeMismatch, "a text that is no uuid");
      column.AppendFixedBytes(uuid->data());
      return ValueRead::kValue;
    }
    default:
      if (from.form.form == Form::kDecimalBytes) {
        return DecimalFromBase64(from, text, from.form.scale, column);
      }
      column.AppendBytes(text);
      return ValueRead::kValue;
  }
}

ValueRead ValueDecoder::Temporal(Source& from, ColumnData& column) {
  const TypeKind type = column.type().kind;
  int64_t value = 0;
  if (from.kind == JsonKind::kString) {
    std::string_view text;
    if (!TextOf(from, text)) return ValueRead::kError;
    const auto take = [&](const auto& parsed) {
      if (parsed.ok()) value = *parsed;
      return parsed.ok() ? ErrorKind::kInternal : parsed.error().kind;
    };
    const ErrorKind wrong = type == TypeKind::kDate          ? take(ParseDate(text))
                            : type == TypeKind::kTimeUs      ? take(ParseTime(text))
                            : type == TypeKind::kTimestampUs ? take(ParseTimestamp(text))
                                                             : take(ParseTimestamptz(text));
    if (wrong != ErrorKind::kInternal) {
      const char* const what = wrong == ErrorKind::kOutOfRange
                                   ? "a text beyond the range, or an infinity,"
                                   : "a text in another form";
      return from.Fail(wrong, Message("{} where {} is expected", what, ToString(column.type())));
    }
  } else if (from.kind == JsonKind::kNumber) {
    bool negative = false;
    uint64_t magnitude = 0;
    const Parsed parsed = ParseInteger(from.doc.Scalar(from.token), negative, magnitude);
    if (parsed == Parsed::kNoNumber) {
      from.fault.Set("a number that JSON does not have");
      return ValueRead::kError;
    }
    if (parsed == Parsed::kNotWhole) {
      return from.Fail(ErrorKind::kTypeMismatch,
                       Message("a number with a fraction or an exponent where {} is expected",
                               ToString(column.type())));
    }
    const bool fits = parsed == Parsed::kOk && ToSigned(negative, magnitude, value) &&
                      (from.form.form != Form::kMillis || type == TypeKind::kDate ||
                       !__builtin_mul_overflow(value, int64_t{1000}, &value));
    if (!fits) return OutOfTime(from, column);
    if (from.form.form == Form::kNanos && type != TypeKind::kDate) {
      if (value % 1000 != 0) {
        return from.Fail(ErrorKind::kOutOfRange,
                         Message("a time finer than the microseconds of {}; declare int64",
                                 ToString(column.type())));
      }
      value /= 1000;
    }
    ++from.token;
  } else {
    return from.Mismatch(column.type());
  }
  if (type == TypeKind::kDate) {
    if (value < INT32_MIN || value > INT32_MAX) return OutOfTime(from, column);
    column.AppendFixed(static_cast<int32_t>(value));
    return ValueRead::kValue;
  }
  if (type == TypeKind::kTimeUs && (value < 0 || value > kMicrosPerDay)) {
    return OutOfTime(from, column);
  }
  column.AppendFixed(value);
  return ValueRead::kValue;
}

ValueRead ValueDecoder::OutOfTime(Source& from, const ColumnData& column) {
  return from.Fail(ErrorKind::kOutOfRange,
                   Message("a number beyond the range of {}", ToString(column.type())));
}

ValueRead ValueDecoder::JsonText(Source& from, ColumnData& column) {
  if (from.kind == JsonKind::kString) {
    std::string_view text;
    if (!TextOf(from, text)) return ValueRead::kError;
    column.AppendBytes(text);
    return ValueRead::kValue;
  }
  const uint32_t begin = from.token;
  if (!SkipChecked(from.doc, from.token, from.fault)) return ValueRead::kError;
  column.AppendBytes(RawText(from.doc, begin, from.token));
  return ValueRead::kValue;
}

ValueRead ValueDecoder::ListValue(Source& from, ColumnData& column) {
  if (from.kind != JsonKind::kList) return from.Mismatch(column.type());
  uint64_t count = 0;
  Elements elements(from.doc, from.token, from.fault);
  while (elements.Next()) {
    uint32_t at = elements.value();
    Source element{from.doc, at, from.form, from.encoding, from.fault, from.error};
    const ValueRead read = Element(element, column.child(), true);
    if (read == ValueRead::kError) return read;
    ++count;
    elements.Done(at);
  }
  if (!elements.ok()) return ValueRead::kError;
  from.token = elements.end();
  column.AppendList(count);
  return ValueRead::kValue;
}

ValueRead ValueDecoder::Vector(Source& from, ColumnData& column) {
  if (from.kind != JsonKind::kList) return from.Mismatch(column.type());
  x_floats.clear();
  Elements elements(from.doc, from.token, from.fault);
  while (elements.Next()) {
    uint32_t at = elements.value();
    std::string_view raw;
    float value = 0;
    if (KindOf(from.doc, at) == JsonKind::kString) {
      if (!ReadString(from.doc, at, x_scratch, raw, from.fault)) return ValueRead::kError;
      if (!SpecialFloat(raw, value)) {
        return from.Fail(ErrorKind::kTypeMismatch, "a text in a vector");
      }
    } else if (KindOf(from.doc, at) == JsonKind::kNumber) {
      if (!ReadPlain(from.doc, at, raw, from.fault)) return ValueRead::kError;
      if (!ParseFloat(raw, value)) {
        return from.Fail(ErrorKind::kOutOfRange, "a number beyond float32 in a vector");
      }
    } else {
      const JsonKind kind = KindOf(from.doc, at);
      if (!SkipChecked(from.doc, at, from.fault)) return ValueRead::kError;
      return from.Fail(ErrorKind::kTypeMismatch, Message("{} in a vector", NameOf(kind)));
    }
    x_floats.push_back(value);
    elements.Done(at + 1);
  }
  if (!elements.ok()) return ValueRead::kError;
  if (x_floats.size() != static_cast<size_t>(column.type().dimension)) {
    return from.Fail(ErrorKind::kTypeMismatch, Message("a list of {} numbers where {} is expected",
                                                       x_floats.size(), ToString(column.type())));
  }
  from.token = elements.end();
  column.AppendFixedBytes(x_floats.data());
  return ValueRead::kValue;
}

}  // namespace lastword::codec
