#include "config/mcp_shown.hpp"

#include "config/json_value.hpp"
#include "config/url.hpp"
#include "core/secret.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace config {
namespace {

core::json hide_values(const node& value)
{
    auto hidden = to_json(value);
    if (value.is == node::kind::scalar) {
        hidden = core::masked;
    } else {
        std::size_t i = 0;
        for (auto& item : hidden) {
            item = hide_values(value.items[i++]);
        }
    }
    return hidden;
}

// A command may be a whole line with options.
std::string first_word(const std::string& command)
{
    const auto blank = command.find_first_of(" \t\r\n");
    return blank == std::string::npos ? command : command.substr(0, blank) + ' ' + core::masked;
}

}  // namespace

core::json shown_member(std::string_view name, const node& value)
{
    constexpr auto harmless =
        std::to_array<std::string_view>({"type", "cwd", "memory", "cpus", "network", "name", "registryType", "version"}
        );
    if (value.is == node::kind::scalar && !value.from_outside) {
        if (name == "command") {
            return first_word(value.text);
        }
        if (name == "url") {
            return shown_url(value.text);
        }
        if (std::find(harmless.begin(), harmless.end(), name) != harmless.end()) {
            return to_json(value);
        }
    }
    if (name != "package" || value.is != node::kind::map) {
        return hide_values(value);
    }
    auto shown = core::json::object();
    for (std::size_t i = 0; i < value.keys.size(); ++i) {
        append_member(shown, value.keys[i].text, shown_member(value.keys[i].text, value.items[i]));
    }
    return shown;
}

}  // namespace config
