#include "commit/dead_letter.h"

#include <algorithm>

#include "base/base64.h"
#include "base/files.h"
#include "base/format.h"
#include "base/json.h"
#include "base/utf8.h"

namespace lastword {
namespace {

constexpr std::string_view kSuffix = ".ndjson";
constexpr size_t kDigits = 20;

Json ToJson(const DeadLetter& letter) {
  const Place& place = letter.error.place;
  Json json = Json::object();
  json["input"] = place.input;
  if (place.offset) json["offset"] = *place.offset;
  if (place.line) json["line"] = *place.line;
  if (!place.key.empty()) json["key"] = place.key;
  if (!place.column.empty()) json["column"] = place.column;
  json["kind"] = std::string(NameOf(letter.error.kind));
  json["message"] = letter.error.message;
  if (IsUtf8(letter.record)) {
    json["record"] = letter.record;
  } else {
    json["record"] = Json{{"base64", EncodeBase64(letter.record)}};
  }
  return json;
}

Result<DeadLetter> FromJson(const Json& json) {
  DeadLetter letter;
  Place& place = letter.error.place;
  LW_ASSIGN_OR_RETURN(place.input, GetString(json, "input"));
  if (FindMember(json, "offset") != nullptr) {
    LW_ASSIGN_OR_RETURN(place.offset, GetUint64(json, "offset"));
  }
  if (FindMember(json, "line") != nullptr) {
    LW_ASSIGN_OR_RETURN(place.line, GetUint64(json, "line"));
  }
  LW_ASSIGN_OR_RETURN(place.key, GetString(json, "key", ""));
  LW_ASSIGN_OR_RETURN(place.column, GetString(json, "column", ""));
  LW_ASSIGN_OR_RETURN(letter.error.message, GetString(json, "message"));
  LW_ASSIGN_OR_RETURN(const std::string kind, GetString(json, "kind"));
  LW_ASSIGN_OR_RETURN(letter.error.kind, ParseErrorKind(kind));
  const Json* record = FindMember(json, "record");
  if (record != nullptr && record->is_object()) {
    LW_ASSIGN_OR_RETURN(const std::string encoded, GetString(*record, "base64"));
    LW_ASSIGN_OR_RETURN(letter.record, DecodeBase64(encoded));
  } else {
    LW_ASSIGN_OR_RETURN(letter.record, GetString(json, "record"));
  }
  return letter;
}

}  // namespace

std::string DeadLetterFolder::PathOf(uint64_t version) const {
  const std::string digits = std::to_string(version);
  return x_folder + "/" + std::string(kDigits - digits.size(), '0') + digits + std::string(kSuffix);
}

Result<std::vector<uint64_t>> DeadLetterFolder::Versions() const {
  std::vector<uint64_t> versions;
  if (!FileExists(x_folder)) return versions;
  LW_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(x_folder));
  for (const std::string& name : names) {
    const bool ours = name.size() == kDigits + kSuffix.size() && name.substr(kDigits) == kSuffix &&
                      std::all_of(name.begin(), name.begin() + kDigits,
                                  [](char c) { return c >= '0' && c <= '9'; });
    if (ours) versions.push_back(std::stoull(name.substr(0, kDigits)));
  }
  return versions;
}

Status DeadLetterFolder::Write(uint64_t version, const std::vector<DeadLetter>& letters,
                               bool sync) const {
  if (letters.empty()) return RemoveFile(PathOf(version));
  LW_RETURN_IF_ERROR(CreateFolders(x_folder));
  std::string lines;
  for (const DeadLetter& letter : letters) {
    lines += DumpJson(ToJson(letter));
    lines += '\n';
  }
  return WriteFileAtomically(PathOf(version), lines, sync);
}

Result<std::vector<DeadLetter>> DeadLetterFolder::Read(uint64_t from, uint64_t to) const {
  std::vector<DeadLetter> letters;
  LW_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, Versions());
  for (const uint64_t version : versions) {
    if (version < from || version > to) continue;
    LW_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(PathOf(version)));
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      auto json = ParseJson(std::string_view(text).substr(at, end - at));
      auto letter = json.ok() ? FromJson(*json) : Result<DeadLetter>(json.error());
      if (!letter.ok()) {
        return Error{
            ErrorKind::kStorageCorrupt,
            Message("dead letter {} cannot be read: {}", PathOf(version), letter.error().message),
            {}};
      }
      letters.push_back(std::move(*letter));
      at = end + 1;
    }
  }
  return letters;
}

Status DeadLetterFolder::RemoveAbove(uint64_t latest) const {
  LW_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, Versions());
  for (const uint64_t version : versions) {
    if (version > latest) LW_RETURN_IF_ERROR(RemoveFile(PathOf(version)));
  }
  return Ok{};
}

Status DeadLetterFolder::RemoveBelow(uint64_t from) const {
  LW_ASSIGN_OR_RETURN(const std::vector<uint64_t> versions, Versions());
  for (const uint64_t version : versions) {
    if (version < from) LW_RETURN_IF_ERROR(RemoveFile(PathOf(version)));
  }
  return Ok{};
}

}  // namespace lastword
