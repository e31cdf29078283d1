// Lines come whole, whatever the chunk is, and readable bytes follow them.
#include "source/file/line_reader.h"

#include <gtest/gtest.h>

#include "codec/decoder.h"
#include "source/file/test_files.h"

namespace lastword::file {
namespace {

// Reads everything and checks that each piece consists of whole lines.
std::string ReadAll(LineReader& reader, uint64_t lines_max = UINT64_MAX) {
  std::string all;
  while (true) {
    const auto lines = reader.Peek(lines_max);
    EXPECT_TRUE(lines.ok());
    if (!lines.ok() || lines->bytes.empty()) return all;
    EXPECT_TRUE(lines->last || lines->bytes.back() == '\n');
    uint64_t sum = 0;
    for (size_t i = 0; i < codec::kPaddingBytes; ++i) {
      sum += static_cast<unsigned char>(lines->bytes.data()[lines->bytes.size() + i]);
    }
    EXPECT_LE(sum, 255 * codec::kPaddingBytes);
    all += lines->bytes;
    reader.Consume(lines->bytes.size());
  }
}

TEST(LineReader, GivesWholeLinesForEveryChunkSize) {
  const TestFolder folder;
  const std::string text = "a\n\nlonger line\nb\nand a last one without newline";
  const std::string path = folder.Write("a", text);
  for (size_t chunk = 1; chunk < 60; ++chunk) {
    LineReader reader(std::move(*OpenByteStream(path)), chunk);
    EXPECT_EQ(ReadAll(reader), text) << chunk;
    LineReader by_line(std::move(*OpenByteStream(path)), chunk);
    EXPECT_EQ(ReadAll(by_line, 1), text) << chunk;
  }
}

TEST(LineReader, GivesItsMemoryAway) {
  const TestFolder folder;
  const std::string text = "a\n\nlonger line\nb\n" + std::string(300, 'x') + "\nthe end";
  const std::string path = folder.Write("a", text);
  for (size_t chunk = 1; chunk < 60; ++chunk) {
    LineReader reader(std::move(*OpenByteStream(path)), chunk);
    std::vector<LineBuffer> taken;
    for (bool spare = false;; spare = !spare) {
      const auto lines = reader.Peek(UINT64_MAX);
      ASSERT_TRUE(lines.ok());
      if (lines->bytes.empty()) break;
      // Sometimes less than all of it, and sometimes memory that was used before.
      size_t bytes = lines->bytes.size();
      if (taken.size() % 3 == 2) bytes = lines->bytes.find('\n') + 1;
      if (bytes == 0) bytes = lines->bytes.size();
      LineBuffer used;
      if (spare) {
        used.memory = std::make_unique<char[]>(chunk + codec::kPaddingBytes);
        used.capacity = chunk;
      }
      taken.push_back(reader.TakeAway(bytes, std::move(used)));
    }
    std::string all;
    for (const LineBuffer& buffer : taken) {
      EXPECT_LE(buffer.begin + buffer.size, buffer.capacity);
      all += buffer.bytes();
    }
    EXPECT_EQ(all, text) << chunk;
  }
}

TEST(LineReader, LimitsLines) {
  const TestFolder folder;
  LineReader reader(std::move(*OpenByteStream(folder.Write("a", "1\n2\n3\n4"))));
  EXPECT_EQ(reader.Peek(2)->bytes, "1\n2\n");
  EXPECT_FALSE(reader.Peek(2)->last);
  EXPECT_EQ(reader.Peek(4)->bytes, "1\n2\n3\n4");
  EXPECT_TRUE(reader.Peek(4)->last);
}

TEST(LineReader, GrowsForALongLine) {
  const TestFolder folder;
  const std::string text = "short\n" + std::string(9 << 20, 'x') + "\nend\n";
  LineReader reader(std::move(*OpenByteStream(folder.Write("a", text))), 1 << 10);
  EXPECT_EQ(ReadAll(reader), text);
}

TEST(LineReader, GivesTheLinesBeforeAnErrorFirst) {
  const TestFolder folder;
  std::string text;
  for (int i = 0; i < 9000; ++i) text += std::to_string(i * 7919) + "\n";
  const std::string whole = Gzip(text);
  LineReader reader(std::move(*OpenByteStream(folder.Write(
                        "cut.gz", std::string_view(whole).substr(0, whole.size() / 2)))),
                    1 << 10);
  std::string all;
  while (true) {
    const auto lines = reader.Peek(UINT64_MAX);
    if (!lines.ok()) break;
    ASSERT_FALSE(lines->bytes.empty());
    all += lines->bytes;
    reader.Consume(lines->bytes.size());
  }
  EXPECT_GT(all.size(), text.size() / 4);
  EXPECT_EQ(all, text.substr(0, all.size()));
}

}  // namespace
}  // namespace lastword::file
