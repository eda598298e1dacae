// Doubles as JSON numbers, and bytes as base64. Internal to a2a/protobuf/.
#pragma once

#include "a2a/protobuf/text_sink.hpp"

#include <optional>
#include <string_view>

namespace a2a::protobuf {

// Puts the shortest text that reads as `value` again; whole numbers below 1e21 as digits only. `value` is finite.
void put_double(text_sink& to, double value);

// The double nearest to a JSON number. Nothing: it is beyond all finite ones.
std::optional<double> nearest_double(std::string_view text);

// Whether the JSON number `text`, whose nearest double is `value`, says that double: as the shortest text that reads as it (0.1), or
// rounded to as many digits as the text has, which are all of them for a whole number.
bool is_exactly(std::string_view text, double value);

// Puts the base64 of bytes, with padding (RFC 4648 section 4).
void put_base64(text_sink& to, std::string_view bytes);

// Puts the bytes that a base64 text of either alphabet says, with or without padding. False: it is none.
bool put_decoded_base64(text_sink& to, std::string_view text);

}  // namespace a2a::protobuf
