#include "gateway/a2a/a2a_version.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
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
