#include "core/json/json.hpp"
#include "core/utf8.hpp"
#include "mcp/bundle/answers.hpp"

#include <doctest/doctest.h>

#include <vector>

TEST_SUITE_BEGIN("mcp/bundle/opening");

namespace {

mcp::server_facts facts_of(std::string_view capabilities, mcp::era speaks = mcp::era::legacy)
{
    mcp::server_facts facts;
    facts.speaks = speaks;
    facts.capabilities = capabilities;
    facts.offers[mcp::index_of(mcp::list_kind::tools)] = capabilities.find("tools") != std::string_view::npos;
    facts.offers[mcp::index_of(mcp::list_kind::resources)] = capabilities.find("resources") != std::string_view::npos;
    return facts;
}

const mcp::opening_words words{.bundle = "default", .version = "1.2", .instructions = "Search \"first\"."};

std::string initialize(const std::vector<mcp::opening_member>& members, const mcp::opening_words& with = words)
{
    std::string out;
    mcp::append_initialize_result(out, "2025-06-18", members, with);
    return out;
}

std::string discover(const std::vector<mcp::opening_member>& members)
{
    std::string out;
    mcp::append_discover_result(out, members, words);
    return out;
}

std::string instructions(const std::vector<mcp::opening_member>& members)
{
    const auto parsed = core::parse_json(initialize(members, {.bundle = "b", .version = "1"}));
    REQUIRE(parsed.has_value());
    return core::text_member(*parsed, "instructions");
}

}  // namespace

TEST_CASE("initialize has the capabilities of all members together")
{
    const auto tools = facts_of(R"({"tools":{"listChanged":false},"logging":{},"tasks":{},"x":{}})");
    const auto files = facts_of(R"({"resources":{"subscribe":true}})");
    CHECK(
        initialize({{.id = "a", .facts = &tools}, {.id = "b", .facts = &files, .unavailable = true}}) ==
        R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"logging":{}},"serverInfo":{"name":"cardea/default","version":"1.2"},"instructions":"Search \"first\".","_meta":{"cardea/unavailable":["b"]}})"
    );
    CHECK(initialize({}).find(R"("capabilities":{})") != std::string::npos);
}

TEST_CASE("a member that is starting counts as having every capability")
{
    CHECK(
        initialize({{.id = "a"}})
            .find(
                R"("capabilities":{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"completions":{},"logging":{}})"
            ) != std::string::npos
    );
}

TEST_CASE("the version is the client's if it is known, else the latest of its era")
{
    for (const auto& [asked, agreed] :
         {std::pair{"2024-11-05", "2024-11-05"}, std::pair{"2026-07-28", "2025-11-25"}, std::pair{"", "2025-11-25"}}) {
        std::string out;
        mcp::append_initialize_result(out, asked, {}, words);
        CHECK(out.starts_with(R"({"protocolVersion":")" + std::string{agreed} + '"'));
    }
}

TEST_CASE("server/discover has the words of its era, and subscriptions of modern servers alone")
{
    const auto legacy = facts_of(R"({"resources":{"subscribe":true}})");
    const auto modern = facts_of(R"({"resources":{"subscribe":true}})", mcp::era::modern);
    CHECK(
        discover({{.id = "a", .facts = &legacy, .has_tasks = true}}) ==
        R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"resources":{"listChanged":true},"extensions":{"io.modelcontextprotocol/tasks":{}}},"instructions":"Search \"first\".","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"cardea/default","version":"1.2"}}})"
    );
    CHECK(discover({{.id = "a", .facts = &modern}}).find(R"("subscribe":true)") != std::string::npos);
}

TEST_CASE("instructions of members have a heading each and are cut between characters")
{
    auto one = facts_of("{}");
    one.instructions = "Read.";
    auto two = facts_of("{}");
    two.instructions = "Write.";
    const auto silent = facts_of("{}");
    CHECK(
        instructions(
            {{.id = "a", .title = "Files", .facts = &one}, {.id = "s", .facts = &silent}, {.id = "b", .facts = &two}}
        ) == "## Files\n\nRead.\n\n## b\n\nWrite."
    );
    one.instructions.clear();
    for (int i = 0; i < 5000; ++i) {
        one.instructions += "\xC3\xA9";
    }
    const auto cut = instructions({{.id = "a", .facts = &one}, {.id = "b", .facts = &two}});
    CHECK(cut.size() <= mcp::longest_bundle_instructions);
    CHECK(cut.size() > mcp::longest_bundle_instructions - 4);
    CHECK(cut.find(core::replacement_text) == std::string::npos);
    CHECK(instructions({}).empty());
}

TEST_SUITE_END();
