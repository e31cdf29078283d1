// A sealed batch: the final states of some keys, on their way from a writer to the one committer,
// possibly by way of another program's checkpoint. It says what the table shall hold of these keys
// and nothing of when, where or by whom it is committed.
//
//   sealed  := "LWSB" format:2 flags:2 batch_id:16 body
//              digest:8                        XXH3-64 of everything before it
//   format  := 2
//   flags   := bit 0: arrival: heads carry no version, the table gives it
//   body    := size:8 frame                    zstd; `size` bytes of content
//   content := schema:bytes heads:4 kind:1* digest:8* version* key_size:4* key*   one each a head,
//              rows:4 column*                            in the order in which they are applied
//   schema  := {"columns": [{"name", "type", "nullable"}], "key": [NAME]}
//   kind    := 0 upsert, of the next row | 1 delete | 2 lone -U: what it means is decided at commit
//   version := epoch:4 hi:8 mid:8 lo:8
//   column  := nulls:ceil(rows / 8) values             bit i % 8 of byte i / 8: row i is NULL
//   values  := fixed width: rows * width bytes; text, bytes, json: (size:4)* text; list:
//              (elements:4)* column; 0 for NULL
//   bytes   := size:4 byte*
// Format 1, which was written before, has no frame and other forms of some of these:
//   body    := schema:bytes heads:4 head* rows:4 column*
//   head    := kind:1 digest:8 version? key:bytes
//   values  := text, bytes, json: (end:8)* text; list: (end:8)* elements:4 column; `end` counts
//              bytes, or elements, from the start of the column
// Little-endian; key and digest as in model/key.h and model/digest.h. Persisted in checkpoints of
// other programs: every format is read for ever (test/testdata/sealed_batch holds a sample of
// each); a higher one is refused.
#pragma once

#include <string>
#include <string_view>

#include "base/byte_buffer.h"
#include "lastword/schema.h"
#include "model/change_batch.h"
#include "source/packing.h"

namespace lastword::capi {

struct SealedChanges {
  std::string id;  // 16 bytes, unique
  Schema schema;
  bool arrival = false;
  ChangeBatch changes;  // without inputs
};

/// Encodes one batch behind the other; the memory of one stays for the next. Not thread-safe.
class SealedEncoder {
 public:
  /// `changes.rows` are those of the upserts, in the order of the heads. kInternal where there is
  /// no memory.
  Result<std::string> Encode(const SealedChanges& sealed);

 private:
  void LimitMemory();

  std::string x_content;
  ByteBuffer x_bytes;
  Packer x_packer;
};

/// Decodes one batch behind the other; memory as above.
class SealedDecoder {
 public:
  /// Replaces what `sealed` holds, whose memory is used again. kStorageCorrupt on bytes that are no
  /// sealed batch, kUnsupportedFormat on one of a later library.
  Status Decode(std::string_view bytes, SealedChanges& sealed);

 private:
  ByteBuffer x_content;
};

}  // namespace lastword::capi
