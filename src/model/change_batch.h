// A run of decoded changes of one table: heads in order of arrival, rows in columns. What codecs
// make and the state eats.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hash.h"
#include "lastword/change.h"
#include "model/origin.h"
#include "model/rows.h"

namespace lastword {

inline constexpr uint32_t kNone = UINT32_MAX;

/// What a change is beyond its kind. Set by codecs; the meaning of each is in docs/ordering.md.
enum ChangeFlag : uint16_t {
  kSnapshotRead = 1 << 0,     // op r
  kSnapshotEnd = 1 << 1,      // the last read of a snapshot of this table; set beside kSnapshotRead
  kNoCommitSeen = 1 << 2,     // Debezium PostgreSQL, streamed, null sequence[0]: hi waits for the
                              // input's snapshot LSN
  kUnpositioned = 1 << 3,     // a read without position: equal reads never conflict
  kNullValue = 1 << 4,        // a null-value record: version comes from the input
  kKeyChangeDelete = 1 << 5,  // old half of a key change; detail.other_key is the new key, if known
  kKeyChangeUpsert = 1 << 6,  // new half of a key change; detail.other_key is the old key
  kUpdateBefore = 1 << 7,     // -U of a changelog
  kArrivalVersion = 1 << 8,   // a changelog: the table gives the version on arrival
  kSharedOrigin = 1 << 9,     // truncate, end of a snapshot: rows of other source tables of the
                              // destination cannot be told from those of this one
};

/// One change. For kTruncate the key is unused. `version` is final unless a flag says that the
/// input completes it.
struct ChangeHead {
  KeyHash key;
  Version version;
  uint64_t digest = 0;
  uint64_t offset = 0;   // of the record in its input: Kafka offset, else byte offset of the line
  uint64_t line = 0;     // counted from 1 in its file; 0 where there are no lines
  uint32_t input = 0;    // index into ChangeBatch::inputs
  uint32_t row = kNone;  // index into ChangeBatch::rows; kNone for deletes and truncates
  uint32_t detail = kNone;               // index into ChangeBatch::details
  uint32_t key_begin = 0, key_size = 0;  // canonical key in ChangeBatch::key_bytes
  Kind kind = Kind::kUpsert;
  uint16_t flags = 0;
};

/// What few changes have.
struct ChangeDetail {
  std::vector<uint32_t>
      unavailable;  // columns of the row marked as unchanged, ascending; the row holds NULL there
  uint32_t before =
      kNone;  // row in ChangeBatch::rows with the non-empty values of `before`, for those columns
  KeyHash other_key;            // the other half of a key change
  std::string other_key_bytes;  // canonical; empty = unknown
  Origin origin;                // of a truncate
};

struct ChangeBatch {
  std::vector<ChangeHead> heads;
  Rows rows;
  std::vector<ChangeDetail> details;
  std::string key_bytes;
  bool null_values = false;  // inputs are log partitions: null-value records may follow deletes
  std::vector<std::string> inputs;  // names: "orders.ndjson", "topic:3"

  std::string_view KeyOf(const ChangeHead& head) const {
    return std::string_view(key_bytes).substr(head.key_begin, head.key_size);
  }
  uint64_t bytes_held() const {
    uint64_t bytes = heads.capacity() * sizeof(ChangeHead) + rows.bytes_held() +
                     key_bytes.capacity() + details.capacity() * sizeof(ChangeDetail);
    for (const ChangeDetail& detail : details) {
      bytes += detail.unavailable.capacity() * sizeof(uint32_t) + detail.other_key_bytes.capacity();
    }
    return bytes;
  }
};

}  // namespace lastword
