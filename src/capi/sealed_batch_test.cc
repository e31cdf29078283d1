#include "capi/sealed_batch.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "base/hash.h"
#include "base/random.h"
#include "capi/batch_writer.h"
#include "capi/test_rows.h"
#include "source/packing.h"
#include "test/status_matchers.h"

namespace lastword::capi {
namespace {

// One of each format, written when it was the newest: they hold what MakeBatch makes.
constexpr const char* kSamples[] = {LW_TESTDATA "/sealed_batch/format1.bin",
                                    LW_TESTDATA "/sealed_batch/format2.bin"};
constexpr size_t kFormatAt = 4;
constexpr size_t kContentSizeAt = 24;  // of format 2; its frame follows

Result<SealedChanges> DecodeSealed(std::string_view bytes) {
  SealedChanges sealed;
  LW_RETURN_IF_ERROR(SealedDecoder().Decode(bytes, sealed));
  return sealed;
}

std::string MakeBatch() {
  BatchWriter writer(*ParseWriterOptions(R"({"columns": [
      {"name": "k", "type": "int64"}, {"name": "v", "type": "string"},
      {"name": "tags", "type": "list<string>"}, {"name": "seq", "type": "int64"}], "key": ["k"],
      "versions": {"columns": ["seq"]}})"));
  const auto text = [](const std::string& t) { return Raw(static_cast<uint32_t>(t.size())) + t; };
  const std::string tags = Raw(uint32_t{3}) + '\2' + text("x") + text("yy");
  const std::string rows = std::string(1, kI) + '\0' + Raw(int64_t{1}) + text("ann") + tags +
                           Raw(int64_t{10}) + std::string(1, kUa) + '\6' + Raw(int64_t{2}) +
                           Raw(int64_t{11}) + std::string(1, kD) + '\6' + Raw(int64_t{3}) +
                           Raw(int64_t{12}) + std::string(1, kUb) + '\6' + Raw(int64_t{4}) +
                           Raw(int64_t{13});
  EXPECT_THAT(writer.Add(rows, 4), IsOk());
  return *writer.Seal();
}

void ExpectSample(const std::string& bytes) {
  const auto sealed = DecodeSealed(bytes);
  ASSERT_THAT(sealed, IsOk());
  EXPECT_FALSE(sealed->arrival);
  EXPECT_EQ(sealed->id.size(), 16u);
  ASSERT_EQ(sealed->schema.columns.size(), 4u);
  EXPECT_EQ(ToString(sealed->schema.columns[2].type), "list<string>");
  EXPECT_EQ(sealed->schema.key, std::vector<uint32_t>{0});
  const ChangeBatch& changes = sealed->changes;
  ASSERT_EQ(changes.heads.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(changes.KeyOf(changes.heads[i]), "\1i" + Raw(static_cast<int64_t>(i + 1)));
    EXPECT_EQ(changes.heads[i].version.hi, (uint64_t{1} << 63) + 10 + i);
    EXPECT_EQ(changes.heads[i].key, Hash128(changes.KeyOf(changes.heads[i])));
  }
  EXPECT_EQ(changes.heads[0].kind, Kind::kUpsert);
  EXPECT_EQ(changes.heads[1].kind, Kind::kUpsert);
  EXPECT_EQ(changes.heads[2].kind, Kind::kDelete);
  EXPECT_EQ(changes.heads[2].flags, 0);
  EXPECT_EQ(changes.heads[3].flags, kUpdateBefore);
  ASSERT_EQ(changes.rows.size(), 2u);
  EXPECT_EQ(changes.rows.columns[1].Bytes(0), "ann");
  EXPECT_TRUE(changes.rows.columns[1].IsNull(1));
  const ColumnData& tags = changes.rows.columns[2];
  ASSERT_EQ(tags.ListRange(0).second, 3u);
  EXPECT_EQ(tags.child().Bytes(0), "x");
  EXPECT_TRUE(tags.child().IsNull(1));
  EXPECT_EQ(tags.child().Bytes(2), "yy");
  EXPECT_TRUE(tags.IsNull(1));
  Digester digester(sealed->schema);
  EXPECT_EQ(changes.heads[0].digest, digester.Digest(changes.rows, 0, {}, {}));
}

TEST(SealedBatch, ComesBack) {
  ExpectSample(MakeBatch());
}

TEST(SealedBatch, EveryFormatIsReadForEver) {
  for (size_t i = 0; i < std::size(kSamples); ++i) {
    const auto bytes = ReadWholeFile(kSamples[i]);
    ASSERT_THAT(bytes, IsOk());
    EXPECT_EQ(static_cast<size_t>((*bytes)[kFormatAt]), i + 1);
    ExpectSample(*bytes);
  }
}

TEST(SealedBatch, EveryCutAndEveryFlipIsAnError) {
  const std::string bytes = MakeBatch();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(DecodeSealed(std::string_view(bytes).substr(0, size)).ok()) << size;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string bent = bytes;
    bent[i] ^= 0x40;
    EXPECT_FALSE(DecodeSealed(bent).ok()) << i;
  }
}

std::string WithDigest(std::string bytes) {
  return bytes + Raw(Hash64(bytes));
}

std::string Bent(std::string bytes, size_t from, Random& random) {
  for (uint64_t flips = 1 + random.Below(3); flips > 0; --flips) {
    bytes[from + random.Below(bytes.size() - from)] = static_cast<char>(random.Below(256));
  }
  return bytes;
}

// With a digest that fits, the bytes themselves are looked at: no crash, whatever they say.
TEST(SealedBatch, WrongBytesUnderARightDigest) {
  Random random(5);
  for (const char* sample : kSamples) {
    std::string bytes = *ReadWholeFile(sample);
    bytes.resize(bytes.size() - sizeof(uint64_t));
    for (int i = 0; i < 20000; ++i) {
      (void)DecodeSealed(WithDigest(Bent(bytes, kFormatAt + 2, random))).ok();
    }
  }
}

TEST(SealedBatch, WrongContentInARightFrame) {
  Random random(6);
  const std::string bytes = MakeBatch();
  uint64_t size = 0;
  std::memcpy(&size, &bytes[kContentSizeAt], sizeof size);
  const size_t frame_at = kContentSizeAt + sizeof size;
  ByteBuffer unpacked;
  ASSERT_TRUE(
      Unpack(std::string_view(bytes).substr(frame_at, bytes.size() - frame_at - sizeof(uint64_t)),
             size, unpacked));
  const std::string content(unpacked.view());
  Packer packer;
  const auto sealed = [&](const std::string& inside) {
    ByteBuffer frame;
    EXPECT_THAT(packer.Pack(inside, frame), IsOk());
    return WithDigest(bytes.substr(0, kContentSizeAt) + Raw(uint64_t{inside.size()}) +
                      std::string(frame.view()));
  };
  ExpectSample(sealed(content));
  for (size_t end = 0; end < content.size(); ++end) {
    EXPECT_FALSE(DecodeSealed(sealed(content.substr(0, end))).ok()) << end;
  }
  for (int i = 0; i < 20000; ++i) (void)DecodeSealed(sealed(Bent(content, 0, random))).ok();
}

TEST(SealedBatch, ALaterFormatIsRefused) {
  std::string bytes = MakeBatch();
  bytes[kFormatAt] = 3;
  EXPECT_THAT(DecodeSealed(bytes), IsError(ErrorKind::kUnsupportedFormat));
}

}  // namespace
}  // namespace lastword::capi
