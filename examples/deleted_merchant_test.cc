// Runs the example twice on one folder: the second process remembers what the first one deleted.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <string>

namespace {

std::string OutputOf(const std::string& command) {
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[256];
  while (pipe != nullptr && fgets(buffer, sizeof buffer, pipe) != nullptr) output += buffer;
  if (pipe == nullptr || pclose(pipe) != 0) output += "(failed)";
  return output;
}

TEST(DeletedMerchant, StaysDeletedInTheNextProcessToo) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "lastword-deleted-merchant";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const std::string command = std::string(LW_EXAMPLE) + " " + (folder / "merchants.lance").string();
  EXPECT_EQ(OutputOf(command), "applied\napplied\nstale\nrows: 0\n");
  EXPECT_EQ(OutputOf(command), "stale\nrepeat\nstale\nrows: 0\n");
  std::filesystem::remove_all(folder);
}

}  // namespace
