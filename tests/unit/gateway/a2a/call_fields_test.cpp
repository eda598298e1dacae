#include "gateway/a2a/call_fields.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/a2a_version");

namespace {

using gateway::a2a::said_version;
using gateway::a2a::version_said;

said_version said(const std::vector<std::string>& values, std::string_view query = {})
{
    net::http1::field_list fields;
    for (const auto& each : values) {
        fields.push_back({net::http1::field_name::other, "a2a-version", each});
    }
    return version_said(fields, query);
}

}  // namespace

TEST_CASE("a version is two numbers, and a third one does not count")
{
    CHECK(said({}) == said_version::none);
    CHECK(said({""}) == said_version::none);
    for (const std::string version : {"0.2", "0.2.5", "0.3", "0.3.0"}) {
        CAPTURE(version);
        CHECK(said({version}) == said_version::v03);
    }
    for (const std::string version : {"1", "1.0", "1.0.1", "1.0.99"}) {
        CAPTURE(version);
        CHECK(said({version}) == said_version::v1);
    }
    for (const std::string version : {"0", "0.1", "0.4", "1.1", "2", "2.0", "10.0", "01.0"}) {
        CAPTURE(version);
        CHECK(said({version}) == said_version::other);
    }
    for (const std::string version :
         {"x", "v1", "1.", ".0", "1..0", "1.0.", "1.0.0.0", "1.x", "1.0-rc", "1.0, 0.3", "-1"}) {
        CAPTURE(version);
        CHECK(said({version}) == said_version::garbage);
    }
}

TEST_CASE("a version that is named twice is one version if it is the same")
{
    CHECK(said({"1.0", "1.0"}) == said_version::v1);
    CHECK(said({"1.0", "0.3"}) == said_version::garbage);
}

TEST_CASE("the query names a version if the head does not")
{
    CHECK(said({}, "?A2A-Version=1.0") == said_version::v1);
    CHECK(said({}, "?x=1&a2a-version=0.3&y") == said_version::v03);
    CHECK(said({}, "?A2A-Version=") == said_version::none);
    CHECK(said({}, "?A2A-Version") == said_version::none);
    CHECK(said({}, "?xA2A-Version=1.0") == said_version::none);
    CHECK(said({"0.3"}, "?A2A-Version=1.0") == said_version::v03);
    CHECK(said({}, "?A2A-Version=1.0&x=1&a2a-version=1.0") == said_version::v1);
    CHECK(said({}, "?A2A-Version=1.0&A2A-Version=0.3") == said_version::garbage);
}

TEST_CASE("only a supported version is a generation")
{
    using gateway::a2a::generation_said;
    CHECK(generation_said(said_version::v1) == ::a2a::generation::v1);
    CHECK(generation_said(said_version::v03) == ::a2a::generation::v03);
    for (const auto other : {said_version::none, said_version::other, said_version::garbage}) {
        CHECK_FALSE(generation_said(other).has_value());
    }
}

TEST_SUITE_END();

TEST_SUITE_BEGIN("gateway/call_extensions");

namespace {

using a2a::generation;
using gateway::a2a::extension_terms;
using gateway::a2a::read_extension_fields;
using lines = std::vector<std::pair<std::string_view, std::string_view>>;

constexpr std::string_view of_1 = "A2A-Extensions";
constexpr std::string_view of_03 = "X-A2A-Extensions";
constexpr std::string_view own = "urn:cardea:a2a:extension:gateway:v1";

net::http1::field_list fields_of(const lines& written)
{
    net::http1::field_list fields;
    for (const auto& [name, value] : written) {
        fields.push_back({net::http1::lookup_field(name), name, value});
    }
    return fields;
}

// What the agent gets and what the caller hears: "=" as the caller has written it, "-" nothing, "?" as the agent says.
std::string outcome(const lines& written, generation agent, generation caller = generation::v1)
{
    const auto read = read_extension_fields(fields_of(written), extension_terms{caller, agent, nullptr});
    REQUIRE(read.has_value());
    const auto& [to_agent, to_caller, facts, missing] = *read;
    CHECK(missing.empty());
    for (const auto& [name, value] : written) {
        CHECK((facts || value.find(own) == std::string_view::npos));
    }
    const auto line = to_agent ? *to_agent : "=";
    return (line.empty() ? "-" : line) + " " + (to_caller.empty() ? "?" : std::string{to_caller});
}

std::string line(std::string_view name, std::string_view value)
{
    return std::string{name} + ": " + std::string{value} + "\r\n";
}

}  // namespace

TEST_CASE("What the agent reads passes as it is, and the echo has the caller's name")
{
    CHECK(outcome({}, generation::v1) == "= ?");
    CHECK(outcome({{"Accept", "a"}}, generation::v03) == "= ?");
    CHECK(outcome({{of_1, "a, b"}}, generation::v1) == "= A2A-Extensions");
    CHECK(outcome({{of_03, "a ,b"}}, generation::v03) == "= X-A2A-Extensions");
    CHECK(outcome({{of_03, "a"}, {of_1, "b"}}, generation::v03, generation::v03) == "= X-A2A-Extensions");
    CHECK(outcome({{of_03, "a"}, {of_1, "b"}}, generation::v1, generation::v1) == "= A2A-Extensions");
}

TEST_CASE("What only has the name of the other generation goes on under the agent's, in one field")
{
    CHECK(outcome({{of_1, "a,b"}, {of_1, "c"}}, generation::v03) == line(of_03, "a, b, c") + " A2A-Extensions");
    CHECK(outcome({{"x-a2a-extensions", "a"}}, generation::v1) == line(of_1, "a") + " X-A2A-Extensions");
    CHECK(outcome({{of_1, ""}}, generation::v03) == "- A2A-Extensions");
}

TEST_CASE("The gateway's own extensions stay here")
{
    CHECK(outcome({{of_1, own}}, generation::v1) == "- A2A-Extensions");
    const auto both = std::string{own} + ", a";
    CHECK(outcome({{of_1, both}}, generation::v1) == line(of_1, "a") + " A2A-Extensions");
    CHECK(outcome({{of_1, "a"}, {of_03, own}}, generation::v1) == line(of_1, "a") + " A2A-Extensions");
}

TEST_CASE("What the agent requires and the caller does not name is missing, under whichever name it would stand")
{
    const auto required =
        std::make_shared<const gateway::model::extension_uris>(gateway::model::extension_uris{"u:a", "u:b"});
    const auto missing = [&](const lines& written) {
        const auto read = read_extension_fields(fields_of(written), {generation::v1, generation::v1, required});
        REQUIRE(read.has_value());
        std::string all;
        for (const auto uri : read->missing) {
            all.append(uri).append(" ");
        }
        return all;
    };
    CHECK(missing({}) == "u:a u:b ");
    CHECK(missing({{of_1, "u:b"}}) == "u:a ");
    CHECK(missing({{of_1, "u:b"}, {of_03, "x, u:a"}}) == "");
    CHECK(missing({{of_1, "U:a,u:b/"}}) == "u:a u:b ");
}

TEST_CASE("More than a list may have is 431")
{
    const std::string long_one(a2a::extension_list::longest + 1, 'u');
    const auto read = read_extension_fields(fields_of({{of_1, long_one}}), {});
    REQUIRE(read.has_error());
    CHECK(read.error().code == core::errc::header_too_large);
    CHECK(read.error().from == core::side::caller);
}

TEST_SUITE_END();
