// JSON for settings, properties and answers: small documents whose members keep their order. The
// only door to the JSON library; record decoding has its own parser. Never throws.
//
// Integers are exact in [-2^63, 2^64); other numbers are doubles. Callers use the functions below
// to read members: the library's own at(), get<T>() and value() throw.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "lastword/status.h"

namespace lastword {

using Json = nlohmann::ordered_json;

/// Parses one document; anything behind it but blanks is an error. kBadJson, with the byte that was
/// not understood.
Result<Json> ParseJson(std::string_view text);

/// One line without blanks. Bytes that are no UTF-8 become U+FFFD: an answer is printed whatever it
/// holds.
std::string DumpJson(const Json& json);
/// Several lines, indented by 2.
std::string DumpJsonIndented(const Json& json);

/// The member `name` of an object; nullptr where it is absent, null, or `json` is no object.
const Json* FindMember(const Json& json, std::string_view name);

/// A member that must be there and have that type; kBadJson names it otherwise. Uint64 and Int64
/// take whole numbers in range only.
Result<std::string> GetString(const Json& json, std::string_view name);
Result<uint64_t> GetUint64(const Json& json, std::string_view name);
Result<int64_t> GetInt64(const Json& json, std::string_view name);
Result<bool> GetBool(const Json& json, std::string_view name);

/// The same where absent (or null) means `missing`.
Result<std::string> GetString(const Json& json, std::string_view name, std::string missing);
Result<uint64_t> GetUint64(const Json& json, std::string_view name, uint64_t missing);
Result<int64_t> GetInt64(const Json& json, std::string_view name, int64_t missing);
Result<bool> GetBool(const Json& json, std::string_view name, bool missing);

}  // namespace lastword
