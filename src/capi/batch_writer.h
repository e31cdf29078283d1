// Collapses a changelog to one final state a key without knowing the table, so that it can run
// anywhere: what it seals is what the table has to decide. It never decides what only the table
// can: two contents of one version, or what a -U without its +U means, are kept for the commit.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capi/options.h"
#include "capi/row_codec.h"
#include "capi/sealed_batch.h"
#include "model/digest.h"

namespace lastword::capi {

struct WriterCounts {
  uint64_t rows_added = 0, rows_collapsed = 0, suspected_inversions = 0;
};

class BatchWriter {
 public:
  explicit BatchWriter(WriterOptions options);
  BatchWriter(const BatchWriter&) = delete;
  BatchWriter& operator=(const BatchWriter&) = delete;

  /// Adds `count` encoded rows that fill `encoded` exactly. After an error only errors follow: the
  /// open batch is incomplete. Kinds: those of RowReader::Read, kNullInKey, kNoVersion (NULL in a
  /// sequence column), kInvalidOperation (not +I without a key).
  Status Add(std::string_view encoded, uint64_t count);

  /// The open batch as bytes, and begins the next; empty when nothing was added. Where it is cut
  /// (sealed_bytes_max), the other parts come with the next calls: a key is in one part only, so
  /// each is a batch of its own and their order means nothing.
  Result<std::string> Seal();

  /// Of the open batch; parts that wait to be taken count too.
  uint64_t bytes_held() const;
  uint64_t keys_held() const { return x_slots.size(); }
  const WriterCounts& counts() const { return x_counts; }

 private:
  // The state that one change leaves its key in.
  struct State {
    Version version;
    uint64_t digest = 0;   // kept with declared versions only; else computed when sealed
    uint32_t row = kNone;  // kNone: a delete
  };
  struct Slot {
    KeyHash key;
    uint64_t key_begin = 0;
    uint32_t key_size = 0;
    bool has_state = false;  // false: only a -U so far
    bool has_update_before = false;
    State state;
    Version update_before;            // the highest
    std::vector<State> contradicted;  // kept for the table to report: same version, other content
  };

  Status AddRow(std::string_view& encoded);
  Status Take(uint64_t row, RowKind kind, Version version);
  Status AppendIdentity(RowKind kind);
  Status VersionOf(uint64_t row, RowKind kind, Version& version) const;
  Slot& SlotOf(std::string_view key, bool& fresh);
  void CountOrder(const Slot& slot, RowKind kind);
  // True where `row` became the state of its key.
  bool TakeArrival(Slot& slot, RowKind kind, uint64_t row);
  bool TakeVersioned(Slot& slot, RowKind kind, uint64_t row, const Version& version);
  void DropDeadRows();
  void SealSlot(const Slot& slot, SealedChanges& sealed);
  void SealParts();
  void Begin();

  const WriterOptions x_options;
  const Schema& x_schema;
  RowReader x_reader;
  Digester x_digester;
  WriterCounts x_counts;
  bool x_failed = false;

  std::string x_batch_id;  // 16 bytes
  Rows x_rows;
  std::vector<Slot> x_slots;  // in order of first arrival
  std::unordered_map<KeyHash, uint32_t, KeyHashHasher> x_by_key;
  std::string x_key_bytes;
  std::string x_key;  // scratch
  uint64_t x_live_rows = 0;
  uint64_t x_rows_appended = 0;
  std::deque<std::string> x_parts;  // sealed, not taken yet
};

}  // namespace lastword::capi
