#include "config/mcp_flag.hpp"

#include "config/agents.hpp"
#include "config/expand.hpp"
#include "config/url.hpp"
#include "config/words.hpp"
#include "core/ascii.hpp"
#include "core/json/json.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace config {
namespace {

constexpr std::string_view expected_flag =
    "ID=COMMAND such as 'files=npx -y @modelcontextprotocol/server-filesystem /srv', or ID=URL";

core::error invalid(std::string detail)
{
    return core::gateway_error(core::errc::config_invalid, std::move(detail));
}

// As a shell reads `NAME=value program`.
bool sets_variable(std::string_view word)
{
    const auto equals = word.find('=');
    return equals != word.npos && is_variable_name(word.substr(0, equals));
}

core::result<core::json> at_url(const std::string& id, std::string_view text)
{
    const auto url = parse_http_url(text, query::allowed);
    if (!url) {
        return invalid(
            "the URL of " + id + ' ' + url.error().detail +
            "; expected an http or https URL such as https://mcp.example.com/mcp"
        );
    }
    return core::json{{"protocol", "mcp"}, {"url", *url}};
}

core::result<core::json> of_program(const std::string& id, std::string_view text)
{
    auto words = split_words(text);
    if (!words) {
        return invalid("the command of " + id + ' ' + words.error().detail);
    }
    if (words->empty() || words->front().empty()) {
        return invalid("the command of " + id + " is empty; expected " + std::string{expected_flag});
    }
    if (std::ranges::any_of(words->front(), core::is_control)) {
        return invalid("the program of " + id + " has a control character in its name; expected its path or name");
    }
    if (sets_variable(words->front())) {
        return invalid(
            "the command of " + id +
            " begins with a variable, and no shell sets it; expected `env` in a configuration file, or the program env"
        );
    }
    core::json definition{{"protocol", "mcp"}, {"command", std::move(words->front())}};
    words->erase(words->begin());
    definition["args"] = std::move(*words);
    return definition;
}

}  // namespace

core::result<core::agent> parse_mcp_flag(std::string_view flag)
{
    const auto equals = flag.find('=');
    if (equals == std::string_view::npos) {
        return invalid("has no '='; expected " + std::string{expected_flag});
    }
    const std::string id{flag.substr(0, equals)};
    if (!core::valid_agent_id(id)) {
        return invalid("what is before the first '=' is not an agent's id; expected " + std::string{expected_flag});
    }
    const auto rest = flag.substr(equals + 1);
    const bool url = rest.substr(0, rest.find_first_of(" \t\"'\\=?")).find("://") != rest.npos;
    const auto definition = url ? at_url(id, rest) : of_program(id, rest);
    if (!definition) {
        return definition.error();
    }
    auto read = read_agent(id, *definition, "", {});
    if (!read.problems.empty()) {
        return invalid("the " + read.problems.front().key + " of " + id + ' ' + read.problems.front().what);
    }
    return std::move(read.agent);
}

}  // namespace config
