// The gateway's facts about a call, inside the agent's answer: docs/extensions/gateway-v1.md. Pure; any thread.
#pragma once

#include "a2a/method.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace a2a {

// Where the answer to an operation has its metadata.
enum class metadata_place : std::uint8_t {
    none,
    result,  // of the task, message or event that the result is
    inside,  // of the one that is the result's only member
};

// The place in answers and events.
metadata_place place_of_metadata(operation what, generation of) noexcept;

// `answer`, a JSON-RPC answer or the data of an event, with `facts` (raw JSON) under `uri` in its metadata, instead of what is there
// under it. Everything else stays the text that it was. Nothing: it is no answer with a result that has such a place, or a member
// that counts stands there twice.
std::optional<std::string>
add_facts(std::string_view answer, metadata_place place, std::string_view uri, std::string_view facts);

}  // namespace a2a
