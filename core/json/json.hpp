// JSON documents of the control side: cards, records, management parameters. Traffic is never parsed into these.
#pragma once

#include "core/error.hpp"
#include "core/json/json_writer.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <string_view>

namespace core {

// Members keep their order: what people wrote is what people read.
using json = nlohmann::ordered_json;

struct json_limits {
    std::size_t bytes = 1024 * 1024;
    unsigned depth = 64;         // at most 64
    std::size_t members = 1000;  // of one object: members are found by a walk, so their number counts twice
};

// RFC 8259, UTF-8 without byte order mark. Fails with errc::parse_error and says why in the detail: too long, too deep
// or too wide (checked before nlohmann sees the text, which crashes on a million nested arrays), or not JSON. Never throws.
result<json> parse_json(std::string_view text, json_limits limits = {});

// The compact form. Never throws: text that is not UTF-8 (only a file or the environment can bring it) is replaced.
std::string to_text(const json& value);

// The member if `object` is an object that has it and it is a string; else null.
const std::string* string_member(const json& object, std::string_view key);

// Copies string_member(); empty: no such member.
std::string text_member(const json& object, std::string_view key);

// The member if `object` is an object that has it; else null.
const json* member(const json& object, std::string_view key);

// Parses with a limit on the number of values besides: containers, strings, numbers, true, false and null, but not the names of members.
// For a document whose sender may want it to be expensive.
result<json> parse_document(std::string_view text, json_limits limits, std::size_t values);

// Checks that parse_json() would read the text, without building the document, which can have thirty times the bytes of its text.
result<> check_json(std::string_view text, json_limits limits = {});

}  // namespace core
