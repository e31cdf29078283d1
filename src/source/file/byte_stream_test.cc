// Reads the same text plain and compressed, in members, and damaged.
#include "source/file/byte_stream.h"

#include <gtest/gtest.h>

#include "source/file/test_files.h"

namespace lastword::file {
namespace {

Result<std::string> ReadAll(const std::string& path, size_t piece = 7) {
  LW_ASSIGN_OR_RETURN(auto stream, OpenByteStream(path));
  std::string text(piece, '\0'), all;
  while (true) {
    LW_ASSIGN_OR_RETURN(const size_t got, stream->Read(text.data(), piece));
    if (got == 0) return all;
    all.append(text, 0, got);
  }
}

std::string Lines(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "{\"n\":" + std::to_string(i * 7919) + "}\n";
  return text;
}

TEST(ByteStream, ReadsPlainGzipAndZstdAlike) {
  const TestFolder folder;
  const std::string text = Lines(5000);
  for (const std::string& bytes : {text, Gzip(text), Zstd(text)}) {
    const auto read = ReadAll(folder.Write("a", bytes));
    ASSERT_TRUE(read.ok()) << read.error().message;
    EXPECT_EQ(*read, text);
  }
}

TEST(ByteStream, ReadsMembersOneAfterTheOther) {
  const TestFolder folder;
  const std::string a = Lines(100), b = Lines(3);
  EXPECT_EQ(*ReadAll(folder.Write("a.gz", Gzip(a) + Gzip("") + Gzip(b))), a + b);
  EXPECT_EQ(*ReadAll(folder.Write("a.zst", Zstd(a) + Zstd("") + Zstd(b)), 1 << 16), a + b);
}

TEST(ByteStream, NamesThePlaceWhereAnArchiveEnds) {
  const TestFolder folder;
  const std::string text = Lines(2000);
  for (const std::string& whole : {Gzip(text), Zstd(text)}) {
    const std::string path =
        folder.Write("cut", std::string_view(whole).substr(0, whole.size() / 2));
    const auto read = ReadAll(path);
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.error().kind, ErrorKind::kSourceUnavailable);
    EXPECT_EQ(read.error().place.input, path);
    EXPECT_NE(read.error().message.find("ends in the middle"), std::string::npos)
        << read.error().message;
  }
}

TEST(ByteStream, RefusesDamagedArchives) {
  const TestFolder folder;
  std::string bytes = Gzip(Lines(2000));
  bytes[bytes.size() - 6] ^= 0x55;  // inside the check sum
  const auto read = ReadAll(folder.Write("bad.gz", bytes));
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("is damaged"), std::string::npos);
}

TEST(ByteStream, TellsMissingFilesFromFolders) {
  const TestFolder folder;
  EXPECT_EQ(ReadAll(folder.Path("none")).error().kind, ErrorKind::kSourceUnavailable);
  EXPECT_EQ(ReadAll(folder.Path("")).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(*ReadAll(folder.Write("empty", "")), "");
}

}  // namespace
}  // namespace lastword::file
