// http and https URLs, taken apart (RFC 3986). Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace core {

struct http_url {
    bool secure = false;       // https
    std::string host;          // decoded, without the brackets of an IPv6 address
    std::string encoded_host;  // as an authority has it
    std::string port;          // the scheme's own if the URL has none
    std::string path;          // origin-form, with the query if the URL has one; at least "/"

    // Nothing for what is not an http or https URL with a host.
    static std::optional<http_url> parse(std::string_view text);

    // Without the scheme's own port: for the Host field.
    std::string authority() const;

    // Scheme, host and port, normalised: `http://agent:8080`.
    std::string origin() const;
};

// Whether the text begins with `grpc://` or `grpcs://`, in any case.
bool is_grpc_url(std::string_view text) noexcept;

// The address of a grpc or grpcs URL as an http or https URL, whose ports are the default ones too; any other text as it is.
std::string http_form(std::string url);

// The origin of an http or https URL; empty for anything else.
std::string origin_of(std::string_view url);

// Resolves `reference` against `base` (RFC 3986 section 5.2), without a fragment. Empty if either is not a URL.
std::string resolved(std::string_view base, std::string_view reference);

// A component of a query as every reader of queries understands it.
std::string decoded(std::string_view component);

// `target`, a URL or a request target without a fragment, without those parameters of its query that have the name of one of
// `parameters` (`name=value&...`, encoded); as it is if `parameters` is empty.
std::string without_parameters(std::string target, std::string_view parameters);

// With `parameters` instead of those of their names; as it is if `parameters` is empty.
std::string with_parameters(std::string target, std::string_view parameters);

}  // namespace core
