// Replays the corpus of stored bytes, with any compiler.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "fuzz/stored_checks.h"

namespace lastword {
namespace {

TEST(StoredReplay, EveryFileHolds) {
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(LW_STORED_CORPUS)) {
    const auto bytes = ReadWholeFile(entry.path());
    ASSERT_TRUE(bytes.ok());
    CheckStored(*bytes);
    ++files;
  }
  EXPECT_GE(files, 8u);
}

}  // namespace
}  // namespace lastword
