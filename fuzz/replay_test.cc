// Replays every file of the corpora: what fuzzing once found stays fixed, whatever the compiler.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "fuzz/decode_checks.h"

namespace lastword::codec {
namespace {

class Replay : public testing::TestWithParam<const char*> {};

TEST_P(Replay, EveryFileHolds) {
  const Result<Format> format = ParseFormat(GetParam());
  ASSERT_TRUE(format.ok());
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::filesystem::path(LW_CORPUS) / GetParam())) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    SCOPED_TRACE(entry.path());
    CheckDecoding(*format, bytes.str());
    ++files;
  }
  EXPECT_GE(files, 8u);
}

INSTANTIATE_TEST_SUITE_P(Formats, Replay,
                         testing::Values("debezium", "records", "changelog", "sequenced"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace lastword::codec
