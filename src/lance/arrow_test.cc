// Rows and schemas across the Arrow C data interface, without any library behind it.
#include <gmock/gmock.h>

#include <cstring>
#include <deque>
#include <thread>

#include "base/format.h"
#include "lance/arrow_export.h"
#include "lance/arrow_import.h"
#include "lance/arrow_schema.h"
#include "model/value_rows.h"
#include "test/status_matchers.h"

namespace lastword::lance {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

Type TypeOf(const char* text) {
  Result<Type> type = ParseType(text);
  EXPECT_THAT(type, IsOk());
  return *type;
}

Schema SchemaOf(const std::vector<const char*>& types) {
  Schema schema;
  for (const char* type : types) {
    schema.columns.push_back({.name = Message("c{}", schema.columns.size()), .type = TypeOf(type)});
  }
  return schema;
}

// An ArrowSchema that owns nothing, made of string literals.
struct ForeignSchema {
  std::deque<ArrowSchema> fields;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema root{};

  ArrowSchema& Add(const char* format, const char* name = "c", int64_t flags = 0) {
    ArrowSchema& field = fields.emplace_back();
    field.format = format;
    field.name = name;
    field.flags = flags;
    pointers.push_back(&field);
    root.format = "+s";
    root.name = "";
    root.n_children = static_cast<int64_t>(pointers.size());
    root.children = pointers.data();
    return field;
  }
};

TEST(ArrowSchemaTest, EveryTypeComesBack) {
  Schema schema = SchemaOf({"bool",           "int8",
                            "int16",          "int32",
                            "int64",          "uint8",
                            "uint16",         "uint32",
                            "uint64",         "float32",
                            "float64",        "decimal(38,10)",
                            "decimal(39,0)",  "string",
                            "bytes",          "date",
                            "time_us",        "timestamp_us",
                            "timestamptz_us", "uuid",
                            "json",           "list<list<decimal(50,5)>>",
                            "list<json>",     "vector(384)"});
  schema.columns[3].nullable = false;
  Released<ArrowSchema> exported;
  ASSERT_THAT(ExportSchema(schema, true, &exported.held), IsOk());
  const Result<Schema> imported = ImportSchema(exported.held);
  ASSERT_THAT(imported, IsOk());
  ASSERT_THAT(imported->columns, SizeIs(schema.columns.size()));
  for (size_t i = 0; i < schema.columns.size(); ++i) {
    EXPECT_EQ(imported->columns[i].name, schema.columns[i].name);
    EXPECT_EQ(imported->columns[i].type, schema.columns[i].type);
    EXPECT_EQ(imported->columns[i].nullable, schema.columns[i].nullable);
  }
  EXPECT_THAT(imported->key, IsEmpty());
}

TEST(ArrowSchemaTest, KeyIsLancesOnlyWithoutNulls) {
  Schema schema = SchemaOf({"int64", "string", "int64"});
  schema.key = {2, 0};
  schema.nullable_key = {false, false};
  for (const bool nullable : {false, true}) {
    schema.nullable_key[1] = nullable;
    schema.columns[2].nullable = false;
    schema.columns[0].nullable = nullable;
    Released<ArrowSchema> exported;
    ASSERT_THAT(ExportSchema(schema, true, &exported.held), IsOk());
    const char* metadata = exported.held.children[2]->metadata;
    ASSERT_NE(metadata, nullptr);
    int32_t entries = 0;
    std::memcpy(&entries, metadata, sizeof entries);
    EXPECT_EQ(entries, nullable ? 1 : 3) << "Lance refuses a nullable primary key";
    const Result<Schema> imported = ImportSchema(exported.held);
    ASSERT_THAT(imported, IsOk());
    EXPECT_THAT(imported->key, ElementsAre(2, 0));
    EXPECT_THAT(imported->nullable_key, ElementsAre(false, nullable));
  }
}

TEST(ArrowSchemaTest, LancesOlderKeyMarkIsRead) {
  ForeignSchema foreign;
  std::string metadata;
  const auto put = [&](const std::string& text) {
    const auto size = static_cast<int32_t>(text.size());
    metadata.append(reinterpret_cast<const char*>(&size), sizeof size);
    metadata += text;
  };
  metadata.append("\x01\0\0\0", 4);
  put("lance-schema:unenforced-primary-key");
  put("true");
  foreign.Add("u", "other");
  foreign.Add("l", "id").metadata = metadata.data();
  const Result<Schema> imported = ImportSchema(foreign.root);
  ASSERT_THAT(imported, IsOk());
  EXPECT_THAT(imported->key, ElementsAre(1));
}

TEST(ArrowSchemaTest, ANameThatLanceRefusesIsNamedWithItsRemedy) {
  Schema schema = SchemaOf({"int64", "int64"});
  schema.columns[1].name = "a.b";
  ArrowSchema exported{};
  const Status status = ExportSchema(schema, false, &exported);
  EXPECT_THAT(status, IsErrorIn(ErrorKind::kSchemaIncompatible, "a.b"));
  EXPECT_THAT(status.error().message, testing::HasSubstr("from: a.b"));
  EXPECT_EQ(exported.release, nullptr);
}

TEST(ArrowSchemaTest, WiderFormsOfOtherWritersAreOurTypes) {
  ForeignSchema foreign;
  foreign.Add("U", "a", ARROW_FLAG_NULLABLE);
  foreign.Add("Z", "b");
  foreign.Add("tsu:Europe/Vienna", "c");
  ArrowSchema item{};
  item.format = "U";
  item.name = "element";
  ArrowSchema* items[] = {&item};
  ArrowSchema& list = foreign.Add("+L", "d");
  list.n_children = 1;
  list.children = items;
  foreign.Add("L", "_rowaddr");
  const Result<Schema> imported = ImportSchema(foreign.root, "_rowaddr");
  ASSERT_THAT(imported, IsOk());
  ASSERT_THAT(imported->columns, SizeIs(4));
  EXPECT_EQ(ToString(imported->columns[0].type), "string");
  EXPECT_TRUE(imported->columns[0].nullable);
  EXPECT_EQ(ToString(imported->columns[1].type), "bytes");
  EXPECT_EQ(ToString(imported->columns[2].type), "timestamptz_us");
  EXPECT_EQ(ToString(imported->columns[3].type), "list<string>");
}

TEST(ArrowSchemaTest, ATypeThatIsNoneOfOursIsReportedWithItsColumn) {
  for (const char* format : {"n", "e", "tdm", "tts", "ttn", "tsn:", "tDm", "w:4", "+s", "+m",
                             "d:12,-2", "d:12,2,256", "d:12", "vu", ""}) {
    ForeignSchema foreign;
    foreign.Add("l", "fine");
    foreign.Add(format, "strange");
    EXPECT_THAT(ImportSchema(foreign.root), IsErrorIn(ErrorKind::kSchemaIncompatible, "strange"))
        << format;
  }
  ForeignSchema foreign;
  ArrowSchema words{};
  words.format = "u";
  foreign.Add("i", "coded").dictionary = &words;
  EXPECT_THAT(ImportSchema(foreign.root), IsErrorIn(ErrorKind::kSchemaIncompatible, "coded"));
}

// Exports, imports piece by piece, and releases.
Rows RoundTrip(const Schema& schema, const Rows& rows, uint64_t limit, size_t* pieces_made) {
  Released<ArrowSchema> exported;
  EXPECT_THAT(ExportSchema(schema, false, &exported.held), IsOk());
  const auto latch = std::make_shared<ExportLatch>();
  std::vector<ArrowArray> pieces;
  EXPECT_THAT(ExportRows(rows, latch, pieces, limit), IsOk());
  Rows imported(schema);
  for (ArrowArray& piece : pieces) {
    EXPECT_THAT(ImportRows(exported.held, piece, imported), IsOk());
    piece.release(&piece);
    EXPECT_EQ(piece.release, nullptr);
  }
  latch->Wait();
  *pieces_made = pieces.size();
  return imported;
}

TEST(ArrowRowsTest, PiecesStayWithinTheLimitAndLoseNothing) {
  const Schema schema = SchemaOf({"int64", "string", "list<string>", "bool", "vector(2)",
                                  "list<bool>", "list<list<bytes>>", "decimal(50,5)"});
  Rows rows(schema);
  for (int64_t i = 0; i < 300; ++i) {
    const auto text = Value(std::string(static_cast<size_t>(i % 40), 'x'));
    const Value nested = List{Value(List{Value(Bytes{"ab"}), Value()}), Value(List{})};
    const Row row = {{"c0", i},
                     {"c1", i % 7 == 0 ? Value() : text},
                     {"c2", i % 5 == 0 ? Value(List{}) : Value(List{text, Value(), "end"})},
                     {"c3", i % 3 == 0},
                     {"c4", i % 11 == 0 ? Value() : Value(List{0.5, double(i)})},
                     {"c5", List{i % 2 == 0, Value(), true}},
                     {"c6", i % 13 == 0 ? Value() : nested},
                     {"c7", Decimal{Message("-{}.00001", i)}}};
    ASSERT_THAT(AppendRow(schema, row, rows), IsOk());
  }
  for (const uint64_t limit : {kPieceLimit, uint64_t{1000}, uint64_t{100}}) {
    size_t pieces = 0;
    const Rows imported = RoundTrip(schema, rows, limit, &pieces);
    EXPECT_EQ(pieces == 1, limit == kPieceLimit);
    ASSERT_EQ(imported.size(), rows.size());
    for (size_t i = 0; i < rows.columns.size(); ++i) {
      EXPECT_EQ(imported.columns[i].raw_bytes(), rows.columns[i].raw_bytes()) << i;
      EXPECT_EQ(imported.columns[i].offsets(), rows.columns[i].offsets()) << i;
      for (uint64_t row = 0; row < rows.size(); ++row) {
        ASSERT_EQ(imported.columns[i].IsNull(row), rows.columns[i].IsNull(row)) << i << " " << row;
      }
    }
    EXPECT_EQ(imported.columns[6].child().child().raw_bytes(),
              rows.columns[6].child().child().raw_bytes());
  }
}

TEST(ArrowRowsTest, AValueBeyondTheLimitIsAnErrorAndNotALoop) {
  const Schema schema = SchemaOf({"string"});
  Rows rows(schema);
  rows.columns[0].AppendBytes("fits");
  rows.columns[0].AppendBytes("does not fit");
  const auto latch = std::make_shared<ExportLatch>();
  std::vector<ArrowArray> pieces;
  EXPECT_THAT(ExportRows(rows, latch, pieces, 10), IsError(ErrorKind::kOutOfRange));
  for (ArrowArray& piece : pieces) piece.release(&piece);
  latch->Wait();
}

TEST(ArrowRowsTest, ChildrenMovedOutByTheConsumerAreNotReleasedTwice) {
  const Schema schema = SchemaOf({"string", "int64"});
  Rows rows(schema);
  rows.columns[0].AppendBytes("a");
  rows.columns[1].AppendFixed(int64_t{1});
  const auto latch = std::make_shared<ExportLatch>();
  std::vector<ArrowArray> pieces;
  ASSERT_THAT(ExportRows(rows, latch, pieces), IsOk());
  ArrowArray moved = *pieces[0].children[0];
  pieces[0].children[0]->release = nullptr;
  pieces[0].release(&pieces[0]);
  EXPECT_EQ(static_cast<const char*>(moved.buffers[2])[0], 'a');
  moved.release(&moved);
}

TEST(ArrowRowsTest, TheLatchWaitsForAReleaseOnAnotherThread) {
  const Schema schema = SchemaOf({"int64"});
  Rows rows(schema);
  rows.columns[0].AppendFixed(int64_t{1});
  const auto latch = std::make_shared<ExportLatch>();
  std::vector<ArrowArray> pieces;
  ASSERT_THAT(ExportRows(rows, latch, pieces), IsOk());
  std::atomic<bool> is_released = false;
  std::thread consumer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    is_released = true;
    pieces[0].release(&pieces[0]);
  });
  latch->Wait();
  EXPECT_TRUE(is_released);
  consumer.join();
}

TEST(ArrowRowsTest, OffsetsOfSlicedArraysAreHonoured) {
  // A struct array sliced at 2, whose children start at 1: row i is value 3 + i.
  const uint8_t valid[] = {0b1110'1111};
  const uint8_t bits[] = {0b0011'1000};
  const int64_t offsets[] = {0, 1, 2, 3, 5, 5, 6};
  const char text[] = "abcdef";
  const void* bool_buffers[] = {valid, bits};
  const void* text_buffers[] = {nullptr, offsets, text};
  ArrowArray flag{.length = 6, .offset = 1, .n_buffers = 2, .buffers = bool_buffers};
  ArrowArray word{.length = 6, .offset = 1, .n_buffers = 3, .buffers = text_buffers};
  ArrowArray* children[] = {&flag, &word};
  const void* no_buffers[] = {nullptr};
  ArrowArray array{.length = 3,
                   .offset = 2,
                   .n_buffers = 1,
                   .n_children = 2,
                   .buffers = no_buffers,
                   .children = children};
  ForeignSchema foreign;
  foreign.Add("b");
  foreign.Add("U");
  Rows rows(SchemaOf({"bool", "string"}));
  ASSERT_THAT(ImportRows(foreign.root, array, rows), IsOk());
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows.columns[0].Fixed<uint8_t>(0), 1);
  EXPECT_TRUE(rows.columns[0].IsNull(1));
  EXPECT_EQ(rows.columns[0].Fixed<uint8_t>(2), 1);
  EXPECT_EQ(rows.columns[1].Bytes(0), "de");
  EXPECT_EQ(rows.columns[1].Bytes(1), "");
  EXPECT_EQ(rows.columns[1].Bytes(2), "f");
}

TEST(ArrowRowsTest, AnArrayOfAnotherTypeIsCorrupt) {
  const int64_t values[] = {1};
  const void* buffers[] = {nullptr, values};
  ArrowArray child{.length = 1, .n_buffers = 2, .buffers = buffers};
  ArrowArray* children[] = {&child};
  ArrowArray array{.length = 1, .n_children = 1, .children = children};
  ForeignSchema foreign;
  foreign.Add("l");
  for (const char* type : {"int32", "bool", "string", "list<int64>", "vector(2)", "uuid"}) {
    Rows rows(SchemaOf({type}));
    EXPECT_THAT(ImportRows(foreign.root, array, rows), IsError(ErrorKind::kStorageCorrupt)) << type;
  }
  Rows two(SchemaOf({"int64", "int64"}));
  EXPECT_THAT(ImportRows(foreign.root, array, two), IsError(ErrorKind::kStorageCorrupt));
  EXPECT_EQ(Uint64Values(foreign.root, array, 0), nullptr);
  EXPECT_EQ(Uint64Values(foreign.root, array, 1), nullptr);
}

}  // namespace
}  // namespace lastword::lance
