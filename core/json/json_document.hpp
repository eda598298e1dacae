// A JSON document of somebody who may want it to be expensive. Pure; any thread.
#pragma once

#include "core/json/json.hpp"

#include <cstddef>

namespace core {

// As parse_json(), of at most so many values: containers, strings, numbers, true, false and null. Names of members are none.
result<json> parse_document(std::string_view text, json_limits limits, std::size_t values);

// Whether parse_json() reads it, without the document: of many small values that has thirty times the bytes of its text.
result<> check_json(std::string_view text, json_limits limits = {});

}  // namespace core
