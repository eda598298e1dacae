#include "tests/unit/gateway/bundles/real_tools.hpp"

#include "core/json/json.hpp"
#include "tests/unit/mcp/captures.hpp"

#include <doctest/doctest.h>

#include <array>
#include <fstream>
#include <utility>

namespace tests {
namespace {

// Prefixes as an operator gives them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 16> prefixes{{
    {"001", "everything"},
    {"002", "filesystem"},
    {"005", "playwright"},
    {"006", "allcaps"},
    {"007", "context7"},
    {"010", "gitlab"},
    {"011", "puppeteer"},
    {"012", "brave"},
    {"015", "charts"},
    {"016", "hostinger"},
    {"017", "git"},
    {"020", "eslint"},
    {"022", "taskmaster"},
    {"023", "kubernetes"},
    {"026", "n8n"},
    {"027", "sentry"},
}};

std::string prefix_of(std::string_view file)
{
    for (const auto& [number, prefix] : prefixes) {
        if (file.starts_with(number)) {
            return std::string{prefix};
        }
    }
    FAIL("no prefix: " << file);
    return {};
}

std::string trimmed(std::string_view text)
{
    const auto begin = text.find_first_not_of(' ');
    return begin == text.npos ? std::string{} : std::string{text.substr(begin, text.find_last_not_of(' ') - begin + 1)};
}

}  // namespace

void real_tools::add_member(std::string_view name, std::string_view title)
{
    members_.push_back({std::string{name}, std::string{title}, 0});
}

void real_tools::add_raw(std::string_view member, std::string_view name, std::string_view definition)
{
    REQUIRE(members_.back().name == member);
    auto tool = core::parse_json(definition, {.bytes = 1024 * 1024});
    REQUIRE(tool.has_value());
    const auto exposed = std::string{member} + "__" + std::string{name};
    (*tool)["name"] = exposed;
    held_->push_back({exposed, std::string{name}, core::to_text(*tool), members_.size() - 1});
}

void real_tools::add(
    std::string_view member,
    std::string_view name,
    std::string_view description,
    std::string_view schema
)
{
    core::json tool{{"description", std::string{description}}};
    tool["inputSchema"] = *core::parse_json(schema);
    add_raw(member, name, core::to_text(tool));
}

gateway::bundles::tools_to_search real_tools::source() const
{
    gateway::bundles::tools_to_search all{.owner = held_, .members = members_};
    for (const auto& each : *held_) {
        all.tools.push_back(
            {.name = each.name, .own_name = each.own, .definition = each.definition, .member = each.member}
        );
    }
    return all;
}

gateway::bundles::tool_index_pointer real_tools::index() const
{
    auto made = std::make_shared<const gateway::bundles::tool_index>(source());
    REQUIRE(made->prepare().has_value());
    return made;
}

real_tools all_real_tools(std::size_t count)
{
    real_tools all;
    for (int copy = 0; copy == 0 || all.size() < count; ++copy) {
        for (const auto& each : captures()) {
            const auto lists = discovered(each);
            const auto prefix = prefix_of(each.file) + (copy == 0 ? "" : std::to_string(copy));
            all.add_member(prefix, lists.server.title);
            for (const auto& tool : lists[mcp::list_kind::tools]) {
                if (count == 0 || all.size() < count) {
                    all.add_raw(prefix, tool.key, tool.raw);
                }
            }
        }
    }
    return all;
}

std::vector<real_question> real_questions(const std::string& name)
{
    std::vector<real_question> questions;
    std::ifstream file{CARDEA_TEST_DATA "/tool_search/" + name};
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#')) {
            continue;
        }
        real_question question;
        const auto bar = line.find('|');
        REQUIRE_MESSAGE(bar != line.npos, line);
        question.text = trimmed(line.substr(0, bar));
        for (auto rest = line.substr(bar + 1); !rest.empty();) {
            const auto comma = rest.find(',');
            question.right.push_back(trimmed(rest.substr(0, comma)));
            rest = comma == rest.npos ? "" : rest.substr(comma + 1);
        }
        questions.push_back(std::move(question));
    }
    return questions;
}

}  // namespace tests
