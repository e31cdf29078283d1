#include "capi/row_codec.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "capi/options.h"
#include "capi/test_rows.h"
#include "model/key.h"
#include "test/status_matchers.h"

namespace lastword::capi {
namespace {

Schema EveryType() {
  Schema schema;
  for (const char* type : {"bool",
                           "int8",
                           "int16",
                           "int32",
                           "int64",
                           "uint8",
                           "uint16",
                           "uint32",
                           "uint64",
                           "float32",
                           "float64",
                           "decimal(12,2)",
                           "decimal(60,3)",
                           "string",
                           "bytes",
                           "date",
                           "time_us",
                           "timestamp_us",
                           "timestamptz_us",
                           "uuid",
                           "json",
                           "list<string>",
                           "list<list<int32>>",
                           "vector(3)"}) {
    Column column;
    column.name = std::string("c") + std::to_string(schema.columns.size());
    column.type = *ParseType(type);
    schema.columns.push_back(column);
  }
  schema.key = {4};
  return schema;
}

// A row of values that are small and positive, so that every type holds them.
void AppendSome(ColumnData& column, Random& random) {
  const Type& type = column.type();
  if (type.kind == TypeKind::kList) {
    const uint64_t count = random.Below(4);
    for (uint64_t i = 0; i < count; ++i) {
      if (random.OneIn(3)) {
        column.child().AppendNull();
      } else {
        AppendSome(column.child(), random);
      }
    }
    column.AppendList(count);
  } else if (FixedWidth(type) == 0) {
    column.AppendBytes(std::string(random.Below(9), 'x'));
  } else {
    std::string bytes(FixedWidth(type), '\0');
    bytes[0] = static_cast<char>(random.Below(2));
    column.AppendFixedBytes(bytes.data());
  }
}

TEST(RowCodec, EveryTypeComesBack) {
  const Schema schema = EveryType();
  Random random(7);
  Rows rows(schema);
  for (int i = 0; i < 200; ++i) {
    for (size_t c = 0; c < rows.columns.size(); ++c) {
      if (c != 4 && random.OneIn(4)) {
        rows.columns[c].AppendNull();
      } else {
        AppendSome(rows.columns[c], random);
      }
    }
  }
  std::string encoded;
  for (uint64_t row = 0; row < rows.size(); ++row) AppendEncodedRow(rows, row, encoded);
  Rows back(schema);
  RowReader reader(schema, schema.columns.size(), false);
  std::string_view rest = encoded;
  RowKind kind;
  Version version;
  for (uint64_t row = 0; row < rows.size(); ++row)
    ASSERT_TRUE(reader.Read(rest, back, kind, version).ok());
  EXPECT_TRUE(rest.empty());
  std::string again;
  for (uint64_t row = 0; row < back.size(); ++row) AppendEncodedRow(back, row, again);
  EXPECT_EQ(again, encoded);
}

// Every prefix, and every byte set to every of a few values: an error or a row, and never a change
// of what was read before.
TEST(RowCodec, BrokenBytesAreErrors) {
  const Schema schema = EveryType();
  Random random(11);
  Rows rows(schema);
  for (ColumnData& column : rows.columns) AppendSome(column, random);
  std::string encoded;
  AppendEncodedRow(rows, 0, encoded);
  RowReader reader(schema, schema.columns.size(), false);
  RowKind kind;
  Version version;
  for (size_t size = 0; size < encoded.size(); ++size) {
    Rows back(schema);
    std::string_view rest = std::string_view(encoded).substr(0, size);
    EXPECT_FALSE(reader.Read(rest, back, kind, version).ok()) << size;
    for (const ColumnData& column : back.columns) EXPECT_EQ(column.size(), 0u);
  }
  for (size_t i = 0; i < encoded.size(); ++i) {
    for (const int value : {0, 1, 2, 4, 127, 128, 255}) {
      std::string bent = encoded;
      bent[i] = static_cast<char>(value);
      Rows back(schema);
      std::string_view rest = bent;
      const bool ok = reader.Read(rest, back, kind, version).ok();
      for (const ColumnData& column : back.columns) EXPECT_EQ(column.size(), ok ? 1u : 0u);
    }
  }
}

// Of each row, whole or bent: the same verdict, as many bytes, the same key.
TEST(RowCodec, TheKeyAloneIsReadAsTheRow) {
  Schema schema = EveryType();
  schema.key = {13, 4};
  Random random(13);
  Rows rows(schema);
  for (ColumnData& column : rows.columns) AppendSome(column, random);
  std::string encoded;
  AppendEncodedRow(rows, 0, encoded);
  RowReader reader(schema, schema.columns.size(), false);
  const Schema& key_schema = reader.KeySchema();
  int read = 0, refused = 0;
  for (size_t i = 0; i < encoded.size(); ++i) {
    for (const int value : {static_cast<int>(encoded[i]), 0, 1, 3, 128, 255}) {
      std::string bent = encoded;
      bent[i] = static_cast<char>(value);
      std::string_view rest = bent, key_rest = bent;
      Rows whole(schema), keys(key_schema);
      RowKind kind{}, key_kind{};
      Version version;
      const Status status = reader.Read(rest, whole, kind, version);
      const Status key_status = reader.ReadKey(key_rest, keys, key_kind, version);
      ASSERT_EQ(key_status.ok(), status.ok()) << i;
      EXPECT_EQ(key_rest.size(), rest.size());
      ASSERT_EQ(keys.columns.size(), 2u);
      for (const ColumnData& column : keys.columns) EXPECT_EQ(column.size(), status.ok() ? 1u : 0u);
      if (!status.ok()) {
        ++refused;
        EXPECT_EQ(ToString(key_status.error()), ToString(status.error()));
        continue;
      }
      ++read;
      EXPECT_EQ(key_kind, kind);
      std::string of_row, of_key;
      const bool has_key = AppendKey(schema, whole, 0, of_row).ok();
      EXPECT_EQ(AppendKey(key_schema, keys, 0, of_key).ok(), has_key);
      EXPECT_EQ(of_key, of_row);
    }
  }
  EXPECT_GT(read, 100);
  EXPECT_GT(refused, 100);
}

Schema Kv() {
  return ParseDeclaredSchema(*ParseJson(R"({"columns": [
      {"name": "k", "type": "int64"}, {"name": "v", "type": "string", "nullable": false}],
      "key": ["k"]})"))
      ->schema;
}

TEST(RowCodec, NullsWhereNoneMayBe) {
  const Schema schema = Kv();
  RowReader reader(schema, 2, false);
  Rows rows(schema);
  RowKind kind;
  Version version;
  const std::string upsert = KvRow(kI, 1, {});
  std::string_view rest = upsert;
  const Status refused = reader.Read(rest, rows, kind, version);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kTypeMismatch);
  EXPECT_EQ(refused.error().place.column, "v");
  // A delete names its key only.
  const std::string removal = KvRow(kD, 1, {});
  rest = removal;
  EXPECT_TRUE(reader.Read(rest, rows, kind, version).ok());
  EXPECT_EQ(kind, RowKind::kDelete);
}

TEST(RowCodec, GivenVersions) {
  const Schema schema = Kv();
  RowReader reader(schema, 2, true);
  Rows rows(schema);
  RowKind kind;
  Version version;
  const std::string plain = KvRow(kUa, 1, "x");
  const std::string row = plain.substr(0, 1) + Raw(uint32_t{1}) + Raw(uint64_t{2}) +
                          Raw(uint64_t{3}) + Raw(uint64_t{4}) + plain.substr(1);
  std::string_view rest = row;
  ASSERT_TRUE(reader.Read(rest, rows, kind, version).ok());
  EXPECT_EQ(version, (Version{1, 2, 3, 4}));
  EXPECT_TRUE(rest.empty());
}

TEST(RowCodec, TextThatIsNoUtf8) {
  const Schema schema = Kv();
  RowReader reader(schema, 2, false);
  Rows rows(schema);
  RowKind kind;
  Version version;
  const std::string row = KvRow(kI, 1, "\xFF");
  std::string_view rest = row;
  const Status refused = reader.Read(rest, rows, kind, version);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, ErrorKind::kTypeMismatch);
}

}  // namespace
}  // namespace lastword::capi
