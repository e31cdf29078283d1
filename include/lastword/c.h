/* The C interface of Lastword, for hosts that are not C++ (C99).
 *
 * A writer takes changes as encoded rows, keeps one final state a key and seals what it has into a
 * batch of bytes; a table takes any number of sealed batches as one checkpoint, which it applies
 * exactly once. Writers need no table: they may run on other machines. Batches cross this
 * interface, single rows do not.
 *
 * Every function that can fail returns 0, or -1 and sets *error, which the caller frees with
 * lastword_error_free; `error` may be NULL. Nothing is thrown, printed or kept a thread. Texts are
 * UTF-8 with an explicit size; input is never retained. One handle is used by one thread at a time;
 * distinct handles are independent.
 *
 * Encoded rows, little-endian, one behind the other:
 *
 *   row     := kind:1 version? nulls value*
 *   kind    := 0 (+I) | 1 (-U) | 2 (+U) | 3 (-D)
 *   version := epoch:4 hi:8 mid:8 lo:8     only with "versions": "given"; unsigned
 *   nulls   := ceil(columns / 8) bytes     bit i % 8 of byte i / 8: column i is NULL
 *   value   := of each column that is not NULL, in the order of the schema, by its type:
 *     bool 1 byte, 0 or 1; int8-64, uint8-64, float32, float64 their width;
 *     date 4 (days); time_us, timestamp_us, timestamptz_us 8 (microseconds); uuid 16;
 *     decimal(p,s) 16 (32 above 38 digits), two's complement of value * 10^s;
 *     vector(n) 4 n; string, bytes, json size:4 and the bytes;
 *     list<t> count:4, nulls of its elements, then each element that is not NULL
 *
 * -U and -D need their key columns only (and the sequence columns, where there are some).
 *
 * Options are JSON objects; an unknown member is an error.
 *
 *   schema  : "columns": [{"name": "id", "type": "int64", "nullable": false}, ...]   (types: the
 *             text forms of docs/types.md), "key": ["id"]; or, for a table without a key,
 *             "append_key": NAME of a uuid column that the writer fills itself: it is not among
 *             "columns", and rows are +I only
 *   writer  : schema, "versions": "arrival" (default; within a key the last row wins) | "given" |
 *             {"columns": [up to 3 integer, date, time or timestamp columns], "deletes": "own"
 *             (default: -D and -U carry a sequence of their own) | "row" (they carry the sequence
 *             of the row that they remove, and rank just above it; up to 2 columns)},
 *             "sealed_bytes_max": cut what is sealed into batches of about this size, which are
 *             then compressed (default: never)
 *   table   : schema, "on_conflict": "fail" | "quarantine", "lone_update_before": "delete" |
 *             "drop" | "fail", "schema_evolution": "exception" | "evolve", "durability": "fsync" |
 *             "process", "storage_version", "memory_bytes_max", "compaction": true,
 *             "compaction_fragments", "keep_versions", "keep_seconds", "keep_ratio" (as the keys of
 *             docs/configuration.md), "read_only": false, "input": name under which the changes
 *             appear in errors
 */
#ifndef LASTWORD_C_H_
#define LASTWORD_C_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lastword_error lastword_error;
typedef struct lastword_bytes lastword_bytes;
typedef struct lastword_writer lastword_writer;
typedef struct lastword_table lastword_table;

/* "0.1.0". */
const char* lastword_version(void);

/* The kind ("version_conflict"), what a caller does about it ("stop", "retry", "reread", "look_up",
 * "fenced", "defect") and the whole message, which begins with the kind. They end with a zero and
 * live as long as the error. */
const char* lastword_error_kind(const lastword_error* error);
const char* lastword_error_class(const lastword_error* error);
const char* lastword_error_message(const lastword_error* error);
/* Frees an error. NULL is allowed, here and in the next one. */
void lastword_error_free(lastword_error* error);

/* Bytes that the library made; the caller frees them. */
const uint8_t* lastword_bytes_data(const lastword_bytes* bytes);
size_t lastword_bytes_size(const lastword_bytes* bytes);
void lastword_bytes_free(lastword_bytes* bytes);

/* A view of bytes that the caller owns. */
typedef struct lastword_view {
  const uint8_t* data;
  size_t size;
} lastword_view;

/* Writer ----------------------------------------------------------------------------------------
 */

/* Opens a writer: kinds usage, reserved_column. */
int32_t lastword_writer_open(const char* options, size_t options_size, lastword_writer** writer,
                             lastword_error** error);

/* Adds `rows` encoded rows that fill `encoded` exactly. On an error nothing behind the failing row
 * is added and the writer only answers errors. */
int32_t lastword_writer_add(lastword_writer* writer, const uint8_t* encoded, size_t encoded_size,
                            uint64_t rows, lastword_error** error);

/* What a writer holds and has seen. The caller sets `size` to sizeof of the struct it was compiled
 * with; fields that the library does not know stay as they are. */
typedef struct lastword_writer_stats {
  size_t size;
  uint64_t bytes_held;           /* for back-pressure: seal before this grows too large */
  uint64_t keys_held;            /* final states in the open batch */
  uint64_t rows_added;           /* since open */
  uint64_t rows_collapsed;       /* since open: superseded within their batch */
  uint64_t suspected_inversions; /* since open: orders that no changelog has, such as +I on a key
                                    that lives or -D on a key that is gone in the same batch */
} lastword_writer_stats;
/* Fills what the caller's struct has room for. */
void lastword_writer_get_stats(const lastword_writer* writer, lastword_writer_stats* stats);

/* Closes the open batch and starts the next. *batch is NULL when nothing was added. With
 * "sealed_bytes_max" it is the first of several: call again until *batch is NULL; each of them is a
 * batch, and all of them belong to one checkpoint. Their bytes may be stored and read by any later
 * version of the library. */
int32_t lastword_writer_seal(lastword_writer* writer, lastword_bytes** batch,
                             lastword_error** error);
/* Frees the writer; an open batch is dropped. NULL is allowed. */
void lastword_writer_close(lastword_writer* writer);

/* Table -----------------------------------------------------------------------------------------
 */

/* Opens `uri` ("…/orders.lance"), or prepares to create it with the first commit. Kinds: usage;
 * schema_incompatible, where the declared columns do not fit the stored ones; fenced_writer, where
 * another process holds the table; ledger_missing, positions_lost, storage_… */
int32_t lastword_table_open(const char* uri, size_t uri_size, const char* options,
                            size_t options_size, lastword_table** table, lastword_error** error);

/* What one commit did. `size` as in lastword_writer_stats. */
typedef struct lastword_commit_result {
  size_t size;
  uint64_t lance_version;
  uint64_t already_committed; /* 1: the checkpoint was known, nothing was changed */
  uint64_t rows_written, rows_deleted, bytes_written;
  uint64_t applied, stale, below_floor, repeat, conflict, quarantined; /* outcomes of this commit */
  uint64_t tombstones;                                                 /* kept by the table now */
} lastword_commit_result;

/* Applies the batches in order and commits them as checkpoint `id`, in one atomic step. A known id
 * changes nothing. After an error the handle only answers errors: nothing or everything was
 * committed; close it, open the table again and repeat the call with the same id and batches. */
int32_t lastword_table_commit(lastword_table* table, const char* id, size_t id_size,
                              const lastword_view* batches, size_t batch_count,
                              lastword_commit_result* result, lastword_error** error);

/* Sets *batch to batch `index` of a checkpoint; its bytes stay as they are until the next call.
 * Returns 0, or anything else to give up. */
typedef int32_t (*lastword_batch_source)(void* context, size_t index, lastword_view* batch);

/* lastword_table_commit for batches that need not be in memory together: `source` gives one behind
 * the other, on the thread of the caller, and none where the checkpoint is known. Where it gives up
 * the call fails like after any error. */
int32_t lastword_table_commit_from(lastword_table* table, const char* id, size_t id_size,
                                   size_t batch_count, lastword_batch_source source, void* context,
                                   lastword_commit_result* result, lastword_error** error);

/* Sets *known to 1 where checkpoint `id` is committed, else to 0. */
int32_t lastword_table_knows_checkpoint(lastword_table* table, const char* id, size_t id_size,
                                        int32_t* known, lastword_error** error);

/* The id of the newest committed checkpoint; no bytes where there is none. */
int32_t lastword_table_last_checkpoint(lastword_table* table, lastword_bytes** id,
                                       lastword_error** error);

/* One JSON object about one key, which is given as the command line takes it; `version`
 * ("epoch/hi/mid/lo", may be empty) asks what a change of that version would get. */
int32_t lastword_table_explain(lastword_table* table, const char* key, size_t key_size,
                               const char* version, size_t version_size, lastword_bytes** json,
                               lastword_error** error);

/* Lets the table go; nothing that was not committed is kept. NULL is allowed. */
void lastword_table_close(lastword_table* table);

/* Reading ---------------------------------------------------------------------------------------
 */
/* These read the visible table alone: no lock, no ledger, no key index. `version` 0 is the latest.
 */

/* {"exists": true, "lance_version": 7, "rows": 3, "columns": […], "key": […]}; {"exists": false}
 * where there is no table. */
int32_t lastword_describe(const char* uri, size_t uri_size, uint64_t version, lastword_bytes** json,
                          lastword_error** error);

/* Takes encoded rows (kind +I, no version, columns as asked). Returning non-zero ends the scan. */
typedef int32_t (*lastword_scan_sink)(void* context, const uint8_t* encoded, size_t encoded_size,
                                      uint64_t rows);

/* Reads the live rows of a version in storage order: the same order every time. `columns` is a
 * JSON array of column names. */
int32_t lastword_scan(const char* uri, size_t uri_size, uint64_t version, const char* columns,
                      size_t columns_size, lastword_scan_sink sink, void* context,
                      lastword_error** error);

#ifdef __cplusplus
}
#endif

#endif /* LASTWORD_C_H_ */
