/* The C interface from C99, on real Lance tables: what a host that is not C++ sees. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lastword/c.h"

static int failures = 0;
static int checks = 0;

#define CHECK(condition)                                                      \
  do {                                                                        \
    ++checks;                                                                 \
    if (!(condition)) {                                                       \
      ++failures;                                                             \
      fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition); \
    }                                                                         \
  } while (0)

/* Ends the test where an error makes what follows meaningless. */
static void Expect(int32_t result, lastword_error* error, int line) {
  ++checks;
  if (result == 0) return;
  fprintf(stderr, "%s:%d: %s\n", __FILE__, line,
          error != NULL ? lastword_error_message(error) : "an error without text");
  exit(1);
}
#define EXPECT(call) Expect((call), error, __LINE__)

static const char kColumns[] =
    "\"columns\": [{\"name\": \"id\", \"type\": \"int64\"},"
    " {\"name\": \"name\", \"type\": \"string\"}], \"key\": [\"id\"]";

typedef struct {
  uint8_t bytes[4096];
  size_t size;
  uint64_t rows;
} Encoded;

static void Put(Encoded* out, const void* bytes, size_t size) {
  memcpy(out->bytes + out->size, bytes, size);
  out->size += size;
}

/* One row of (id int64, name string); a null name is NULL. */
static void PutRow(Encoded* out, uint8_t kind, int64_t id, const char* name) {
  const uint8_t nulls = name == NULL ? 2 : 0;
  Put(out, &kind, 1);
  Put(out, &nulls, 1);
  Put(out, &id, sizeof id);
  if (name != NULL) {
    const uint32_t size = (uint32_t)strlen(name);
    Put(out, &size, sizeof size);
    Put(out, name, size);
  }
  ++out->rows;
}

static lastword_writer* OpenWriter(const char* columns) {
  lastword_error* error = NULL;
  lastword_writer* writer = NULL;
  char options[1024];
  snprintf(options, sizeof options, "{%s}", columns);
  EXPECT(lastword_writer_open(options, strlen(options), &writer, &error));
  return writer;
}

static lastword_table* OpenTable(const char* uri) {
  lastword_error* error = NULL;
  lastword_table* table = NULL;
  char options[1024];
  snprintf(options, sizeof options, "{%s, \"durability\": \"process\"}", kColumns);
  EXPECT(lastword_table_open(uri, strlen(uri), options, strlen(options), &table, &error));
  return table;
}

static lastword_bytes* Seal(lastword_writer* writer, const Encoded* rows) {
  lastword_error* error = NULL;
  lastword_bytes* batch = NULL;
  EXPECT(lastword_writer_add(writer, rows->bytes, rows->size, rows->rows, &error));
  EXPECT(lastword_writer_seal(writer, &batch, &error));
  return batch;
}

static lastword_commit_result Commit(lastword_table* table, const char* id, lastword_bytes* batch) {
  lastword_error* error = NULL;
  lastword_commit_result result;
  lastword_view view;
  memset(&result, 0, sizeof result);
  result.size = sizeof result;
  view.data = lastword_bytes_data(batch);
  view.size = lastword_bytes_size(batch);
  EXPECT(lastword_table_commit(table, id, strlen(id), &view, 1, &result, &error));
  return result;
}

typedef struct {
  uint64_t rows;
  int64_t ids;
  int64_t last_id;
} Seen;

static int32_t See(void* context, const uint8_t* encoded, size_t size, uint64_t rows) {
  Seen* seen = context;
  size_t at = 0;
  uint64_t i;
  for (i = 0; i < rows; ++i) {
    int64_t id;
    memcpy(&id, encoded + at + 2, sizeof id);
    at += 2 + sizeof id;
    seen->ids += id;
    seen->last_id = id;
    ++seen->rows;
  }
  CHECK(at == size);
  return 0;
}

static Seen Scan(const char* uri, uint64_t version) {
  lastword_error* error = NULL;
  Seen seen = {0, 0, 0};
  EXPECT(lastword_scan(uri, strlen(uri), version, "[\"id\"]", 6, See, &seen, &error));
  return seen;
}

/* The reduction matrix: what one checkpoint leaves of a key. */
static void TestMatrix(const char* folder) {
  static const struct {
    const char* name;
    uint8_t kinds[3];
    int count;
    uint64_t rows;
  } cases[] = {
      {"insert", {0}, 1, 1},
      {"update_after", {2}, 1, 1},
      {"delete", {3}, 1, 0},
      {"insert_delete", {0, 3}, 2, 0},
      {"delete_insert", {3, 0}, 2, 1},
      {"update_delete", {2, 3}, 2, 0},
      {"update_update", {2, 2}, 2, 1},
      {"delete_update", {3, 2}, 2, 1},
      {"before_after", {1, 2}, 2, 1},
      {"lone_before", {1}, 1, 0},
      {"insert_lone_before", {0, 1}, 2, 0},
      {"insert_before_after", {0, 1, 2}, 3, 1},
  };
  size_t i;
  for (i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char uri[512];
    int k;
    Encoded seed = {{0}, 0, 0};
    Encoded rows = {{0}, 0, 0};
    lastword_writer* writer = OpenWriter(kColumns);
    lastword_table* table;
    lastword_bytes* batch;
    snprintf(uri, sizeof uri, "%s/matrix_%s.lance", folder, cases[i].name);
    table = OpenTable(uri);
    PutRow(&seed, 0, 7, "seed");
    batch = Seal(writer, &seed);
    Commit(table, "seed", batch);
    lastword_bytes_free(batch);
    for (k = 0; k < cases[i].count; ++k) PutRow(&rows, cases[i].kinds[k], 7, "later");
    batch = Seal(writer, &rows);
    Commit(table, "matrix", batch);
    lastword_bytes_free(batch);
    if (Scan(uri, 0).rows != cases[i].rows) fprintf(stderr, "case %s\n", cases[i].name);
    CHECK(Scan(uri, 0).rows == cases[i].rows);
    lastword_table_close(table);
    lastword_writer_close(writer);
  }
}

static void TestCheckpoints(const char* folder) {
  char uri[512];
  lastword_error* error = NULL;
  lastword_writer* writer = OpenWriter(kColumns);
  lastword_table* table;
  lastword_bytes* batch;
  lastword_bytes* told = NULL;
  lastword_commit_result first, again;
  int32_t known = 7;
  Encoded rows = {{0}, 0, 0};
  snprintf(uri, sizeof uri, "%s/checkpoints.lance", folder);
  table = OpenTable(uri);
  EXPECT(lastword_table_last_checkpoint(table, &told, &error));
  CHECK(lastword_bytes_size(told) == 0);
  lastword_bytes_free(told);

  PutRow(&rows, 0, 1, "ann");
  PutRow(&rows, 0, 2, NULL);
  PutRow(&rows, 3, 1, NULL);
  batch = Seal(writer, &rows);
  first = Commit(table, "job/1", batch);
  CHECK(first.already_committed == 0);
  CHECK(first.rows_written == 1);
  CHECK(first.tombstones == 1);
  again = Commit(table, "job/1", batch);
  CHECK(again.already_committed == 1);
  CHECK(again.lance_version == first.lance_version);
  lastword_table_close(table);

  table = OpenTable(uri); /* the answer survives the handle */
  again = Commit(table, "job/1", batch);
  CHECK(again.already_committed == 1);
  CHECK(again.lance_version == first.lance_version);
  CHECK(Scan(uri, 0).rows == 1 && Scan(uri, 0).last_id == 2);
  EXPECT(lastword_table_knows_checkpoint(table, "job/1", 5, &known, &error));
  CHECK(known == 1);
  EXPECT(lastword_table_knows_checkpoint(table, "job/2", 5, &known, &error));
  CHECK(known == 0);
  EXPECT(lastword_table_last_checkpoint(table, &told, &error));
  CHECK(lastword_bytes_size(told) == 5 && memcmp(lastword_bytes_data(told), "job/1", 5) == 0);
  lastword_bytes_free(told);
  EXPECT(lastword_table_explain(table, "1", 1, "", 0, &told, &error));
  CHECK(strstr((const char*)lastword_bytes_data(told), "\"state\":\"deleted\"") != NULL);
  lastword_bytes_free(told);
  EXPECT(lastword_describe(uri, strlen(uri), 0, &told, &error));
  CHECK(strstr((const char*)lastword_bytes_data(told), "\"rows\":1") != NULL);
  lastword_bytes_free(told);
  lastword_bytes_free(batch);
  lastword_table_close(table);
  lastword_writer_close(writer);
}

/* Batches that share one buffer, as a host may hand them over. */
typedef struct {
  lastword_bytes* batches[3];
  size_t asked, count;
  uint8_t buffer[4096];
} Lender;

static int32_t Lend(void* context, size_t index, lastword_view* batch) {
  Lender* lender = context;
  CHECK(index == lender->asked);
  ++lender->asked;
  if (index >= lender->count) return 1;
  memset(lender->buffer, 0, sizeof lender->buffer);
  batch->data = lender->buffer;
  batch->size = lastword_bytes_size(lender->batches[index]);
  memcpy(lender->buffer, lastword_bytes_data(lender->batches[index]), batch->size);
  return 0;
}

static void TestBatchesOneByOne(const char* folder) {
  char uri[512];
  lastword_error* error = NULL;
  lastword_writer* writer = OpenWriter(kColumns);
  lastword_table* table;
  lastword_commit_result result;
  Lender lender;
  int64_t i;
  memset(&lender, 0, sizeof lender);
  memset(&result, 0, sizeof result);
  result.size = sizeof result;
  snprintf(uri, sizeof uri, "%s/lent.lance", folder);
  table = OpenTable(uri);
  for (i = 0; i < 3; ++i) {
    Encoded rows = {{0}, 0, 0};
    PutRow(&rows, 0, i, "own");
    PutRow(&rows, 0, 9, "shared");
    if (i == 2) PutRow(&rows, 3, 9, NULL);
    lender.batches[i] = Seal(writer, &rows);
  }
  lender.count = 2; /* the third is not given */
  CHECK(lastword_table_commit_from(table, "l/1", 3, 3, &Lend, &lender, &result, &error) == -1);
  CHECK(strcmp(lastword_error_kind(error), "usage") == 0);
  lastword_error_free(error);
  error = NULL;
  lastword_table_close(table);

  table = OpenTable(uri); /* nothing of it was committed */
  lender.asked = 0;
  lender.count = 3;
  EXPECT(lastword_table_commit_from(table, "l/1", 3, 3, &Lend, &lender, &result, &error));
  CHECK(lender.asked == 3 && result.already_committed == 0 && result.rows_written == 3);
  CHECK(Scan(uri, 0).rows == 3);
  lender.asked = 0;
  EXPECT(lastword_table_commit_from(table, "l/1", 3, 3, &Lend, &lender, &result, &error));
  CHECK(lender.asked == 0 && result.already_committed == 1);
  for (i = 0; i < 3; ++i) lastword_bytes_free(lender.batches[i]);
  lastword_table_close(table);
  lastword_writer_close(writer);
}

static void TestErrors(const char* folder) {
  char uri[512];
  lastword_error* error = NULL;
  lastword_writer* writer = NULL;
  lastword_table* table = NULL;
  lastword_table* second = NULL;
  lastword_view garbage;
  static const char kUnknown[] = "{\"colums\": []}";
  static const char kOther[] =
      "{\"columns\": [{\"name\": \"id\", \"type\": \"int32\"}], \"key\": [\"id\"]}";
  CHECK(lastword_writer_open(kUnknown, sizeof kUnknown - 1, &writer, &error) == -1);
  CHECK(strcmp(lastword_error_kind(error), "usage") == 0);
  CHECK(strcmp(lastword_error_class(error), "stop") == 0);
  CHECK(strstr(lastword_error_message(error), "colums") != NULL);
  lastword_error_free(error);
  CHECK(lastword_writer_open(kUnknown, sizeof kUnknown - 1, &writer, NULL) == -1);

  writer = OpenWriter(kColumns);
  CHECK(lastword_writer_add(writer, (const uint8_t*)"\x00\x00\x01", 3, 1, &error) == -1);
  CHECK(strcmp(lastword_error_kind(error), "usage") == 0);
  lastword_error_free(error);
  lastword_writer_close(writer);

  snprintf(uri, sizeof uri, "%s/checkpoints.lance", folder);
  table = OpenTable(uri);
  CHECK(lastword_table_open(uri, strlen(uri), "", 0, &second, &error) == -1);
  CHECK(strcmp(lastword_error_kind(error), "fenced_writer") == 0);
  lastword_error_free(error);
  garbage.data = (const uint8_t*)"LWSB";
  garbage.size = 4;
  CHECK(lastword_table_commit(table, "x", 1, &garbage, 1, NULL, &error) == -1);
  CHECK(strcmp(lastword_error_kind(error), "storage_corrupt") == 0);
  lastword_error_free(error);
  CHECK(lastword_table_commit(table, "x", 1, NULL, 0, NULL, &error) == -1); /* and stays so */
  lastword_error_free(error);
  lastword_table_close(table);
  table = NULL;
  CHECK(lastword_table_open(uri, strlen(uri), kOther, sizeof kOther - 1, &table, &error) == -1);
  CHECK(strcmp(lastword_error_kind(error), "schema_incompatible") == 0);
  CHECK(strstr(lastword_error_message(error), "column id") != NULL);
  lastword_error_free(error);
}

static void TestAppend(const char* folder) {
  static const char kAppend[] =
      "\"columns\": [{\"name\": \"id\", \"type\": \"int64\"},"
      " {\"name\": \"name\", \"type\": \"string\"}], \"append_key\": \"row_id\"";
  char uri[512];
  lastword_error* error = NULL;
  lastword_writer* writer = OpenWriter(kAppend);
  lastword_table* table = NULL;
  lastword_bytes* batch;
  Encoded rows = {{0}, 0, 0};
  snprintf(uri, sizeof uri, "%s/append.lance", folder);
  EXPECT(lastword_table_open(uri, strlen(uri), "", 0, &table, &error));
  PutRow(&rows, 0, 5, "same");
  PutRow(&rows, 0, 5, "same");
  batch = Seal(writer, &rows);
  Commit(table, "a/1", batch);
  CHECK(Commit(table, "a/1", batch).already_committed == 1);
  lastword_bytes_free(batch);
  batch = Seal(writer, &rows);
  Commit(table, "a/2", batch);
  lastword_bytes_free(batch);
  CHECK(Scan(uri, 0).rows == 4 && Scan(uri, 0).ids == 20);
  rows.size = rows.rows = 0;
  PutRow(&rows, 3, 5, "same");
  CHECK(lastword_writer_add(writer, rows.bytes, rows.size, rows.rows, &error) == -1);
  CHECK(strcmp(lastword_error_kind(error), "invalid_operation") == 0);
  lastword_error_free(error);
  lastword_table_close(table);
  lastword_writer_close(writer);
}

/* A host compiled against a younger header with a shorter struct gets what it knows. */
static void TestShortStruct(void) {
  struct {
    lastword_writer_stats stats;
    uint64_t behind;
  } held;
  Encoded rows = {{0}, 0, 0};
  lastword_error* error = NULL;
  lastword_writer* writer = OpenWriter(kColumns);
  memset(&held, 0xEE, sizeof held);
  held.stats.size = sizeof(size_t) + 2 * sizeof(uint64_t);
  PutRow(&rows, 0, 1, "a");
  PutRow(&rows, 0, 1, "b");
  EXPECT(lastword_writer_add(writer, rows.bytes, rows.size, rows.rows, &error));
  lastword_writer_get_stats(writer, &held.stats);
  CHECK(held.stats.keys_held == 1);
  CHECK(held.stats.rows_added == 0xEEEEEEEEEEEEEEEEu);
  held.stats.size = sizeof held.stats;
  lastword_writer_get_stats(writer, &held.stats);
  CHECK(held.stats.rows_added == 2 && held.stats.rows_collapsed == 1);
  CHECK(held.stats.suspected_inversions == 1);
  CHECK(held.behind == 0xEEEEEEEEEEEEEEEEu);
  lastword_writer_close(writer);
}

int main(int argc, char** argv) {
  char command[1024];
  if (argc != 2) {
    fprintf(stderr, "usage: %s FOLDER (is emptied)\n", argv[0]);
    return 2;
  }
  snprintf(command, sizeof command, "rm -rf '%s' && mkdir -p '%s'", argv[1], argv[1]);
  if (system(command) != 0) return 2;
  CHECK(strcmp(lastword_version(), "") != 0);
  TestMatrix(argv[1]);
  TestCheckpoints(argv[1]);
  TestBatchesOneByOne(argv[1]);
  TestErrors(argv[1]);
  TestAppend(argv[1]);
  TestShortStruct();
  printf("%d checks, %d failed\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
