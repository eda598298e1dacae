// Finds the credential of a request: a bearer token (RFC 6750 section 2.1) or an API key in a header, a cookie or the query.
// Pure; any thread.
#pragma once

#include "core/access.hpp"
#include "core/error.hpp"
#include "net/http1/head.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::access {

// Where an API key is looked for.
struct key_field {
    core::credential_place place;
    std::string name;

    // Names of headers are the same in any case.
    friend bool operator==(const key_field& a, const key_field& b) noexcept;
};

struct credential {
    const key_field* field = nullptr;  // null: a bearer token
    std::string_view written;          // lies in the request head
    std::string decoded{};             // of one in the query that is not written as it is; else empty

    std::string_view text() const noexcept { return decoded.empty() ? written : decoded; }
};

class credential_reader {
public:
    // One of several equal fields is enough. `identity_headers` come beside a credential and say whose it is: they are not
    // read. `reads_bearer`: a provider reads bearer tokens.
    explicit credential_reader(
        std::vector<key_field> fields,
        std::vector<std::string> identity_headers = {},
        bool reads_bearer = true
    );

    // The one credential of the request; nullopt: it has none. An `Authorization` that no provider reads is none: it may be for the agent.
    // One of another scheme than Bearer is none either beside a credential; alone it fails.
    // Fails with bad_request, whose detail is a sentence that names both places, if there are two, or one in the query
    // where no provider reads it; and with unauthenticated for an `Authorization` of another scheme and a credential that is empty.
    // `for_agent`: the same is true of any `Authorization`.
    core::result<std::optional<credential>> read(const net::http1::request_head& head, bool for_agent = false) const;

    // Whether this header of a request can hold a credential or is one of the identity headers, which agents do not get: also
    // Referer, if a credential can stand in the query.
    bool is_key_header(std::string_view name) const noexcept;

    // `query`, with its '?' or empty, without the credentials in it.
    std::string without_keys(std::string_view query) const;

    const std::vector<key_field>& fields() const noexcept { return fields_; }

private:
    const key_field* find(core::credential_place place, std::string_view name) const noexcept;

    std::vector<key_field> fields_;
    std::vector<std::string> identity_headers_;
    bool reads_bearer_;
    bool reads_cookies_ = false;
    bool reads_query_ = false;
};

}  // namespace gateway::access
