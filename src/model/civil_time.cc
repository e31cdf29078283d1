#include "model/civil_time.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/format.h"

namespace lastword {
namespace {

constexpr int64_t kDaysPerEra = 146'097;       // 400 years
constexpr int64_t kDaysFromEraZero = 719'468;  // 0000-03-01 to 1970-01-01
// Years beyond any stored value: keeps all arithmetic inside int64.
constexpr int64_t kYearMax = 10'000'000;

Error NoTime(std::string_view what) {
  return Error{ErrorKind::kTypeMismatch, Message("text is no {}", what)};
}

Error BeyondRange(std::string_view what) {
  return Error{
      ErrorKind::kOutOfRange,
      Message("{} lies outside the range of its type; map the column to string, or correct "
              "the value at its source",
              what)};
}

Error FinerThanMicros(std::string_view what) {
  return Error{ErrorKind::kOutOfRange,
               Message("{} has nanoseconds, its column holds microseconds; map the column to "
                       "string, or round the value at its source",
                       what)};
}

bool IsLeap(int64_t year) {
  return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int DaysInMonth(int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeap(year) ? 29 : kDays[month - 1];
}

// Reads the text from the front; every Take leaves the text alone where it answers no.
class TextReader {
 public:
  explicit TextReader(std::string_view text) : x_text(text) {}

  bool at_end() const { return x_text.empty(); }
  // A fraction that was read had digits other than 0 behind the sixth.
  bool finer_than_micros = false;

  bool At(std::string_view word) const { return x_text.starts_with(word); }
  char next() const { return x_text.empty() ? '\0' : x_text.front(); }
  bool Take(char c) {
    if (next() != c) return false;
    x_text.remove_prefix(1);
    return true;
  }
  bool Take(std::string_view word) {
    if (!At(word)) return false;
    x_text.remove_prefix(word.size());
    return true;
  }
  std::optional<int> TakeTwoDigits() {
    if (x_text.size() < 2 || !IsDigit(x_text[0]) || !IsDigit(x_text[1])) return std::nullopt;
    const int value = (x_text[0] - '0') * 10 + (x_text[1] - '0');
    x_text.remove_prefix(2);
    return value;
  }
  // A run of `min` or more digits, saturated; `count` gets its length.
  std::optional<int64_t> TakeDigits(size_t min, size_t& count) {
    count = 0;
    int64_t value = 0;
    while (count < x_text.size() && IsDigit(x_text[count])) {
      value = std::min<int64_t>(value * 10 + (x_text[count++] - '0'), kYearMax * 1000);
    }
    if (count < min) return std::nullopt;
    x_text.remove_prefix(count);
    return value;
  }

 private:
  static bool IsDigit(char c) { return c >= '0' && c <= '9'; }

  std::string_view x_text;
};

// A date as written; "BC" may follow much later, behind time and zone.
struct WrittenDate {
  int64_t year = 0;
  int month = 0, day = 0;
  bool has_sign = false;
};

std::optional<WrittenDate> TakeDate(TextReader& text) {
  WrittenDate date;
  const bool negative = text.next() == '-';
  date.has_sign = text.Take('-') || text.Take('+');
  size_t digits = 0;
  const auto year = text.TakeDigits(4, digits);
  if (!year || !text.Take('-')) return std::nullopt;
  const auto month = text.TakeTwoDigits();
  if (!month || !text.Take('-')) return std::nullopt;
  const auto day = text.TakeTwoDigits();
  if (!day) return std::nullopt;
  date.year = negative ? -*year : *year;
  date.month = *month;
  date.day = *day;
  return date;
}

// Days of a written date; nullopt for a day that does not exist.
std::optional<int64_t> DaysOf(WrittenDate date, bool bc) {
  if (bc) {
    if (date.has_sign || date.year == 0) return std::nullopt;
    date.year = 1 - date.year;
  }
  if (date.month < 1 || date.month > 12 || date.day < 1 ||
      date.day > DaysInMonth(date.year, date.month)) {
    return std::nullopt;
  }
  return DaysFromCivil(date.year, date.month, date.day);
}

// Reads up to 9 digits of a fraction as microseconds.
std::optional<int64_t> TakeFraction(TextReader& text) {
  int64_t micros = 0;
  int digits = 0;
  for (; text.next() >= '0' && text.next() <= '9'; ++digits) {
    const char c = text.next();
    text.Take(c);
    if (digits < 6) {
      micros = micros * 10 + (c - '0');
    } else if (digits >= 9) {
      return std::nullopt;
    } else {
      text.finer_than_micros |= c != '0';
    }
  }
  if (digits == 0) return std::nullopt;
  for (; digits < 6; ++digits) micros *= 10;
  return micros;
}

std::optional<int64_t> TakeTime(TextReader& text) {
  const auto hour = text.TakeTwoDigits();
  if (!hour || !text.Take(':')) return std::nullopt;
  const auto minute = text.TakeTwoDigits();
  if (!minute) return std::nullopt;
  int second = 0;
  int64_t micros = 0;
  if (text.Take(':')) {
    const auto seconds = text.TakeTwoDigits();
    if (!seconds) return std::nullopt;
    second = *seconds;
    if (text.Take('.')) {
      const auto fraction = TakeFraction(text);
      if (!fraction) return std::nullopt;
      micros = *fraction;
    }
  }
  if (*minute > 59 || second > 59) return std::nullopt;
  const int64_t time = ((*hour * 60 + *minute) * 60 + second) * kMicrosPerSecond + micros;
  if (time > kMicrosPerDay) return std::nullopt;
  return time;
}

struct Zone {
  bool present = false;
  int64_t offset_micros = 0;  // east of UTC
};

// nullopt: what stands there is not a zone. An absent zone is one that is not present.
std::optional<Zone> TakeZone(TextReader& text) {
  if (text.Take('Z') || text.Take('z')) return Zone{.present = true};
  const bool west = text.next() == '-';
  if (!text.Take('+') && !text.Take('-')) return Zone{};
  const auto hours = text.TakeTwoDigits();
  if (!hours) return std::nullopt;
  int minutes = 0, seconds = 0;
  const bool colon = text.Take(':');
  if (const auto written = text.TakeTwoDigits()) {
    minutes = *written;
    if (colon && text.Take(':')) {
      const auto last = text.TakeTwoDigits();
      if (!last) return std::nullopt;
      seconds = *last;
    }
  } else if (colon) {
    return std::nullopt;
  }
  // PostgreSQL's own limit is 15:59:59.
  if (*hours > 18 || minutes > 59 || seconds > 59) return std::nullopt;
  const int64_t offset = ((*hours * 60 + minutes) * 60 + seconds) * kMicrosPerSecond;
  return Zone{.present = true, .offset_micros = west ? -offset : offset};
}

bool IsInfinity(std::string_view text) {
  return text == "infinity" || text == "-infinity";
}

struct WrittenTimestamp {
  int64_t days = 0;
  int64_t time = 0;
  Zone zone;
  bool finer_than_micros = false;
};

std::optional<WrittenTimestamp> ReadTimestamp(std::string_view text) {
  TextReader reader(text);
  const auto date = TakeDate(reader);
  if (!date || !(reader.Take('T') || reader.Take(' ') || reader.Take('t'))) return std::nullopt;
  const auto time = TakeTime(reader);
  if (!time) return std::nullopt;
  const bool bc_before_zone = reader.Take(" BC");
  if (reader.At(" +") || reader.At(" -") || reader.At(" Z")) reader.Take(' ');
  const auto zone = TakeZone(reader);
  const bool bc = bc_before_zone || reader.Take(" BC");
  if (!zone || !reader.at_end()) return std::nullopt;
  const auto days = DaysOf(*date, bc);
  if (!days) return std::nullopt;
  return WrittenTimestamp{*days, *time, *zone, reader.finer_than_micros};
}

Result<int64_t> MicrosOf(const WrittenTimestamp& timestamp) {
  if (timestamp.finer_than_micros) return FinerThanMicros("timestamp");
  const __int128 micros = static_cast<__int128>(timestamp.days) * kMicrosPerDay + timestamp.time -
                          timestamp.zone.offset_micros;
  if (micros < std::numeric_limits<int64_t>::min() ||
      micros > std::numeric_limits<int64_t>::max()) {
    return BeyondRange("timestamp");
  }
  return static_cast<int64_t>(micros);
}

Error NoWallClock(std::string_view what) {
  return Error{ErrorKind::kTypeMismatch,
               Message("{} has a zone other than UTC, but its column has none; declare the column "
                       "timestamptz_us or string",
                       what)};
}

}  // namespace

// Years are counted from March, so that the leap day is the last of its year: months then have a
// closed form.
int64_t DaysFromCivil(int64_t year, int month, int day) {
  year -= month <= 2;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  const int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * kDaysPerEra + day_of_era - kDaysFromEraZero;
}

CivilDate CivilFromDays(int64_t days) {
  days += kDaysFromEraZero;
  const int64_t era = (days >= 0 ? days : days - (kDaysPerEra - 1)) / kDaysPerEra;
  const int64_t day_of_era = days - era * kDaysPerEra;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  CivilDate date;
  date.day = static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  date.month =
      static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  date.year = year_of_era + era * 400 + (date.month <= 2);
  return date;
}

Result<int32_t> ParseDate(std::string_view text) {
  if (IsInfinity(text)) return BeyondRange("an infinite date");
  TextReader reader(text);
  const auto date = TakeDate(reader);
  if (!date) return NoTime("date; write it as 2024-02-29");
  const auto zone = TakeZone(reader);
  const bool bc = reader.Take(" BC");
  if (!zone || !reader.at_end()) return NoTime("date; write it as 2024-02-29");
  const auto days = DaysOf(*date, bc);
  if (!days) return NoTime("day of the calendar");
  if (*days < std::numeric_limits<int32_t>::min() || *days > std::numeric_limits<int32_t>::max()) {
    return BeyondRange("date");
  }
  return static_cast<int32_t>(*days);
}

Result<int64_t> ParseTime(std::string_view text) {
  TextReader reader(text);
  const auto time = TakeTime(reader);
  if (!time) return NoTime("time of day; write it as 12:34:56.789");
  const auto zone = TakeZone(reader);
  if (!zone || !reader.at_end()) return NoTime("time of day; write it as 12:34:56.789");
  if (zone->offset_micros != 0) return NoWallClock("time");
  if (reader.finer_than_micros) return FinerThanMicros("time of day");
  return *time;
}

Result<int64_t> ParseTimestamp(std::string_view text) {
  if (IsInfinity(text)) return BeyondRange("an infinite timestamp");
  const auto timestamp = ReadTimestamp(text);
  if (!timestamp) return NoTime("timestamp; write it as 2024-02-29T12:34:56");
  if (timestamp->zone.offset_micros != 0) return NoWallClock("timestamp");
  return MicrosOf(*timestamp);
}

Result<int64_t> ParseTimestamptz(std::string_view text) {
  if (IsInfinity(text)) return BeyondRange("an infinite timestamp");
  const auto timestamp = ReadTimestamp(text);
  if (!timestamp) return NoTime("timestamp; write it as 2024-02-29T12:34:56Z");
  return MicrosOf(*timestamp);
}

std::string DateToText(int32_t days) {
  const CivilDate date = CivilFromDays(days);
  if (date.year >= 0 && date.year <= 9999) {
    return Message("{:04}-{:02}-{:02}", date.year, date.month, date.day);
  }
  return Message("{}{:04}-{:02}-{:02}", date.year < 0 ? '-' : '+',
                 date.year < 0 ? -date.year : date.year, date.month, date.day);
}

std::string TimeToText(int64_t micros) {
  const int64_t seconds = micros / kMicrosPerSecond;
  const int64_t fraction = micros % kMicrosPerSecond;
  std::string text = Message("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
  if (fraction != 0) text += Message(".{:06}", fraction);
  return text;
}

std::string TimestampToText(int64_t micros, bool utc) {
  int64_t days = micros / kMicrosPerDay;
  int64_t time = micros % kMicrosPerDay;
  if (time < 0) {
    time += kMicrosPerDay;
    --days;
  }
  return DateToText(static_cast<int32_t>(days)) + 'T' + TimeToText(time) + (utc ? "Z" : "");
}

}  // namespace lastword
