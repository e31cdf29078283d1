// Small files and folders: read whole, written so that a crash or a power loss leaves the old file
// or the new one, never half of one. Every error names the path and what to do. Never for tables:
// those belong to src/lance.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lastword/status.h"

namespace lastword {

/// The error of a failed system call on `path`: no space or quota left -> kStorageFull, everything
/// else -> kStorageUnavailable with the remedy. `what` says what was attempted ("write").
Error ErrorFromErrno(std::string_view what, const std::string& path, int errno_value);

Result<std::string> ReadWholeFile(const std::string& path);

/// Replaces `path` by `bytes` through a temporary file beside it. With `sync`, file and folder are
/// durable when the call returns. One writer a path.
Status WriteFileAtomically(const std::string& path, std::string_view bytes, bool sync = true);

/// Makes a file's content, or a folder's entries, durable.
Status SyncFile(const std::string& path);
Status SyncFolder(const std::string& path);

bool FileExists(const std::string& path);  // a file or a folder
bool IsFolder(const std::string& path);

/// Names in a folder, sorted, without "." and "..".
Result<std::vector<std::string>> ListFolder(const std::string& path);

/// Creates the folder and its parents; one that exists is fine.
Status CreateFolders(const std::string& path);

/// Removes a file; one that does not exist is fine.
Status RemoveFile(const std::string& path);

/// The folder that holds `path`: "a/b" of "a/b/c", "." of "c".
std::string FolderOf(const std::string& path);

}  // namespace lastword
