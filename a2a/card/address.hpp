// Which host a string of a foreign document points at. Tolerant on purpose: the question is whether some client could
// be led there, so whatever a browser or an SDK may read as an address is one. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace a2a {

// `host:port` in lower case, without user information and without the final dot of a host name; the port of http,
// https, ws and wss is filled in, other schemes without a port give `host` alone. Understood are `scheme://host`,
// `//host`, `http:host`, backslashes for slashes, blanks around, line breaks and tabs inside (WHATWG URL), and
// `host:port` with or without a path (what gRPC clients take). Nothing for relative references, bare words and names
// without a port.
std::optional<std::string> authority_of(std::string_view text);

// Whether the text is a URI: a scheme, a colon, and behind it at least one of the characters that a URI may have (RFC 3986
// section 3). No relative reference is.
bool is_uri(std::string_view text) noexcept;

}  // namespace a2a
