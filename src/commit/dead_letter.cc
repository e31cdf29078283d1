#include "commit/dead_letter.h"

#include <algorithm>
#include <charconv>

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

// A number as it stands in the name of a file.
std::string Padded(uint64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kDigits - digits.size(), '0') + digits;
}

// Reads kDigits digits; empty where there are others.
std::optional<uint64_t> ParsePadded(std::string_view text) {
  uint64_t number = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.size() != kDigits || status != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

Result<std::vector<DeadLetterFolder::File>> DeadLetterFolder::Files() const {
  std::vector<File> files;
  if (!FileExists(x_folder)) return files;
  LW_ASSIGN_OR_RETURN(const std::vector<std::string> names, ListFolder(x_folder));
  for (const std::string& name : names) {
    if (!name.ends_with(kSuffix)) continue;
    const std::string_view stem = std::string_view(name).substr(0, name.size() - kSuffix.size());
    const std::optional<uint64_t> version = ParsePadded(stem.substr(0, kDigits));
    if (!version) continue;
    File file{*version, std::nullopt, name};
    if (stem.size() > kDigits) {
      file.writer = stem[kDigits] == '-' ? ParsePadded(stem.substr(kDigits + 1)) : std::nullopt;
      if (!file.writer) continue;
    }
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const File& a, const File& b) { return a.name < b.name; });
  return files;
}

Status DeadLetterFolder::Write(uint64_t version, uint64_t writer,
                               const std::vector<DeadLetter>& letters, bool sync) const {
  const std::string path =
      x_folder + "/" + Padded(version) + "-" + Padded(writer) + std::string(kSuffix);
  if (letters.empty()) return RemoveFile(path);
  LW_RETURN_IF_ERROR(CreateFolders(x_folder));
  std::string lines;
  for (const DeadLetter& letter : letters) {
    lines += DumpJson(ToJson(letter));
    lines += '\n';
  }
  return WriteFileAtomically(path, lines, sync);
}

Status DeadLetterFolder::ReadFile(const File& file, std::vector<DeadLetter>& letters) const {
  LW_ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(PathOf(file)));
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    auto json = ParseJson(std::string_view(text).substr(at, end - at));
    auto letter = json.ok() ? FromJson(*json) : Result<DeadLetter>(json.error());
    if (!letter.ok()) {
      return Error{
          ErrorKind::kStorageCorrupt,
          Message("dead letter {} cannot be read: {}", PathOf(file), letter.error().message),
          {}};
    }
    letters.push_back(std::move(*letter));
    at = end + 1;
  }
  return Ok{};
}

Result<std::vector<DeadLetter>> DeadLetterFolder::Read(uint64_t from, uint64_t to,
                                                       const WriterOf& writer_of) const {
  std::vector<DeadLetter> letters;
  LW_ASSIGN_OR_RETURN(const std::vector<File> files, Files());
  for (const File& file : files) {
    if (file.version < from || file.version > to) continue;
    if (file.writer) {
      LW_ASSIGN_OR_RETURN(const std::optional<uint64_t> writer, writer_of(file.version));
      if (writer && *writer != *file.writer) continue;
    }
    LW_RETURN_IF_ERROR(ReadFile(file, letters));
  }
  return letters;
}

Status DeadLetterFolder::RemoveAbove(uint64_t latest, uint64_t writer) const {
  LW_ASSIGN_OR_RETURN(const std::vector<File> files, Files());
  for (const File& file : files) {
    if (file.version <= latest || file.writer.value_or(0) > writer) continue;
    LW_RETURN_IF_ERROR(RemoveFile(PathOf(file)));
  }
  return Ok{};
}

Status DeadLetterFolder::RemoveLost(uint64_t from, uint64_t to, const WriterOf& writer_of) const {
  LW_ASSIGN_OR_RETURN(const std::vector<File> files, Files());
  for (const File& file : files) {
    if (file.version < from || file.version >= to || !file.writer) continue;
    LW_ASSIGN_OR_RETURN(const std::optional<uint64_t> writer, writer_of(file.version));
    if (writer && *writer != *file.writer) LW_RETURN_IF_ERROR(RemoveFile(PathOf(file)));
  }
  return Ok{};
}

Status DeadLetterFolder::RemoveBelow(uint64_t from) const {
  LW_ASSIGN_OR_RETURN(const std::vector<File> files, Files());
  for (const File& file : files) {
    if (file.version < from) LW_RETURN_IF_ERROR(RemoveFile(PathOf(file)));
  }
  return Ok{};
}

}  // namespace lastword
