#include "gateway/cards/card_explanation.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

TEST_SUITE_BEGIN("gateway/card_explanation");

namespace {

using core::json;
using gateway::cards::explain_card;

json parsed(const char* text)
{
    return core::parse_json(text).value();
}

// Operation, path and reason of each change, in lines.
std::string told(const json& changes)
{
    std::string all;
    for (const auto& each : changes) {
        all += each["op"].get<std::string>() + ' ' + each["path"].get<std::string>() + ' ' +
               each["why"].get<std::string>() + '\n';
    }
    return all;
}

// Of a card that is neither repaired nor prepared.
std::string translated(const char* raw, const char* served)
{
    const auto before = parsed(raw);
    const auto after = parsed(served);
    return told(explain_card({before, before, before, after}));
}

}  // namespace

TEST_CASE("An equal card has no changes, in whatever order its members are")
{
    CHECK(translated(R"({"name":"A","url":"http://a/"})", R"({"url":"http://a/","name":"A"})").empty());
}

TEST_CASE("Each change has its reason")
{
    const auto raw =
        parsed(R"({"name":"A","description":7,"url":"http://a/","signatures":[{}],"secret":1,"old":true})");
    const auto repaired =
        parsed(R"({"name":"A","description":"","url":"http://a/","signatures":[{}],"secret":1,"old":true})");
    const auto prepared = parsed(R"({"name":"B","description":"","url":"http://g/agents/a","provider":{},"old":true})");
    const auto served = parsed(
        R"({"name":"B","description":"","url":"http://g/agents/a","provider":{},"signatures":[{"protected":"x"}],"new":1})"
    );
    CHECK(
        told(explain_card({raw, repaired, prepared, served})) ==
        "replace /name rewritten\n"
        "replace /description repaired\n"
        "replace /url rewritten\n"
        "add /signatures/0/protected signature\n"
        "remove /secret dropped\n"
        "remove /old dropped\n"
        "add /provider added\n"
        "add /new translated\n"
    );
}

TEST_CASE("What another version says in other words is translated, and what it cannot say is dropped")
{
    CHECK(
        translated(
            R"({"url":"http://g/","protocolVersion":"0.3.0","custom":1})",
            R"({"supportedInterfaces":[{"url":"http://g/"}]})"
        ) ==
        "remove /url translated\n"
        "remove /protocolVersion translated\n"
        "remove /custom dropped\n"
        "add /supportedInterfaces translated\n"
    );
}

TEST_CASE("Skills are compared by their ids, and a path leads into the served card")
{
    const auto raw = parsed(R"({"skills":[{"id":"a"},{"id":"b","name":"B"},{"id":"c"}]})");
    const auto served = parsed(R"({"skills":[{"id":"b","name":"C"},{"id":"d"}]})");
    const auto changes = explain_card({raw, raw, served, served});
    CHECK(
        told(changes) ==
        "remove /skills/0 dropped\n"
        "replace /skills/0/name rewritten\n"
        "remove /skills/2 dropped\n"
        "add /skills/1 added\n"
    );
    CHECK(changes[1]["from"] == "B");
    CHECK(changes[1]["to"] == "C");
    CHECK_FALSE(changes[0].contains("to"));
}

TEST_CASE("Names of members are escaped in paths, and long values are left out")
{
    for (const auto size : {std::size_t{2045}, std::size_t{2046}, std::size_t{2047}}) {
        const json raw{{"a/b~c", std::string(size, 'x')}};
        const json served{{"a/b~c", 1}};
        const auto changes = explain_card({raw, raw, served, served});
        REQUIRE(changes.size() == 1);
        CHECK(changes[0]["path"] == "/a~1b~0c");
        CHECK(changes[0]["to"] == 1);
        CHECK(changes[0].contains("from") == (size <= 2046));  // with its quotes
    }
}

TEST_CASE("At most 1000 changes are told")
{
    for (const auto members : {std::size_t{999}, std::size_t{1000}, std::size_t{1001}}) {
        json raw = json::object();
        for (std::size_t i = 0; i < members; ++i) {
            raw["m" + std::to_string(i)] = 1;
        }
        const auto served = json::object();
        CHECK(explain_card({raw, raw, raw, served}).size() == std::min<std::size_t>(members, 1000));
    }
}

TEST_SUITE_END();
