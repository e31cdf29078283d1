// The edge between C and C++: handles, argument checks, errors as objects of the caller. Nothing is
// decided here, and nothing is thrown across: an exception of the standard library (memory) becomes
// an error.
#include <cstring>
#include <exception>
#include <new>
#include <vector>

#include "capi/batch_writer.h"
#include "capi/reading.h"
#include "capi/table_session.h"
#include "lastword/c.h"

using lastword::Error;
using lastword::ErrorKind;
using lastword::Result;
using lastword::Status;

struct lastword_error {
  std::string kind, error_class, message;
};
struct lastword_bytes {
  std::string bytes;
};
struct lastword_writer {
  lastword::capi::BatchWriter writer;
};
struct lastword_table {
  std::unique_ptr<lastword::capi::TableSession> session;
};

namespace {

const char* NameOfClass(lastword::ErrorClass error_class) {
  switch (error_class) {
    case lastword::ErrorClass::kStop:
      return "stop";
    case lastword::ErrorClass::kRetry:
      return "retry";
    case lastword::ErrorClass::kReread:
      return "reread";
    case lastword::ErrorClass::kLookUp:
      return "look_up";
    case lastword::ErrorClass::kFenced:
      return "fenced";
    case lastword::ErrorClass::kDefect:
      return "defect";
  }
  return "defect";
}

// Runs `call`, which gives a Status, and turns what went wrong into the caller's error.
template <typename Call>
int32_t Guarded(lastword_error** out, const Call& call) noexcept {
  try {
    Status status = Error{ErrorKind::kInternal, "", {}};
    try {
      status = call();
    } catch (const std::exception& exception) {
      status = Error{ErrorKind::kInternal, std::string("an exception: ") + exception.what(), {}};
    }
    if (status.ok()) return 0;
    if (out != nullptr) {
      const Error& error = status.error();
      *out =
          new lastword_error{std::string(lastword::NameOf(error.kind)),
                             NameOfClass(lastword::ClassOf(error.kind)), lastword::ToString(error)};
    }
  } catch (...) {
    // No memory even for the error: the caller sees -1 and a null error.
    if (out != nullptr) *out = nullptr;
  }
  return -1;
}

std::string_view Text(const char* data, size_t size) {
  return size == 0 ? std::string_view() : std::string_view(data, size);
}

std::string_view Text(const uint8_t* data, size_t size) {
  return Text(reinterpret_cast<const char*>(data), size);
}

lastword_bytes* NewBytes(std::string bytes) {
  return new lastword_bytes{std::move(bytes)};
}

// Gives the caller as much of the struct as it knows; `size` stays the caller's.
template <typename T>
void CopyOut(const T& from, T* to) {
  const size_t known = std::min(to->size, sizeof(T));
  if (known <= sizeof to->size) return;
  std::memcpy(reinterpret_cast<char*>(to) + sizeof to->size,
              reinterpret_cast<const char*>(&from) + sizeof to->size, known - sizeof to->size);
}

Status Commit(lastword_table& table, std::string_view id,
              const lastword::capi::BatchSource& batches, lastword_commit_result* result) {
  LW_ASSIGN_OR_RETURN(const lastword::capi::SessionCommit commit,
                      table.session->Commit(std::string(id), batches));
  if (result == nullptr) return lastword::Ok{};
  lastword_commit_result out{};
  out.lance_version = commit.result.lance_version;
  out.already_committed = commit.result.already_committed ? 1 : 0;
  out.rows_written = commit.result.rows_written;
  out.rows_deleted = commit.result.rows_deleted;
  out.bytes_written = commit.result.bytes_written;
  out.applied = commit.counts.applied;
  out.stale = commit.counts.stale;
  out.below_floor = commit.counts.below_floor;
  out.repeat = commit.counts.repeat;
  out.conflict = commit.counts.conflict;
  out.quarantined = commit.counts.quarantined;
  out.tombstones = commit.tombstones;
  CopyOut(out, result);
  return lastword::Ok{};
}

}  // namespace

extern "C" {

const char* lastword_version(void) {
  return LW_VERSION;
}

const char* lastword_error_kind(const lastword_error* error) {
  return error->kind.c_str();
}
const char* lastword_error_class(const lastword_error* error) {
  return error->error_class.c_str();
}
const char* lastword_error_message(const lastword_error* error) {
  return error->message.c_str();
}
void lastword_error_free(lastword_error* error) {
  delete error;
}

const uint8_t* lastword_bytes_data(const lastword_bytes* bytes) {
  return reinterpret_cast<const uint8_t*>(bytes->bytes.data());
}
size_t lastword_bytes_size(const lastword_bytes* bytes) {
  return bytes->bytes.size();
}
void lastword_bytes_free(lastword_bytes* bytes) {
  delete bytes;
}

int32_t lastword_writer_open(const char* options, size_t options_size, lastword_writer** writer,
                             lastword_error** error) {
  return Guarded(error, [&]() -> Status {
    LW_ASSIGN_OR_RETURN(lastword::capi::WriterOptions parsed,
                        lastword::capi::ParseWriterOptions(Text(options, options_size)));
    *writer = new lastword_writer{lastword::capi::BatchWriter(std::move(parsed))};
    return lastword::Ok{};
  });
}

int32_t lastword_writer_add(lastword_writer* writer, const uint8_t* encoded, size_t encoded_size,
                            uint64_t rows, lastword_error** error) {
  return Guarded(error, [&] { return writer->writer.Add(Text(encoded, encoded_size), rows); });
}

void lastword_writer_get_stats(const lastword_writer* writer, lastword_writer_stats* stats) {
  lastword_writer_stats now{};
  now.bytes_held = writer->writer.bytes_held();
  now.keys_held = writer->writer.keys_held();
  now.rows_added = writer->writer.counts().rows_added;
  now.rows_collapsed = writer->writer.counts().rows_collapsed;
  now.suspected_inversions = writer->writer.counts().suspected_inversions;
  CopyOut(now, stats);
}

int32_t lastword_writer_seal(lastword_writer* writer, lastword_bytes** batch,
                             lastword_error** error) {
  return Guarded(error, [&]() -> Status {
    *batch = nullptr;
    LW_ASSIGN_OR_RETURN(std::string sealed, writer->writer.Seal());
    if (!sealed.empty()) *batch = NewBytes(std::move(sealed));
    return lastword::Ok{};
  });
}

void lastword_writer_close(lastword_writer* writer) {
  delete writer;
}

int32_t lastword_table_open(const char* uri, size_t uri_size, const char* options,
                            size_t options_size, lastword_table** table, lastword_error** error) {
  return Guarded(error, [&]() -> Status {
    auto session = lastword::capi::TableSession::Open(std::string(Text(uri, uri_size)),
                                                      Text(options, options_size));
    if (!session.ok()) return std::move(session.error());
    *table = new lastword_table{std::move(*session)};
    return lastword::Ok{};
  });
}

int32_t lastword_table_commit(lastword_table* table, const char* id, size_t id_size,
                              const lastword_view* batches, size_t batch_count,
                              lastword_commit_result* result, lastword_error** error) {
  return Guarded(error, [&] {
    return Commit(*table, Text(id, id_size),
                  {batch_count,
                   [batches](size_t i) {
                     return Result<std::string_view>(Text(batches[i].data, batches[i].size));
                   }},
                  result);
  });
}

int32_t lastword_table_commit_from(lastword_table* table, const char* id, size_t id_size,
                                   size_t batch_count, lastword_batch_source source, void* context,
                                   lastword_commit_result* result, lastword_error** error) {
  return Guarded(error, [&] {
    const auto next = [&](size_t i) -> Result<std::string_view> {
      lastword_view batch{};
      if (source(context, i, &batch) == 0) return Text(batch.data, batch.size);
      return Error{ErrorKind::kUsage, "the caller gave up a batch of the checkpoint", {}};
    };
    return Commit(*table, Text(id, id_size), {batch_count, next}, result);
  });
}

int32_t lastword_table_knows_checkpoint(lastword_table* table, const char* id, size_t id_size,
                                        int32_t* known, lastword_error** error) {
  return Guarded(error, [&]() -> Status {
    LW_ASSIGN_OR_RETURN(const bool found,
                        table->session->KnowsCheckpoint(std::string(Text(id, id_size))));
    *known = found ? 1 : 0;
    return lastword::Ok{};
  });
}

int32_t lastword_table_last_checkpoint(lastword_table* table, lastword_bytes** id,
                                       lastword_error** error) {
  return Guarded(error, [&]() -> Status {
    LW_ASSIGN_OR_RETURN(std::string last, table->session->LastCheckpoint());
    *id = NewBytes(std::move(last));
    return lastword::Ok{};
  });
}

int32_t lastword_table_explain(lastword_table* table, const char* key, size_t key_size,
                               const char* version, size_t version_size, lastword_bytes** json,
                               lastword_error** error) {
  return Guarded(error, [&]() -> Status {
    LW_ASSIGN_OR_RETURN(std::string told, table->session->Explain(std::string(Text(key, key_size)),
                                                                  Text(version, version_size)));
    *json = NewBytes(std::move(told));
    return lastword::Ok{};
  });
}

void lastword_table_close(lastword_table* table) {
  delete table;
}

int32_t lastword_describe(const char* uri, size_t uri_size, uint64_t version, lastword_bytes** json,
                          lastword_error** error) {
  return Guarded(error, [&]() -> Status {
    LW_ASSIGN_OR_RETURN(std::string told,
                        lastword::capi::Describe(std::string(Text(uri, uri_size)), version));
    *json = NewBytes(std::move(told));
    return lastword::Ok{};
  });
}

int32_t lastword_scan(const char* uri, size_t uri_size, uint64_t version, const char* columns,
                      size_t columns_size, lastword_scan_sink sink, void* context,
                      lastword_error** error) {
  return Guarded(error, [&] {
    return lastword::capi::ScanEncoded(
        std::string(Text(uri, uri_size)), version, Text(columns, columns_size),
        [&](std::string_view encoded, uint64_t rows) {
          return sink(context, reinterpret_cast<const uint8_t*>(encoded.data()), encoded.size(),
                      rows) == 0;
        });
  });
}

}  // extern "C"
