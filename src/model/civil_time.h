// Dates and times of the proleptic Gregorian calendar as numbers (days, microseconds) and back.
// No time zones but offsets, no leap seconds, no clock.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lastword/status.h"

namespace lastword {

inline constexpr int64_t kMicrosPerSecond = 1'000'000;
inline constexpr int64_t kMicrosPerDay = 86'400 * kMicrosPerSecond;

/// Days since 1970-01-01. Years are astronomical: 0 is 1 BC.
int64_t DaysFromCivil(int64_t year, int month, int day);

struct CivilDate {
  int64_t year = 1970;
  int month = 1, day = 1;
};
CivilDate CivilFromDays(int64_t days);

// Texts that are no date or time, days that no month has, and digits finer than a microsecond that
// are not 0 are kTypeMismatch; values beyond the stored range, "infinity" and "-infinity" are
// kOutOfRange.
//
//   date      := ['+'|'-'] year '-' MM '-' DD [' BC']      year of 4 or more digits; with a sign or
//                                                          0000 astronomical
//   time      := hh ':' mm [':' ss ['.' digits{1,9}]]      up to 24:00:00
//   timestamp := date ('T'|'t'|' ') time [[' '] zone] [' BC']
//   zone      := 'Z' | 'z' | ('+'|'-') hh [[':'] mm [':' ss]]

/// Days since 1970-01-01, for `date`. A zone ("2020-01-31Z") is accepted and means nothing.
Result<int32_t> ParseDate(std::string_view text);
/// Microseconds since midnight, 0 to 86,400,000,000, for `time_us`. A zone must be UTC.
Result<int64_t> ParseTime(std::string_view text);
/// Microseconds since 1970-01-01 00:00 as the clock on the wall shows them, for `timestamp_us`. A
/// zone must be UTC: anything else is an instant, not a wall clock.
Result<int64_t> ParseTimestamp(std::string_view text);
/// Microseconds since 1970-01-01T00:00Z, for `timestamptz_us`. Without a zone: UTC.
Result<int64_t> ParseTimestamptz(std::string_view text);

/// "2024-02-29"; years outside 0000-9999 carry a sign and are astronomical, as ISO 8601 has it.
std::string DateToText(int32_t days);
/// "12:34:56" or "12:34:56.000001".
std::string TimeToText(int64_t micros);
/// "2024-02-29T12:34:56"; with `utc` a 'Z' follows.
std::string TimestampToText(int64_t micros, bool utc);

}  // namespace lastword
