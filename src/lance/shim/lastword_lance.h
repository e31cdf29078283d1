/* The C ABI of liblastword_lance: Lance datasets, opened and changed one version at a time.
 *
 * Rules, once for all calls:
 * - A call returns NULL when it did what it says, else an error that the caller frees. It never
 *   throws, never aborts, and keeps nothing of its arguments except where said.
 * - A dataset or a scan is used by one thread at a time; distinct ones are independent. A call
 *   blocks.
 * - Rows cross as the Arrow C data interface. What goes in is moved (its release callback becomes
 *   the library's duty, on any thread, before or after the call returns); what comes out belongs
 *   to the caller.
 * - Pointers that come out inside structures point into the dataset and hold until its next call.
 * - Opening commits nothing. A commit becomes exactly the announced version or nothing at all.
 */
#ifndef LASTWORD_LANCE_H_
#define LASTWORD_LANCE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ArrowSchema;
struct ArrowArray;

typedef struct lastword_lance_dataset lastword_lance_dataset;
typedef struct lastword_lance_scan lastword_lance_scan;
typedef struct lastword_lance_compaction lastword_lance_compaction;
typedef struct lastword_lance_write lastword_lance_write;
typedef struct lastword_lance_error lastword_lance_error;

enum lastword_lance_error_class {
  /* Another commit took the version, or rewrote what this one builds upon. Nothing is visible. */
  LASTWORD_LANCE_CONFLICT = 1,
  /* The commit may be visible: look for its transaction id before anything else. */
  LASTWORD_LANCE_OUTCOME_UNKNOWN = 2,
  LASTWORD_LANCE_IO = 3,
  LASTWORD_LANCE_DISK_FULL = 4,
  LASTWORD_LANCE_NOT_FOUND = 5,
  LASTWORD_LANCE_ALREADY_EXISTS = 6,
  /* The call makes no sense for this dataset. */
  LASTWORD_LANCE_INVALID = 7,
  LASTWORD_LANCE_CORRUPT = 8,
  LASTWORD_LANCE_PANIC = 9,
  LASTWORD_LANCE_INTERNAL = 10,
  /* The dataset, or the kind of storage, is one that this library does not work with. */
  LASTWORD_LANCE_UNSUPPORTED = 11
};

/* UTF-8, not terminated by zero. */
typedef struct {
  const char* data;
  size_t size;
} lastword_lance_text;

typedef struct {
  lastword_lance_text key;
  lastword_lance_text value;
} lastword_lance_property;

typedef struct {
  const lastword_lance_property* data;
  size_t size;
} lastword_lance_properties;

typedef struct {
  int32_t fsync; /* sync files and folders before a manifest appears, and the manifest */
  lastword_lance_text storage_version; /* "2.2"; used by create only */
  uint64_t cache_bytes;                /* for Lance's metadata and index caches together */
} lastword_lance_options;

typedef struct {
  uint64_t id;
  uint64_t physical_rows;
  uint64_t deleted_rows;
  uint64_t bytes;     /* of its data files; 0 where they are not known */
  uint64_t index_set; /* equal in fragments that the same indices cover, 0 where none does; not
                         known of new fragments */
} lastword_lance_fragment;

typedef struct {
  lastword_lance_text name;
  lastword_lance_text column;
  uint64_t unindexed_rows; /* live rows that it does not cover */
} lastword_lance_index;

typedef struct {
  uint64_t version;
  int64_t timestamp_ms;
  uint64_t restored_version;     /* of a Restore, else 0 */
  lastword_lance_text operation; /* "Update"; empty where the transaction is not kept */
  lastword_lance_text transaction_id;
  lastword_lance_properties properties;
} lastword_lance_version;

typedef struct {
  uint64_t version;
  const lastword_lance_fragment* new_fragments; /* in the order of their rows */
  size_t new_fragments_size;
  uint64_t bytes_written; /* data, deletion and transaction files; 0 on remote storage */
} lastword_lance_receipt;

int32_t lastword_lance_error_get_class(const lastword_lance_error* error);
lastword_lance_text lastword_lance_error_get_message(const lastword_lance_error* error);
void lastword_lance_error_free(lastword_lance_error* error);

/* NOT_FOUND where there is no dataset. */
lastword_lance_error* lastword_lance_open(lastword_lance_text uri,
                                          const lastword_lance_options* options,
                                          lastword_lance_dataset** out);
/* Makes version 1 without rows. Moves `schema`. ALREADY_EXISTS if there is a dataset. */
lastword_lance_error* lastword_lance_create(lastword_lance_text uri, struct ArrowSchema* schema,
                                            lastword_lance_properties properties,
                                            lastword_lance_text transaction_id,
                                            const lastword_lance_options* options,
                                            lastword_lance_dataset** out);
void lastword_lance_close(lastword_lance_dataset* dataset);

uint64_t lastword_lance_get_version(const lastword_lance_dataset* dataset);
lastword_lance_error* lastword_lance_get_schema(lastword_lance_dataset* dataset,
                                                struct ArrowSchema* out);
/* In address order. */
lastword_lance_error* lastword_lance_get_fragments(lastword_lance_dataset* dataset,
                                                   const lastword_lance_fragment** out,
                                                   size_t* out_size);

lastword_lance_error* lastword_lance_refresh(lastword_lance_dataset* dataset);
lastword_lance_error* lastword_lance_latest(lastword_lance_dataset* dataset, uint64_t* out);
lastword_lance_error* lastword_lance_checkout(lastword_lance_dataset* dataset, uint64_t version);
/* Ascending. */
lastword_lance_error* lastword_lance_versions(lastword_lance_dataset* dataset, const uint64_t** out,
                                              size_t* out_size);
lastword_lance_error* lastword_lance_describe(lastword_lance_dataset* dataset, uint64_t version,
                                              lastword_lance_version* out);
/* The version whose transaction has this id, looking back from the latest to `from_version`; 0 =
 * none. */
lastword_lance_error* lastword_lance_find_transaction(lastword_lance_dataset* dataset,
                                                      lastword_lance_text id, uint64_t from_version,
                                                      uint64_t* out);

/* Live rows, `_rowaddr` (uint64) behind the columns; of some fragments only, unless
 * `fragments_size` is 0. `in_order`: by address, else the pieces come as they are ready. The
 * dataset may change or close meanwhile: a scan keeps its version. */
lastword_lance_error* lastword_lance_scan_open(lastword_lance_dataset* dataset,
                                               const lastword_lance_text* columns,
                                               size_t columns_size, const uint64_t* fragments,
                                               size_t fragments_size, size_t batch_rows,
                                               int32_t in_order, struct ArrowSchema* out_schema,
                                               lastword_lance_scan** out);
/* The next struct array; one without release callback at the end. */
lastword_lance_error* lastword_lance_scan_next(lastword_lance_scan* scan, struct ArrowArray* out);
void lastword_lance_scan_close(lastword_lance_scan* scan);

/* Receives the pieces of a take in order. Takes each array over; nonzero ends the call without
 * error. */
typedef int32_t (*lastword_lance_piece)(void* context, struct ArrowArray* array);
/* Rows at `addresses`, in that order, repetitions included. A deleted row of a kept fragment is
 * read too. */
lastword_lance_error* lastword_lance_take(lastword_lance_dataset* dataset,
                                          const uint64_t* addresses, size_t addresses_size,
                                          const lastword_lance_text* columns, size_t columns_size,
                                          struct ArrowSchema* out_schema,
                                          lastword_lance_piece piece, void* context);

typedef struct {
  uint64_t expected_version;
  struct ArrowSchema* rows_schema; /* NULL = no new rows; moved */
  struct ArrowArray* rows;         /* struct arrays of that schema; moved */
  size_t rows_size;
  const uint64_t* deleted; /* addresses of live rows, without repetition */
  size_t deleted_size;
  lastword_lance_write* begun; /* NULL, or in the place of rows and deleted; moved */
  lastword_lance_properties properties;
  lastword_lance_text transaction_id;
} lastword_lance_commit_request;

/* Begins to write the rows and the deletions of a request, on threads of the library; of the
 * request only they are read. The commit names what is `begun` upon the version that is open now.
 * Each write is ended by a commit or by abandon, once. */
lastword_lance_error* lastword_lance_write_begin(lastword_lance_dataset* dataset,
                                                 const lastword_lance_commit_request* request,
                                                 lastword_lance_write** out);
/* Waits, and removes what was written. */
void lastword_lance_write_abandon(lastword_lance_write* write);

lastword_lance_error* lastword_lance_commit(lastword_lance_dataset* dataset,
                                            const lastword_lance_commit_request* request,
                                            lastword_lance_receipt* out);

/* Appends nullable columns without touching data. Moves `columns`. */
lastword_lance_error* lastword_lance_add_columns(lastword_lance_dataset* dataset,
                                                 struct ArrowSchema* columns,
                                                 uint64_t expected_version,
                                                 lastword_lance_properties properties,
                                                 lastword_lance_receipt* out);
/* Rewrites the column that the single field of `column` names as that field's type. Moves `column`.
 */
lastword_lance_error* lastword_lance_widen_column(lastword_lance_dataset* dataset,
                                                  struct ArrowSchema* column,
                                                  uint64_t expected_version,
                                                  lastword_lance_properties properties,
                                                  lastword_lance_receipt* out);

typedef struct {
  const uint64_t* fragments;
  size_t fragments_size;
  uint64_t target_rows;  /* rows of a new fragment */
  uint64_t file_bytes;   /* bytes of a new data file at most */
  uint64_t batch_rows;   /* rows that are read at a time */
  uint64_t buffer_bytes; /* what was read and is not written yet */
} lastword_lance_compaction_request;

/* Begins to write the live rows of fragments of the open version into new ones, on threads of the
 * library. Commits and clean-up that keeps the open version may follow meanwhile. Each compaction
 * is ended by finish or abandon, once. */
lastword_lance_error* lastword_lance_compaction_begin(
    lastword_lance_dataset* dataset, const lastword_lance_compaction_request* request,
    lastword_lance_compaction** out);
/* Waits until all is written, or that failed, but no longer than `limit_ms`. Nonzero = so it is. */
int32_t lastword_lance_compaction_wait(lastword_lance_compaction* compaction, uint64_t limit_ms);
/* Waits, and puts the new fragments in the place of the old ones, without the rows that commits
 * deleted meanwhile. A conflict where somebody else changed the old ones. One version; two when the
 * dataset has indices (the first reserves fragment ids and has the properties too). */
lastword_lance_error* lastword_lance_compaction_finish(lastword_lance_dataset* dataset,
                                                       lastword_lance_compaction* compaction,
                                                       uint64_t expected_version,
                                                       lastword_lance_properties properties,
                                                       lastword_lance_receipt* out);
/* Waits, and removes what was written. */
void lastword_lance_compaction_abandon(lastword_lance_compaction* compaction);

lastword_lance_error* lastword_lance_restore(lastword_lance_dataset* dataset, uint64_t version,
                                             uint64_t expected_version,
                                             lastword_lance_properties properties,
                                             lastword_lance_receipt* out);
lastword_lance_error* lastword_lance_cleanup(lastword_lance_dataset* dataset, uint64_t keep_from,
                                             uint64_t* out_bytes);

/* Trains an index ("btree", "ivf_pq") over all rows of the open version; replaces one of the same
 * column. */
lastword_lance_error* lastword_lance_create_index(
    lastword_lance_dataset* dataset, lastword_lance_text column, lastword_lance_text kind,
    uint64_t expected_version, lastword_lance_properties properties, lastword_lance_receipt* out);
/* Takes the rows that the index `name` does not cover into it. */
lastword_lance_error* lastword_lance_extend_index(lastword_lance_dataset* dataset,
                                                  lastword_lance_text name,
                                                  uint64_t expected_version,
                                                  lastword_lance_properties properties,
                                                  lastword_lance_receipt* out);
lastword_lance_error* lastword_lance_indices(lastword_lance_dataset* dataset,
                                             const lastword_lance_index** out, size_t* out_size);

/* Panics inside the library, for the test that a panic comes back as an error. */
lastword_lance_error* lastword_lance_panic(void);

#ifdef __cplusplus
}
#endif

#endif /* LASTWORD_LANCE_H_ */
