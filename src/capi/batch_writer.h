// Collapses a changelog to one final state a key without knowing the table, so that it can run
// anywhere: what it seals is what the table has to decide. It never decides what only the table
// can: two contents of one version, or what a -U without its +U means, are kept for the commit.
//
// A row is kept as it was encoded and becomes columns when it is sealed, so that a change that is
// superseded costs a copy of its bytes.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/large_memory.h"
#include "capi/options.h"
#include "capi/order_watch.h"
#include "capi/row_codec.h"
#include "capi/row_store.h"
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
  uint64_t keys_held() const { return x_slots.size() - x_slots_sealed; }
  WriterCounts counts() const { return {x_rows_added, x_rows_collapsed, x_order.suspected()}; }

 private:
  // A row on its way in: decoded, its key known, not taken yet.
  struct Incoming {
    RowKind kind;
    Version version;
    KeyHash key;
    std::string_view encoded;
    uint32_t key_begin, key_size;  // in x_incoming_keys
    uint32_t slot;
    bool fresh;
  };
  // The state that one change with a version leaves its key in.
  struct State {
    Version version;
    uint64_t digest = 0;
    StoredRow row;  // empty: a delete
  };
  // What a key has beside its slot where changes have versions.
  struct Versions {
    Version version;
    uint64_t digest = 0;
    Version update_before;            // the highest
    std::vector<State> contradicted;  // kept for the table to report: same version, other content
  };
  struct Slot {
    KeyHash key;
    StoredRow row;  // of the state; empty: a delete
    uint32_t key_begin = 0, key_size = 0;
    bool has_state = false;  // false: only a -U so far
    bool has_update_before = false;
  };

  // Where a slot is found. The tag spares a look at a slot that only lies where the wanted one
  // would.
  struct Place {
    uint32_t slot_after = 0;  // number of the slot plus one; 0: free
    uint32_t tag = 0;
  };

  Status ReadIncoming(std::string_view& encoded);
  Status AppendIdentity(RowKind kind, Rows& rows, uint64_t ordinal) const;
  Status VersionOf(uint64_t row, RowKind kind, Version& version) const;
  void FindSlots();
  static uint32_t TagOf(const KeyHash& key) { return static_cast<uint32_t>(key.high >> 32); }
  const Slot* LikelySlot(const KeyHash& key) const;
  Place& PlaceOf(const KeyHash& key);
  void GrowTable(size_t slots);
  RowLife LifeOf(uint32_t slot) const;
  bool IsLoneUpdateBefore(uint32_t slot) const;
  void Take(const Incoming& incoming, uint64_t row);
  void TakeArrival(Slot& slot, const Incoming& incoming);
  void TakeVersioned(Slot& slot, Versions& versions, const Incoming& incoming, uint64_t row);
  Status SealSlot(uint32_t slot);
  Status SealState(uint32_t slot, const State& state);
  Result<std::string> SealPart();
  Status SealRest();
  Status FillPart();
  void ClearSealed();
  void Begin();

  bool arrival() const { return x_options.versions.source == VersionRule::Source::kArrival; }

  const WriterOptions x_options;
  const Schema& x_schema;
  RowReader x_reader;
  Digester x_digester;
  bool x_failed = false;
  uint64_t x_rows_added = 0, x_rows_collapsed = 0;
  OrderWatch x_order;

  // A few rows at a time: what each of them needs from memory is asked for before it is used.
  Rows x_incoming_rows;  // where arrival is the version, of the key alone
  std::string x_incoming_keys;
  std::vector<Incoming> x_incoming;

  std::string x_batch_id;  // 16 bytes
  RowStore x_rows;
  std::vector<Slot, LargeAllocator<Slot>> x_slots;  // in order of first arrival
  std::vector<Versions> x_versions;  // of each slot; empty where arrival is the version
  // Open addressing by the key's hash.
  std::vector<Place, LargeAllocator<Place>> x_table;
  std::string x_key_bytes;

  // Where the batch is cut, each part is sealed when it is taken, unless rows come in between.
  uint32_t x_slots_sealed = 0;
  SealedChanges x_sealed;
  SealedEncoder x_encoder;
  std::deque<std::string> x_parts;  // sealed, not taken yet
};

}  // namespace lastword::capi
