#include "config/agent_table.hpp"

#include "config/compare.hpp"
#include "config/dump.hpp"
#include "config/file.hpp"
#include "config/json_schema.hpp"
#include "config/schema.hpp"
#include "tests/unit/config/agent_rows.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <tuple>

using namespace config::testing;
using core::json;

TEST_SUITE_BEGIN("config/agent_table");

namespace {

std::string full_text()
{
    const auto text = config::read_file(CARDEA_TEST_DATA "/config/full.yml");
    REQUIRE(text.has_value());
    return *text;
}

config::settings full()
{
    const auto token = [](const std::string& path) { return core::result<std::string>{file_text(path, session_key)}; };
    auto loaded = config::load(full_text(), "full.yml", variables, token);
    REQUIRE(lines(loaded.problems) == "");
    return std::move(loaded.value);
}

config::settings with_agent(core::agent agent)
{
    config::settings settings;
    settings.agents.push_back(std::move(agent));
    return settings;
}

// Rows for other spellings, short forms and files have no value of their own.
bool has_own_value(const config::agent_setting& row)
{
    auto agent = usual_agent_with(row);
    return change(row, agent);
}

template <class Members, class Others>
std::size_t same_members(const Members& a, const Others& b)
{
    return std::apply(
        [&](const auto&... of_a) {
            return std::apply([&](const auto&... of_b) { return (std::size_t{of_a == of_b} + ...); }, b);
        },
        a
    );
}

}  // namespace

TEST_CASE("every member of a record has a key")
{
    auto agent = config::usual_agent(core::protocol::a2a);
    agent.mcp.emplace();
    const auto usual = agent;
    for (const auto& row : config::all_agent_settings()) {
        change(row, agent);
    }
    CHECK(same_members(members_of(agent), members_of(usual)) == 0);
    CHECK(same_members(members_of(*agent.mcp), members_of(*usual.mcp)) == 0);
}

TEST_CASE("every key is read into the record; the full example gives each one a value that is not the usual one")
{
    const auto agents = full().agents;
    for (const auto& row : config::all_agent_settings()) {
        CAPTURE(row.name);
        const auto read = std::any_of(agents.begin(), agents.end(), [&](const core::agent& each) {
            return !config::same_value(row, each, usual_agent_with(row));
        });
        CHECK(read == has_own_value(row));
    }
}

TEST_CASE("every key is in the reference and the JSON Schema")
{
    const auto reference = config::reference_markdown();
    const auto schema = config::json_schema()["$defs"]["agent"];
    for (const auto& row : config::all_agent_settings()) {
        CAPTURE(row.name);
        CHECK(reference.find("\n| `" + std::string{row.name} + "` | " + row.form().described + " |") != reference.npos);
        auto path = pointer_of(row).to_string();
        for (auto at = path.rfind('/'); at != path.npos; at = at == 0 ? path.npos : path.rfind('/', at - 1)) {
            path.insert(at, "/properties");
        }
        CHECK(schema.value(json::json_pointer{path + "/description"}, "") == row.meaning);
    }
}

TEST_CASE("a change of any key is noticed, and the key is named")
{
    for (const auto& row : config::all_agent_settings()) {
        CAPTURE(row.name);
        auto agent = usual_agent_with(row);
        if (change(row, agent)) {
            const auto found = config::compare(with_agent(usual_agent_with(row)), with_agent(agent));
            REQUIRE(found.changed.size() == 1);
            CHECK(found.changed.front().keys == std::vector{config::first_part(row.name)});
        }
    }
}

TEST_CASE("every key is dumped under its own name, or under the one that it is short for")
{
    const auto dumped = config::dump(full(), {full_text(), "full.yml", variables, {}})["agents"];
    for (const auto& row : config::all_agent_settings()) {
        CAPTURE(row.name);
        const bool other_name = row.is_spelling() || row.type.is == config::agent_key::relation::transport_part;
        const bool shown = std::any_of(dumped.begin(), dumped.end(), [&](const json& agent) {
            return agent.value(pointer_of(row) / "origin", "").starts_with("full.yml:") &&
                   !agent.at(pointer_of(row) / "value").is_null();
        });
        CHECK(shown != other_name);
    }
}

TEST_CASE("the dump shows the value of a key that is not written in a file")
{
    for (const auto& row : config::all_agent_settings()) {
        CAPTURE(row.name);
        auto agent = usual_agent_with(row);
        change(row, agent);
        const auto value = config::shown_value(row, agent);
        if (!value.is_null()) {
            CHECK(config::dump(with_agent(agent), {})["agents"]["a"].at(pointer_of(row) / "value") == value);
        }
    }
}

TEST_CASE("what stands for a key is a key or a setting too")
{
    for (const auto& row : config::all_agent_settings()) {
        CAPTURE(row.name);
        CHECK((row.usual.setting.empty() || config::find_setting(row.usual.setting) != nullptr));
        CHECK((row.type.of.empty() || config::find_agent_setting(row.type.of) != nullptr));
    }
}

TEST_SUITE_END();
