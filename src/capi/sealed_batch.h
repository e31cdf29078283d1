// A sealed batch: the final states of some keys, on their way from a writer to the one committer,
// possibly by way of another program's checkpoint. It says what the table shall hold of these keys
// and nothing of when, where or by whom it is committed.
//
//   sealed  := "LWSB" format:2 flags:2 batch_id:16 schema:bytes heads:4 head* rows:4 column*
//              digest:8                        XXH3-64 of everything before it
//   format  := 1
//   flags   := bit 0: arrival: heads carry no version, the table gives it
//   schema  := {"columns": [{"name", "type", "nullable"}], "key": [NAME]}
//   head    := kind:1 digest:8 version? key:bytes      in the order in which they are applied
//   kind    := 0 upsert, of the next row | 1 delete | 2 lone -U: what it means is decided at commit
//   version := epoch:4 hi:8 mid:8 lo:8
//   column  := nulls:ceil(rows / 8) values             bit i % 8 of byte i / 8: row i is NULL
//   values  := fixed width: rows * width bytes; text, bytes, json: (end:8)* text; list: (end:8)*
//              elements:4 column; `end` counts bytes, or elements, from the start of the column
//   bytes   := size:4 byte*
// Little-endian; key and digest as in model/key.h and model/digest.h. Persisted in checkpoints of
// other programs: every format is read for ever (test/testdata/sealed_batch holds a sample of
// each); a higher one is refused.
#pragma once

#include <string>
#include <string_view>

#include "lastword/schema.h"
#include "model/change_batch.h"

namespace lastword::capi {

struct SealedChanges {
  std::string id;  // 16 bytes, unique
  Schema schema;
  bool arrival = false;
  ChangeBatch changes;  // without inputs
};

/// `changes.rows` are those of the upserts, in the order of the heads.
std::string EncodeSealed(const SealedChanges& sealed);

/// kStorageCorrupt on bytes that are no sealed batch, kUnsupportedFormat on one of a later library.
Result<SealedChanges> DecodeSealed(std::string_view bytes);

}  // namespace lastword::capi
