// Text as a JSON string and back, with all that is refused on the way. Internal to a2a/protobuf/.
#pragma once

#include <string>
#include <string_view>

namespace a2a::protobuf {

// Appends `text` as a JSON string, with only the escapes that RFC 8259 section 7 demands. False: it is not UTF-8.
bool append_json_text(std::string& out, std::string_view text);

// Appends the text that `raw`, between the quotes of a JSON string that has passed core::json_cursor, says. False: it has
// half a surrogate pair, which UTF-8 cannot say.
bool append_unescaped(std::string& out, std::string_view raw);

}  // namespace a2a::protobuf
