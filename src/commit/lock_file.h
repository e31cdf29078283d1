// One writer a table on one machine: an advisory lock on a file beside the table, held as long as
// the object lives. The kernel lets it go when the process dies, however it dies. Writers on other
// machines are told apart by the writer epoch.
#pragma once

#include <memory>
#include <string>

#include "lastword/status.h"

namespace lastword {

class LockFile {
 public:
  /// Creates the file where there is none. kFencedWriter when another process, or another table
  /// object of this one, holds it; the message names the holder's process id.
  static Result<std::unique_ptr<LockFile>> Acquire(const std::string& path);
  ~LockFile();
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;

 private:
  explicit LockFile(int descriptor) : x_descriptor(descriptor) {}
  int x_descriptor;
};

}  // namespace lastword
