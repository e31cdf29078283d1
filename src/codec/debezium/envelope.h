// Decodes Debezium's JSON events into changes.
//
//   event    := { "schema": …, "payload": envelope } | envelope
//   envelope := { op, before?, after?, source }      op := "c" | "u" | "d" | "r" | "t" | "m"
//
// Heartbeats, transaction markers, schema changes and op m carry no rows and are skipped. A null
// value is no envelope: it is a null-value record and names its row by the record key alone.
//
// Most events look like one before them, and are read by its shape (event_shape.h).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "codec/change_builder.h"
#include "codec/debezium/event_shape.h"
#include "codec/debezium/source_block.h"
#include "codec/debezium/version.h"
#include "codec/format_reader.h"
#include "codec/name_memo.h"
#include "codec/record.h"
#include "codec/router.h"

namespace lastword::codec {

class DebeziumReader final : public FormatReader {
 public:
  DebeziumReader(ChangeBuilder& builder, Router& router) : x_builder(builder), x_router(router) {}

  void Start() override;
  bool Read(const Record& record) override;
  size_t ReadLike(std::string_view text, const Record& record) override;
  void Learn(std::string_view line, const Record& record) override;
  JsonRef image() const override { return x_image; }

 private:
  enum Part : uint32_t {
    kOp,
    kAfter,
    kBefore,
    kSource,
    kStatus,
    kId,
    kDdl,
    kTableChanges,
    kClock,  // ts_ms, ts_us, ts_ns
    kOther
  };
  struct Envelope {
    JsonRef parts[kClock];
    JsonRef& operator[](Part part) { return parts[part]; }
    const JsonRef& operator[](Part part) const { return parts[part]; }
    uint32_t members = 0;
    bool only_clocks = true;  // no members but ts_ms and the like
  };
  /// The last record of an input, as far as a null-value record behind it needs it.
  struct Previous {
    bool known = false;
    bool was_delete = false;
    std::string key;  // as sent
  };

  bool ReadEnvelope(const Record& record, const Unwrapped& value);
  static Part PartOf(std::string_view name);
  bool ReadMembers(JsonRef payload, Envelope& envelope, SourceBlock& source);
  bool ReadChange(const Record& record, const Unwrapped& value, const Envelope& envelope,
                  const SourceBlock& source, std::string_view op);
  bool ReadShaped(const EventShape& shape, const JsonDoc& doc, const Record& record);
  bool Append(TablePlan& plan, const Record& record, const SourceBlock& source, std::string_view op,
              const Image& row, const Image& other, bool wrapped);
  bool ReadBlocks(const Envelope& envelope, std::string_view op);
  bool PlaceInLog(const TablePlan& plan, const SourceBlock& source, Rank rank, ChangeMeta& meta);
  bool ReadNull(const Record& record);
  bool BindWrapper(TablePlan& plan, JsonRef schema);
  bool Skip(const Image& image);
  bool Fault(const JsonFault& fault);
  TablePlan* Route(const Record& record, const SourceBlock& source);
  void Remember(const Record& record, bool was_delete);

  ChangeBuilder& x_builder;
  Router& x_router;
  JsonRef x_image;
  std::vector<Previous> x_previous;  // an input
  std::string x_op;
  NameMemo x_envelope_names;
  SourceReader x_source;
  std::vector<std::unique_ptr<EventShape>> x_shapes;  // the last one that matched comes first
  std::vector<uint32_t> x_shape_tokens;
};

}  // namespace lastword::codec
