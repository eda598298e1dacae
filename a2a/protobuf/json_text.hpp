// Text as a JSON string and back, with all that is refused on the way. Internal to a2a/protobuf/.
#pragma once

#include "a2a/protobuf/text_sink.hpp"

#include <string_view>

namespace a2a::protobuf {

// Puts `text` as a JSON string, with only the escapes that RFC 8259 section 7 demands. False: it is not UTF-8.
bool put_json_text(text_sink& to, std::string_view text);

// Puts the text that `raw`, between the quotes of a JSON string that has passed core::json_cursor, says. False: it has
// half a surrogate pair, which UTF-8 cannot say.
bool put_unescaped(text_sink& to, std::string_view raw);

}  // namespace a2a::protobuf
