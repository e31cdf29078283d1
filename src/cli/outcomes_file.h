// The file of `--outcomes`: what became of each change, one JSON line a change in the order of
// arrival.
//
//   line := {"input":…,"offset":n,"line":n|null,"table":…,"key":…|null,"kind":"upsert|delete|
//            truncate","version":"e/h/m/l"|null,"outcome":"applied|stale|repeat|conflict|
//            held"}
//   key: as `explain` takes it; null for a truncate. version: as the change carried it; null where
//   the table gives it on arrival (changelog, null-value records).
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "lastword/status.h"
#include "model/change_batch.h"
#include "source/source.h"

namespace lastword::cli {

class OutcomesFile {
 public:
  /// Creates or empties `path`. kStorageUnavailable, kStorageFull.
  static Result<std::unique_ptr<OutcomesFile>> Create(const std::string& path);
  ~OutcomesFile();

  void Write(const std::string& table, const ChangeBatch& batch,
             const std::vector<Outcome>& outcomes, const Source& source);
  /// Ends the file; an error of any earlier write is told here.
  Status Close();

 private:
  OutcomesFile(std::string path, std::FILE* file) : x_path(std::move(path)), x_file(file) {}

  std::string x_path;
  std::FILE* x_file;
  int x_errno = 0;
};

}  // namespace lastword::cli
