// Messages on the wire whose fields are split, out of order or repeated, written once more without that (protobuf.dev "Encoding", "Last One
// Wins"). Internal to a2a/protobuf/.
#pragma once

#include "a2a/protobuf/message_type.hpp"

#include <string>
#include <string_view>

namespace a2a::protobuf {

// Appends the message with each field at most once, by number, the elements of repeated fields together. Unknown fields go last.
// Returns why it cannot, or nothing.
std::string_view append_canonical(std::string& out, const message_type& type, std::string_view bytes);

}  // namespace a2a::protobuf
