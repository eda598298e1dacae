// Cards for tests of shapes.
#pragma once

#include "a2a/card/card_shape.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

namespace a2a_test {

inline const a2a::public_address gateway{"https://gw.example/agents/x"};

inline core::json parsed(std::string_view text)
{
    auto value = core::parse_json(text);
    REQUIRE_MESSAGE(value.has_value(), text);
    return *value;
}

// The card that an agent wrote, rewritten and in one shape.
inline a2a::shaped_card shaped(const std::string& text, core::card_shape shape)
{
    const auto made = a2a::parse_card(text);
    REQUIRE_MESSAGE(made.has_value(), text);
    const auto rewritten = a2a::rewrite_card(*made, gateway, {"http://agent.internal:9000/", ""});
    REQUIRE_MESSAGE(rewritten.has_value(), rewritten.error().detail);
    auto card = a2a::shape_card(*rewritten, shape, gateway);
    REQUIRE_MESSAGE(card.has_value(), card.error().detail);
    return std::move(*card);
}

// A card with `members` (JSON text) beside what every card needs.
inline std::string card_of(const std::string& members)
{
    return R"({"name":"n","description":"d","version":"1","capabilities":{},"defaultInputModes":["text/plain"],
        "defaultOutputModes":["text/plain"],"skills":[],)" +
           members + "}";
}

inline constexpr std::string_view old_url = R"("protocolVersion":"0.3.0","url":"http://agent.internal:9000/")";
inline constexpr std::string_view new_url =
    R"("supportedInterfaces":[{"url":"http://agent.internal:9000/","protocolBinding":"JSONRPC","protocolVersion":"1.0"}])";

// The scheme `x`, written as `scheme`, in the other form.
inline core::json scheme_in(core::card_shape shape, const std::string& scheme)
{
    const std::string where{shape == core::card_shape::v1 ? old_url : new_url};
    return shaped(card_of(where + R"(,"securitySchemes":{"x":)" + scheme + "}"), shape).document["securitySchemes"];
}

inline std::string with_member(std::string_view where, const std::string& member)
{
    return card_of(std::string{where} + "," + member);
}

}  // namespace a2a_test
