// The URLs that an operator may write. Pure. Failures are errc::config_invalid; the detail is a predicate ("has no
// host") and never quotes the URL, which may hold a credential.
#pragma once

#include "core/error.hpp"
#include "core/secret.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace config {

enum class query : std::uint8_t { refused, allowed };

// An absolute http or https URL with a host, without user info and fragment, port 1 to 65535, at most 8 KiB (RFC 3986).
// Returned as written, with scheme and host in lower case; a trailing slash stays or stays away.
core::result<std::string> parse_http_url(std::string_view text, query allowed = query::refused);

// Takes those, or a grpc or grpcs URL as parse_grpc_url(): where an A2A agent is.
core::result<std::string> parse_agent_url(std::string_view text, query allowed = query::refused);

// A grpc or grpcs URL with a port, and without a path and a query.
core::result<std::string> parse_grpc_url(std::string_view text);

// The place where the path of such a URL begins, or its query if it has no path; the end: it has neither.
std::size_t path_begin(std::string_view url) noexcept;

// `text` if it is the origin of web pages: scheme, host and perhaps a port, which may be `*` with http and https.
std::optional<std::string> parse_page_origin(const std::string& text);

inline constexpr std::string_view expected_page_origins =
    "a list of origins such as https://app.example.com or http://localhost:*";
inline constexpr std::string_view expected_page_origin =
    "an origin such as https://app.example.com or http://localhost:*";

// The URL without its query, which may be a key.
std::string shown_url(std::string_view url);

// Takes the query out of such a URL. Empty: it has none.
core::secret take_query(std::string& url);

// The gateway's own address as callers see it: like the above, without query, and without trailing slashes.
core::result<std::string> parse_base_url(std::string_view text);

}  // namespace config
