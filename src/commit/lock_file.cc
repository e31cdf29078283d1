#include "commit/lock_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "base/files.h"
#include "base/format.h"

namespace lastword {

Result<std::unique_ptr<LockFile>> LockFile::Acquire(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return ErrorFromErrno("open the lock file", path, errno);
  std::unique_ptr<LockFile> lock(new LockFile(descriptor));
  if (flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    char holder[24] = {};
    const ssize_t size = pread(descriptor, holder, sizeof holder - 1, 0);
    return Error{ErrorKind::kFencedWriter,
                 Message("the table is open for writing in process {} (lock file {}): a table has "
                         "one writer. Wait for "
                         "it, or stop it",
                         size > 0 ? holder : "unknown", path),
                 {}};
  }
  const std::string self = std::to_string(getpid());
  // Only a hint for people: failing to write it changes nothing about the lock.
  if (ftruncate(descriptor, 0) == 0) (void)!pwrite(descriptor, self.data(), self.size(), 0);
  return lock;
}

LockFile::~LockFile() {
  close(x_descriptor);
}

}  // namespace lastword
