// The way of a message through proxies, as `Via` tells it (RFC 9110 section 7.6.3), and how this process is known there.
#pragma once

#include "net/http1/fields.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace net {

// `cardea-` and 16 random hexadecimal digits: this process in `Via`, the same as long as it lives. Not a comment: whoever
// passes a message on may drop those. Any thread.
std::string_view own_pseudonym();

// The `Via` lines of a message.
struct way_travelled {
    std::size_t length = 0;  // of the lines joined
    std::size_t passes = 0;  // how often it came through this process
    std::size_t hops = 0;    // how often a gateway of this kind is named: at least how many it came through
};
way_travelled way_of(const http1::field_list& fields);

// Appends one `Via` line: what `fields` say, and that this process took the message over this version of HTTP.
void write_via(std::string& text, const http1::field_list& fields, std::string_view version);

}  // namespace net
