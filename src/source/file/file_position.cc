#include "source/file/file_position.h"

#include <charconv>
#include <filesystem>

#include "base/format.h"
#include "base/json.h"

namespace lastword::file {
namespace {

bool ParseHex(std::string_view text, uint64_t& value) {
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  return end.ec == std::errc() && end.ptr == text.data() + text.size();
}

}  // namespace

std::string ToString(const FilePosition& position) {
  std::string text = Message(R"({{"bytes":{},"lines":{},"digest":"{:016x}{:016x}")", position.bytes,
                             position.lines, position.digest.high, position.digest.low);
  if (position.epoch != 0) text += Message(R"(,"epoch":{})", position.epoch);
  if (position.began != 0) text += Message(R"(,"began":{})", position.began);
  if (position.content != 0) text += Message(R"(,"content":{})", position.content);
  if (position.anew) text += R"(,"anew":1)";
  return text + "}";
}

Result<FilePosition> ParseFilePosition(std::string_view text) {
  const auto damaged = [&] {
    return Error{ErrorKind::kPositionsLost,
                 Message("the table holds a position that is none of a file: {}; apply the file "
                         "with --from-start",
                         text)};
  };
  const auto json = ParseJson(text);
  if (!json.ok()) return damaged();
  const auto bytes = GetUint64(*json, "bytes");
  const auto lines = GetUint64(*json, "lines");
  const auto digest = GetString(*json, "digest");
  const auto epoch = GetUint64(*json, "epoch", 0);
  const auto began = GetUint64(*json, "began", 0);
  const auto content = GetUint64(*json, "content", 0);
  const auto anew = GetUint64(*json, "anew", 0);
  if (!bytes.ok() || !lines.ok() || !digest.ok() || digest->size() != 32 || !epoch.ok() ||
      !began.ok() || !content.ok() || !anew.ok() || *anew > 1 || *epoch > UINT32_MAX ||
      *began > UINT32_MAX || *content > UINT32_MAX) {
    return damaged();
  }
  FilePosition position{*bytes,
                        *lines,
                        {},
                        static_cast<uint32_t>(*epoch),
                        static_cast<uint32_t>(*began),
                        static_cast<uint32_t>(*content),
                        *anew == 1};
  const std::string_view hex = *digest;
  if (!ParseHex(hex.substr(0, 16), position.digest.high) ||
      !ParseHex(hex.substr(16), position.digest.low)) {
    return damaged();
  }
  return position;
}

std::string InputOf(const std::string& path) {
  if (path == "-") return path;
  std::error_code error;
  const auto kind = std::filesystem::status(path, error).type();
  if (kind == std::filesystem::file_type::fifo || kind == std::filesystem::file_type::character ||
      kind == std::filesystem::file_type::socket) {
    return "-";
  }
  const auto canonical = std::filesystem::weakly_canonical(path, error);
  return error ? path : canonical.string();
}

}  // namespace lastword::file
