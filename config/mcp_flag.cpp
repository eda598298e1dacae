#include "config/mcp_flag.hpp"

#include "config/agents.hpp"
#include "config/url.hpp"
#include "config/words.hpp"
#include "core/json/json.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace config {
namespace {

constexpr std::string_view expected_flag =
    "ID=COMMAND such as 'files=npx -y @modelcontextprotocol/server-filesystem /srv', or ID=URL";

core::error invalid(std::string what)
{
    return core::gateway_error(core::errc::config_invalid, std::move(what));
}

bool is_control(char c)
{
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
}

// As a shell reads `NAME=value program`.
bool sets_variable(std::string_view word)
{
    const auto name = word.substr(0, word.find('='));
    return name.size() < word.size() && !name.empty() && !(name[0] >= '0' && name[0] <= '9') &&
           std::all_of(
               name.begin(),
               name.end(),
               [](char c) {
                   return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
               }
           );
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
    if (std::any_of(words->front().begin(), words->front().end(), is_control)) {
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
    auto made = read_agent(id, *definition, "", {});
    if (!made.problems.empty()) {
        return invalid("the " + made.problems.front().key + " of " + id + ' ' + made.problems.front().what);
    }
    return std::move(made.agent);
}

}  // namespace config
