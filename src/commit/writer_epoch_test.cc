#include "commit/writer_epoch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace lastword {
namespace {

TEST(WriterEpoch, NeverTwiceAndNeverBelowWhatIsCommitted) {
  std::string folder = (std::filesystem::temp_directory_path() / "lastword-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/writer_epoch";
  EXPECT_EQ(*TakeWriterEpoch(path, 1), 1u);
  EXPECT_EQ(*TakeWriterEpoch(path, 1), 2u);
  EXPECT_EQ(*TakeWriterEpoch(path, 9), 9u);
  EXPECT_EQ(*TakeWriterEpoch(path, 3), 10u);
  std::ofstream(path) << "no number";
  EXPECT_EQ(*TakeWriterEpoch(path, 11), 11u);
  std::filesystem::remove(path);
  EXPECT_EQ(*TakeWriterEpoch(path, 12), 12u);
  EXPECT_FALSE(TakeWriterEpoch(folder + "/nowhere/writer_epoch", 1).ok());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace lastword
