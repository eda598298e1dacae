// What the tests of the configuration share: a fixed environment, and problems as the lines that an operator sees.
#pragma once

#include "config/load.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <string>
#include <string_view>

namespace config::testing {

// What the file of mcp.session_keys has in the full example.
inline const std::string session_key(64, '5');

// What its file of a proxy has.
inline const std::string proxy_text = "http://gate:s3cr3t-token@proxy.example.com:3128";

// What a file of the full example has, whose text is `usual` if nothing is known of it.
inline std::string file_text(const std::string& path, const std::string& usual)
{
    return path.ends_with(".key") ? session_key : path.ends_with(".proxy") ? proxy_text : usual;
}

inline std::optional<std::string> variables(std::string_view name)
{
    if (name == "TOKEN" || name == "EXA_API_KEY") {
        return "s3cr3t-token";
    }
    if (name == "LONG_TOKEN") {
        return "s3cr3t-of-operators";
    }
    if (name == "EMPTY") {
        return "";
    }
    if (name == "INJECTION") {
        return "a: b\n- [c, {d";
    }
    if (name == "URL_WITH_PASSWORD") {
        return "http://user:s3cr3t-token@h/";
    }
    if (name == "TTL") {
        return "7m";
    }
    if (name == "HOME") {
        return "/home/me";
    }
    if (name == "INPUT_MY_KEY") {
        return "asked-for";
    }
    if (name == "BREAK") {
        return "s3cr3t-token\r\nX-Evil: 1";
    }
    return {};
}

inline std::string lines(const std::vector<problem>& problems)
{
    std::string text;
    for (const auto& p : problems) {
        text += to_text(p) + '\n';
    }
    return text;
}

// What an operator reads about this text; empty if it is right.
inline std::string problems_of(std::string_view text)
{
    return lines(load(text, "c.yml", variables).problems);
}

inline settings right(std::string_view text)
{
    auto result = load(text, "c.yml", variables);
    REQUIRE(lines(result.problems) == "");
    return std::move(result.value);
}

}  // namespace config::testing
