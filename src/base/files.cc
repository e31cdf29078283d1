#include "base/files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "base/format.h"
#include "base/kill_points.h"
#include "base/random.h"

namespace lastword {
namespace {

// Closes a file descriptor when the call that opened it ends, whichever way.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags)
      : x_fd(open(path.c_str(), flags | O_CLOEXEC, 0644)) {}
  ~OpenFile() {
    if (x_fd >= 0) close(x_fd);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  bool ok() const { return x_fd >= 0; }
  int fd() const { return x_fd; }

 private:
  int x_fd;
};

std::string_view RemedyOf(int errno_value) {
  switch (errno_value) {
    case ENOSPC:
    case EDQUOT:
      return "free some space, then run the same command again";
    case EROFS:
      return "the file system is mounted read-only; mount it writable or choose another place";
    case EACCES:
    case EPERM:
      return "give this user the permission, or choose another place";
    case ENOENT:
      return "check the path";
    case ENOTDIR:
    case EISDIR:
      return "check whether the path names a file or a folder";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files";
    default:
      return "check the storage below this path";
  }
}

Status WriteAll(int fd, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return ErrorFromErrno("write", path, errno);
    }
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return Ok{};
}

Status WriteNewFile(const std::string& path, std::string_view bytes, bool sync) {
  OpenFile file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.ok()) return ErrorFromErrno("create", path, errno);
  LW_RETURN_IF_ERROR(WriteAll(file.fd(), bytes, path));
  if (sync && fsync(file.fd()) != 0) return ErrorFromErrno("sync", path, errno);
  return Ok{};
}

Status SyncPath(const std::string& path, int flags) {
  OpenFile file(path, flags);
  if (!file.ok()) return ErrorFromErrno("open", path, errno);
  if (fsync(file.fd()) != 0) return ErrorFromErrno("sync", path, errno);
  return Ok{};
}

}  // namespace

Error ErrorFromErrno(std::string_view what, const std::string& path, int errno_value) {
  const bool full = errno_value == ENOSPC || errno_value == EDQUOT;
  char buffer[128];
  return Error{full ? ErrorKind::kStorageFull : ErrorKind::kStorageUnavailable,
               Message("cannot {} {}: {}; {}", what, path,
                       strerror_r(errno_value, buffer, sizeof buffer), RemedyOf(errno_value))};
}

Result<std::string> ReadWholeFile(const std::string& path) {
  OpenFile file(path, O_RDONLY);
  if (!file.ok()) return ErrorFromErrno("open", path, errno);
  struct stat status {};
  std::string bytes;
  if (fstat(file.fd(), &status) == 0 && status.st_size > 0) {
    bytes.reserve(static_cast<size_t>(status.st_size));
  }
  char buffer[1 << 16];
  while (true) {
    const ssize_t got = read(file.fd(), buffer, sizeof buffer);
    if (got < 0) {
      if (errno == EINTR) continue;
      return ErrorFromErrno("read", path, errno);
    }
    if (got == 0) return bytes;
    bytes.append(buffer, static_cast<size_t>(got));
  }
}

Status WriteFileAtomically(const std::string& path, std::string_view bytes, bool sync) {
  const std::string temporary = path + ".tmp-" + RandomId();
  Status written = WriteNewFile(temporary, bytes, sync);
  if (!written.ok()) {
    unlink(temporary.c_str());
    return written;
  }
  LW_KILL_POINT("files.before_rename");
  if (rename(temporary.c_str(), path.c_str()) != 0) {
    const int errno_value = errno;
    unlink(temporary.c_str());
    return ErrorFromErrno("replace", path, errno_value);
  }
  return sync ? SyncFolder(FolderOf(path)) : Status(Ok{});
}

Status SyncFile(const std::string& path) {
  return SyncPath(path, O_RDONLY);
}

Status SyncFolder(const std::string& path) {
  return SyncPath(path, O_RDONLY | O_DIRECTORY);
}

bool FileExists(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0;
}

bool IsFolder(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

Result<std::vector<std::string>> ListFolder(const std::string& path) {
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return ErrorFromErrno("list", path, errno);
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  const int errno_value = errno;
  closedir(folder);
  if (errno_value != 0) return ErrorFromErrno("list", path, errno_value);
  std::sort(names.begin(), names.end());
  return names;
}

Status CreateFolders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return ErrorFromErrno("create folder", path, error.value());
  return Ok{};
}

Status RemoveFile(const std::string& path) {
  if (unlink(path.c_str()) != 0 && errno != ENOENT) return ErrorFromErrno("remove", path, errno);
  return Ok{};
}

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

}  // namespace lastword
