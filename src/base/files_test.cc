#include "base/files.h"

#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/random.h"
#include "test/status_matchers.h"

namespace lastword {
namespace {

class FilesTest : public testing::Test {
 protected:
  FilesTest() : x_folder(testing::TempDir() + "/lastword-files-" + RandomId()) {
    std::filesystem::create_directories(x_folder);
  }
  ~FilesTest() override { std::filesystem::remove_all(x_folder); }

  std::string x_folder;
};

TEST_F(FilesTest, WritesReplaceTheWholeFileAndLeaveNothingBeside) {
  const std::string path = x_folder + "/state";
  for (const bool sync : {true, false}) {
    ASSERT_THAT(WriteFileAtomically(path, "a long first text", sync), IsOk());
    ASSERT_THAT(WriteFileAtomically(path, std::string("b\0c", 3), sync), IsOk());
    EXPECT_THAT(ReadWholeFile(path), IsOkAnd(std::string("b\0c", 3)));
    EXPECT_THAT(ListFolder(x_folder), IsOkAnd(testing::ElementsAre("state")));
  }
}

TEST_F(FilesTest, LargeFilesComeBackWhole) {
  std::string bytes(1'000'000, 'x');
  bytes[999'999] = 'y';
  ASSERT_THAT(WriteFileAtomically(x_folder + "/large", bytes, false), IsOk());
  EXPECT_THAT(ReadWholeFile(x_folder + "/large"), IsOkAnd(bytes));
}

TEST_F(FilesTest, AFailedWriteLeavesTheOldFile) {
  // The target is a folder: the rename fails after the temporary file is complete.
  const std::string path = x_folder + "/folder";
  ASSERT_THAT(CreateFolders(path + "/inner"), IsOk());
  EXPECT_THAT(WriteFileAtomically(path, "x"), IsError(ErrorKind::kStorageUnavailable));
  EXPECT_THAT(ListFolder(x_folder), IsOkAnd(testing::ElementsAre("folder")));
}

TEST_F(FilesTest, ErrorsNameThePathAndTheRemedy) {
  const std::string path = x_folder + "/absent";
  const auto read = ReadWholeFile(path);
  ASSERT_THAT(read, IsError(ErrorKind::kStorageUnavailable));
  EXPECT_THAT(read.error().message, testing::HasSubstr(path));
  EXPECT_THAT(read.error().message, testing::HasSubstr("check the path"));
  EXPECT_THAT(ListFolder(path), IsError(ErrorKind::kStorageUnavailable));
  EXPECT_THAT(WriteFileAtomically(path + "/file", "x"), IsError(ErrorKind::kStorageUnavailable));
  EXPECT_THAT(SyncFile(path), IsError(ErrorKind::kStorageUnavailable));
  EXPECT_THAT(SyncFolder(path), IsError(ErrorKind::kStorageUnavailable));
  EXPECT_THAT(ReadWholeFile(x_folder), IsError(ErrorKind::kStorageUnavailable));
}

TEST_F(FilesTest, AFullDiskIsAKindOfItsOwn) {
  EXPECT_EQ(ErrorFromErrno("write", "p", ENOSPC).kind, ErrorKind::kStorageFull);
  EXPECT_EQ(ErrorFromErrno("write", "p", EDQUOT).kind, ErrorKind::kStorageFull);
  EXPECT_EQ(ErrorFromErrno("write", "p", EROFS).kind, ErrorKind::kStorageUnavailable);
  EXPECT_EQ(ErrorFromErrno("write", "p", EACCES).kind, ErrorKind::kStorageUnavailable);
  EXPECT_EQ(ErrorFromErrno("write", "p", ENOENT).kind, ErrorKind::kStorageUnavailable);
}

TEST_F(FilesTest, FoldersAndFilesAreToldApart) {
  EXPECT_TRUE(IsFolder(x_folder));
  EXPECT_TRUE(FileExists(x_folder));
  EXPECT_FALSE(FileExists(x_folder + "/a"));
  ASSERT_THAT(CreateFolders(x_folder + "/a/b/c"), IsOk());
  ASSERT_THAT(CreateFolders(x_folder + "/a/b/c"), IsOk());
  ASSERT_THAT(WriteFileAtomically(x_folder + "/a/file", ""), IsOk());
  EXPECT_FALSE(IsFolder(x_folder + "/a/file"));
  EXPECT_THAT(ListFolder(x_folder + "/a"), IsOkAnd(testing::ElementsAre("b", "file")));
  EXPECT_THAT(SyncFile(x_folder + "/a/file"), IsOk());
  EXPECT_THAT(SyncFolder(x_folder + "/a"), IsOk());
  EXPECT_THAT(RemoveFile(x_folder + "/a/file"), IsOk());
  EXPECT_THAT(RemoveFile(x_folder + "/a/file"), IsOk());
  EXPECT_FALSE(FileExists(x_folder + "/a/file"));
  EXPECT_THAT(CreateFolders("/proc/none"), IsError(ErrorKind::kStorageUnavailable));
}

TEST(Files, FolderOfAPath) {
  EXPECT_EQ(FolderOf("a/b/c"), "a/b");
  EXPECT_EQ(FolderOf("c"), ".");
  EXPECT_EQ(FolderOf("/c"), "/");
}

}  // namespace
}  // namespace lastword
