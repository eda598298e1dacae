#include "gateway/responses/index_page.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/index_page");

namespace {

using gateway::responses::index_answer;

constexpr std::array routes{
    gateway::responses::index_route{"GET", "/agents", "all \"agents\""},
    gateway::responses::index_route{"POST", "/a", "one"},
};

net::http1::request_head accepting(const std::vector<std::string_view>& values)
{
    net::http1::request_head head;
    for (const auto value : values) {
        head.fields.push_back({.name = "accept", .value = value});
    }
    return head;
}

}  // namespace

TEST_CASE("the index is text in columns, with the version only if there is one to show")
{
    const auto shown = index_answer(accepting({"text/html,*/*;q=0.8"}), "1.2.3", routes);
    CHECK(shown.status == 200);
    CHECK(shown.content_type == "text/plain; charset=utf-8");
    CHECK(shown.fields == "Cache-Control: no-store\r\nVary: Accept\r\n");
    CHECK(
        shown.body ==
        "Cardea 1.2.3, a gateway for A2A agents and MCP servers\n"
        "\n"
        "GET   /agents  all \"agents\"\n"
        "POST  /a       one\n"
        "\n"
        "Documentation: docs/reference.md of Cardea\n"
    );
    CHECK(index_answer(accepting({}), {}, routes)
              .body.starts_with("Cardea, a gateway for A2A agents and MCP servers\n\nGET "));
}

TEST_CASE("the index is JSON for whoever asks for application/json")
{
    const auto shown = index_answer(accepting({"text/plain", "Application/JSON;q=0.9"}), "1.2.3", routes);
    CHECK(shown.content_type == "application/json");
    const auto body = core::parse_json(shown.body);
    REQUIRE(body.has_value());
    CHECK((*body)["name"] == "Cardea");
    CHECK((*body)["version"] == "1.2.3");
    REQUIRE((*body)["routes"].size() == 2);
    CHECK((*body)["routes"][0]["method"] == "GET");
    CHECK((*body)["routes"][0]["path"] == "/agents");
    CHECK((*body)["routes"][0]["purpose"] == "all \"agents\"");
    const auto without = core::parse_json(index_answer(accepting({"application/json"}), {}, routes).body);
    REQUIRE(without.has_value());
    CHECK_FALSE(without->contains("version"));
}

TEST_SUITE_END();
