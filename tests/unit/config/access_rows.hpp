// For the tests of `access`: one provider in a file, and what an operator reads about it.
#pragma once

#include "core/access.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace config::testing {

using row = std::pair<std::string, std::string>;

inline constexpr const char* hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";
inline constexpr const char* token = "token: 0123456789abcdef";
inline constexpr const char* types =
    "; expected static_token, api_key, jwt, oidc, azure_ad, gcp_iap, http_verifier, aws_sigv4 or mtls\n";

inline core::result<std::string> files(const std::string& path)
{
    if (path == "/run/token") {
        return std::string{"token-in-a-file-1"};
    }
    if (path == "/run/short") {
        return std::string{"s3cr3t"};
    }
    return core::gateway_error(core::errc::config_invalid, "cannot be opened: No such file or directory");
}

inline config::loaded loaded(const std::string& text)
{
    return config::load(text, "c.yml", variables, files);
}

// One provider, in line 3 behind `    - {type: `.
inline std::string provider_text(const std::string& members)
{
    return "access:\n  providers:\n    - {type: " + members + "}\n";
}

inline std::string provider_problem(const std::string& members)
{
    return lines(loaded(provider_text(members)).problems);
}

inline core::access_provider provider(const std::string& members)
{
    const auto result = loaded(provider_text(members));
    REQUIRE(lines(result.problems) == "");
    return result.value.access.providers.at(0);
}

template <class Type>
Type type_of(const std::string& members)
{
    return std::get<Type>(provider(members).type);
}

inline std::string static_token(const std::string& more)
{
    return "static_token, name: a, " + more;
}

inline std::string api_keys(const std::string& more)
{
    return "api_key, name: a, " + more;
}

// A provider with one key.
inline std::string key(const std::string& members)
{
    return api_keys("keys: [{name: k, " + members + "}]");
}

inline std::string jwt(const std::string& more)
{
    return "jwt, name: a, issuer: i, audience: b, " + more;
}

inline std::string repeated(int count, const std::string& before, const std::string& after)
{
    std::string text;
    for (int i = 0; i < count; ++i) {
        text += (i == 0 ? "" : ", ") + before + std::to_string(i) + after;
    }
    return '[' + text + ']';
}

inline void check_providers(const std::vector<row>& rows)
{
    for (const auto& [members, problem] : rows) {
        CAPTURE(members);
        CHECK(provider_problem(members) == (problem.empty() ? "" : "c.yml:3:" + problem));
    }
}

}  // namespace config::testing
