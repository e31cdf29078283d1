// For tests: streams that Debezium wrote, with the tables they belong to, and lines that differ
// from them a little.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"
#include "codec/decoder.h"

namespace lastword::codec {

/// The whole text of a file, which must exist.
std::string FileText(const std::filesystem::path& path);

struct Stream {
  std::string name, text;  // lines of a dump of Kafka records
  std::vector<TableSpec> tables;
};

/// The tables of all captures; columns that they lack are ignored.
std::vector<TableSpec> CaptureTables(TableSpec::DecimalEncoding encoding);

/// Captures of connectors in test/testdata, without schema wrappers.
std::vector<Stream> Captures();
/// Those with schema wrappers.
std::vector<Stream> WrappedCaptures();

/// Changes one line a little: a byte, a token, a value, or a piece cut out or doubled.
std::string Mutated(std::string line, Random& random);

/// Changes the members of one line's objects: some leave, come twice, or change their places.
std::string WithOtherMembers(std::string line, Random& random);

}  // namespace lastword::codec
