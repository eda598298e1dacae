#include "tests/unit/mcp/captures.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tests {
namespace {

constexpr std::array<const char*, mcp::list_kinds> members{"tools", "resources", "resourceTemplates", "prompts"};

capture read_capture(const std::filesystem::path& path)
{
    std::stringstream text;
    text << std::ifstream{path}.rdbuf();
    const auto written = core::parse_json(text.str(), {.bytes = 4 * 1024 * 1024});
    REQUIRE(written.has_value());
    capture read{path.filename().string(), core::to_text((*written)["initialize"]), {}, {}};
    for (std::size_t i = 0; i < mcp::list_kinds; ++i) {
        const auto& items = (*written)[members[i]];
        read.results.push_back(
            items.is_array() ? list_result(static_cast<mcp::list_kind>(i), core::to_text(items)) : std::string{}
        );
    }
    for (const auto& each : (*written)["serverMessages"]) {
        read.server_messages.push_back(core::to_text(each));
    }
    return read;
}

std::vector<capture> read_all()
{
    std::vector<capture> all;
    for (const auto& entry : std::filesystem::directory_iterator{CARDEA_TEST_DATA "/mcp"}) {
        if (entry.path().extension() == ".json") {
            all.push_back(read_capture(entry.path()));
        }
    }
    std::ranges::sort(all, {}, &capture::file);
    return all;
}

}  // namespace

const std::vector<capture>& captures()
{
    static const auto all = read_all();
    return all;
}

std::string list_result(mcp::list_kind list, std::string_view items)
{
    return std::string{"{\""} + members[mcp::index_of(list)] + "\":" + std::string{items} + "}";
}

mcp::server_lists discovered(const capture& from)
{
    auto facts = mcp::read_initialize_result(from.initialize);
    REQUIRE(facts.has_value());
    mcp::list_reader walk{facts->offers, facts->speaks};
    while (const auto question = walk.next()) {
        const auto& result = from.results[mcp::index_of(question->list)];
        const auto taken =
            result.empty() ? walk.refuse({.code = mcp::method_not_found, .text = {}, .data = {}}) : walk.accept(result);
        REQUIRE_MESSAGE(taken.has_value(), from.file);
    }
    REQUIRE_MESSAGE(walk.left_out().count == 0, from.file);
    mcp::server_lists base;
    base.server = std::move(*facts);
    return std::move(walk).onto(std::move(base));
}

}  // namespace tests
