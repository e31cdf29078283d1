#include "cli/outcomes_file.h"

#include <cerrno>

#include "base/files.h"
#include "base/json.h"
#include "lastword/version.h"
#include "model/key.h"

namespace lastword::cli {
namespace {

std::string_view NameOfKind(Kind kind) {
  switch (kind) {
    case Kind::kUpsert:
      return "upsert";
    case Kind::kDelete:
      return "delete";
    case Kind::kTruncate:
      return "truncate";
  }
  return "";
}

}  // namespace

Result<std::unique_ptr<OutcomesFile>> OutcomesFile::Create(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return ErrorFromErrno("create", path, errno);
  return std::unique_ptr<OutcomesFile>(new OutcomesFile(path, file));
}

OutcomesFile::~OutcomesFile() {
  if (x_file != nullptr) std::fclose(x_file);
}

void OutcomesFile::Write(const std::string& table, const ChangeBatch& batch,
                         const std::vector<Outcome>& outcomes, const Source& source) {
  std::vector<std::string> inputs;
  for (const std::string& input : batch.inputs) inputs.push_back(source.NameForPeople(input));
  std::string lines;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    const ChangeHead& head = batch.heads[i];
    Json json;
    json["input"] = inputs[head.input];
    json["offset"] = head.offset;
    json["line"] = head.line == 0 ? Json() : Json(head.line);
    json["table"] = table;
    json["key"] = head.kind == Kind::kTruncate ? Json() : Json(KeyToText(batch.KeyOf(head)));
    json["kind"] = std::string(NameOfKind(head.kind));
    json["version"] = ToString(head.version);
    json["outcome"] = std::string(NameOf(outcomes[i]));
    lines += DumpJson(json);
    lines += '\n';
  }
  if (std::fwrite(lines.data(), 1, lines.size(), x_file) != lines.size()) x_errno = errno;
}

Status OutcomesFile::Close() {
  std::FILE* file = x_file;
  x_file = nullptr;
  if (std::fclose(file) != 0 && x_errno == 0) x_errno = errno;
  if (x_errno != 0) return ErrorFromErrno("write", x_path, x_errno);
  return Ok{};
}

}  // namespace lastword::cli
