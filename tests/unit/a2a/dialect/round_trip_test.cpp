// Generated messages: what both generations can say comes back as the same bytes, and a slow translator that shares no
// code agrees, also on what is broken in one place. The seeds are fixed.
#include "a2a/dialect/answer.hpp"
#include "a2a/dialect/walk.hpp"
#include "tests/support/generated_dialect.hpp"
#include "tests/support/mutated_json.hpp"
#include "tests/support/slow_dialect.hpp"
#include "tests/unit/a2a/dialect/wire_text.hpp"

#include <doctest/doctest.h>

#include <array>
#include <optional>
#include <string>

using nlohmann::json;

TEST_SUITE_BEGIN("a2a/dialect round trips");

namespace {

constexpr a2a::dialect old_rpc{a2a::generation::v03, a2a::binding::jsonrpc};
constexpr a2a::dialect old_rest{a2a::generation::v03, a2a::binding::rest};
constexpr a2a::dialect new_rpc{a2a::generation::v1, a2a::binding::jsonrpc};
constexpr a2a::dialect new_rest{a2a::generation::v1, a2a::binding::rest};

// The event in another dialect; empty: refused.
std::string event_in(a2a::dialect from, a2a::dialect to, const std::string& event)
{
    const a2a::exchange how{
        .caller = to,
        .agent = from,
        .asked = a2a::operation::stream,
        .sent = a2a::operation::stream
    };
    const auto wrapped = from.over == a2a::binding::jsonrpc ? "{\"result\":" + event + "}" : event;
    const auto made = tests::translated_event(how, wrapped);
    if (made.code != 0) {
        CHECK(made.code == a2a::rpc_code::invalid_agent_response);
        return {};
    }
    return std::string{to.over == a2a::binding::jsonrpc ? tests::member_of(made.text, "result") : made.text};
}

std::string request_in(a2a::dialect from, a2a::dialect to, const std::string& params)
{
    const std::string path = from.version == a2a::generation::v03 ? "/v1/message:send" : "/message:send";
    const auto row = from.over == a2a::binding::jsonrpc
                         ? "{\"params\":" + params + "}"
                         : R"({"verb":"POST","target":")" + path + R"(","body":)" + params + "}";
    const auto made = tests::translated_request(from, to, a2a::operation::send, row);
    if (made.code != 0) {
        CHECK(made.code == a2a::rpc_code::invalid_params);
        return {};
    }
    return std::string{tests::member_of(made.text, to.over == a2a::binding::jsonrpc ? "params" : "body")};
}

void check_same(const std::string& fast, const std::optional<json>& slow)
{
    REQUIRE(fast.empty() != slow.has_value());
    if (slow) {
        CHECK(json::parse(fast) == *slow);
    }
}

}  // namespace

TEST_CASE("what both generations can say comes back from 1.0 as the same bytes")
{
    for (std::uint32_t seed = 1; seed <= 1500; ++seed) {
        CAPTURE(seed);
        tests::generated_dialect random{seed};
        const auto event = random.event();
        for (const auto between : {new_rpc, new_rest}) {
            const auto there = event_in(old_rpc, between, event);
            REQUIRE_FALSE(there.empty());
            CHECK(tests::compact(event_in(between, old_rpc, there)) == tests::compact(event));
            const auto rest = event_in(between, old_rest, there);
            REQUIRE_FALSE(rest.empty());
            CHECK(event_in(old_rest, between, rest).size() <= there.size());
        }
        const auto params = random.send_params();
        for (const auto between : {new_rpc, new_rest}) {
            const auto there = request_in(old_rpc, between, params);
            REQUIRE_FALSE(there.empty());
            CHECK(tests::compact(request_in(between, old_rpc, there)) == tests::compact(params));
        }
    }
}

TEST_CASE("a slow translator agrees on what is whole and on what is broken")
{
    std::size_t refused = 0;
    for (std::uint32_t seed = 1; seed <= 4000; ++seed) {
        CAPTURE(seed);
        tests::generated_dialect random{seed};
        constexpr std::array dialects{old_rpc, new_rpc, old_rest, new_rest};
        const auto from = dialects.at(random.below(4));
        auto to = dialects.at(random.below(4));
        if (a2a::shape_of(from) == a2a::shape_of(to)) {
            to = from.version == a2a::generation::v1 ? old_rpc : new_rest;
        }
        const bool event = random.sometimes();
        const auto made = event ? random.event() : random.send_params();
        const auto first = event ? event_in(old_rpc, new_rpc, made) : request_in(old_rpc, new_rpc, made);
        auto document = json::parse(
            from == old_rpc
                ? made
                : (from == new_rpc ? first : (event ? event_in(new_rpc, from, first) : request_in(new_rpc, from, first))
                  ),
            nullptr,
            false
        );
        if (document.is_discarded()) {
            continue;  // references to tasks, which HTTP+JSON of 0.3 cannot say
        }
        for (int i = 0; i < 3; ++i) {
            CAPTURE(document.dump());
            tests::slow_dialect slow{a2a::shape_of(from), a2a::shape_of(to), event};
            const auto expected = event ? slow.event(document) : slow.send_params(document);
            refused += expected ? 0 : 1;
            check_same(event ? event_in(from, to, document.dump()) : request_in(from, to, document.dump()), expected);
            tests::mutate(document, [&random](std::size_t bound) { return random.below(bound); });
            if (!document.is_object()) {
                break;
            }
        }
    }
    CHECK(refused > 1000);
}

TEST_SUITE_END();
