// What tests ask of a Result or Status: that it is good, or that it is one kind of error.
#pragma once

#include <gmock/gmock.h>

#include <string>

#include "lastword/status.h"

namespace lastword {

MATCHER(IsOk, "is ok") {
  if (arg.ok()) return true;
  *result_listener << ToString(arg.error());
  return false;
}

/// An error of this kind.
MATCHER_P(IsError, kind, std::string("is the error ") + std::string(NameOf(kind))) {
  if (arg.ok()) return false;
  *result_listener << ToString(arg.error());
  return arg.error().kind == kind;
}

/// An error of this kind in this column.
MATCHER_P2(IsErrorIn, kind, column,
           std::string("is the error ") + std::string(NameOf(kind)) + " in column " +
               std::string(column)) {
  if (arg.ok()) return false;
  *result_listener << ToString(arg.error());
  return arg.error().kind == kind && arg.error().place.column == column;
}

/// Ok, and the value matches.
MATCHER_P(IsOkAnd, value_matcher, "is ok and its value matches") {
  if (!arg.ok()) {
    *result_listener << ToString(arg.error());
    return false;
  }
  return testing::ExplainMatchResult(value_matcher, *arg, result_listener);
}

}  // namespace lastword
