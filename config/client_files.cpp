#include "config/client_files.hpp"

#include "config/document.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace config {
namespace {

constexpr std::string_view of_client = "has no effect: only MCP clients use it";
constexpr std::string_view filter = "has no effect: `tools` says which tools callers get";
constexpr std::string_view no_login =
    "has no effect: Cardea signs in to MCP servers only with `headers` and `credentials`";

constexpr auto server_keys = std::to_array<client_key>({
    {"alwaysAllow", of_client},
    {"auth", no_login},
    {"authProviderType", no_login},
    {"autoApprove", of_client},
    {"chatMenu", of_client},
    {"description", of_client},
    {"dev", of_client},
    {"disabledTools", filter},
    {"enabledTools", filter},
    {"excludeTools", filter},
    {"gallery", of_client},
    {"headersHelper", no_login},
    {"iconPath", of_client},
    {"includeTools", filter},
    {"initTimeout", "has no effect: `timeouts.initialize` sets this time here"},
    {"name", of_client},
    {"oauth", no_login},
    {"requiresOAuth", no_login},
    {"serverInstructions", of_client},
    {"startup", of_client},
    {"stderr", "has no effect: Cardea logs what a server writes to stderr"},
    {"trust", of_client},
    {"watchPaths", of_client},
});

// The answers that `inputs` asks the user for come from the environment (expand.hpp); a `$schema` is for editors.
constexpr auto file_keys = std::to_array<client_key>({
    {"$schema", ""},
    {"globalShortcut", of_client},
    {"inputs", ""},
    {"preferences", of_client},
});

constexpr auto sections = std::to_array<std::string_view>({"mcpServers", "servers"});

const client_key* find(std::span<const client_key> keys, std::string_view name)
{
    const auto found =
        std::find_if(keys.begin(), keys.end(), [&](const client_key& each) { return each.name == name; });
    return found == keys.end() ? nullptr : &*found;
}

// Seconds for some clients, milliseconds for others.
bool is_client_timeout(std::string_view key, const node& value)
{
    return key == "timeout" && value.is == node::kind::scalar && value.plain && !value.text.empty() &&
           value.text.find_first_not_of("0123456789") == value.text.npos;
}

// The reason to leave this member out; null: there is none.
const client_key* client_member(const node& map, std::size_t i, std::span<const client_key> keys)
{
    static constexpr client_key timeout{
        "timeout",
        "has no effect: it has no unit; `timeouts.request` sets this time here, such as 30s"
    };
    const auto& name = map.keys[i].text;
    const bool of_server = keys.data() == server_keys.data();
    return of_server && is_client_timeout(name, map.items[i]) ? &timeout : find(keys, name);
}

void leave_out(node& map, std::string_view path, std::span<const client_key> keys, problem_list& problems)
{
    std::size_t kept = 0;
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
        const auto* const left_out = client_member(map, i, keys);
        if (left_out == nullptr) {
            if (kept != i) {
                map.keys[kept] = std::move(map.keys[i]);
                map.items[kept] = std::move(map.items[i]);
            }
            ++kept;
        } else if (!left_out->why.empty()) {
            problems.warn(map.keys[i].at, join(path, left_out->name), std::string{left_out->why});
        }
    }
    map.keys.resize(kept);
    map.items.resize(kept);
}

void leave_out_client_keys(node& root, problem_list& problems)
{
    if (root.is != node::kind::map) {
        return;
    }
    leave_out(root, "", file_keys, problems);
    for (std::size_t i = 0; i < root.keys.size(); ++i) {
        const auto& section = root.keys[i].text;
        auto& servers = root.items[i];
        if (servers.is != node::kind::map || !is_client_section(section)) {
            continue;
        }
        for (std::size_t j = 0; j < servers.keys.size(); ++j) {
            if (servers.items[j].is == node::kind::map) {
                leave_out(servers.items[j], join(section, servers.keys[j].text), server_keys, problems);
            }
        }
    }
}

}  // namespace

std::span<const client_key> client_server_keys()
{
    return server_keys;
}

std::span<const client_key> client_file_keys()
{
    return file_keys;
}

std::span<const std::string_view> client_sections()
{
    return sections;
}

bool is_client_section(std::string_view key) noexcept
{
    return std::find(sections.begin(), sections.end(), key) != sections.end();
}

std::string_view foreign_section(std::string_view key) noexcept
{
    if (key == "context_servers") {
        return "is Zed's name for MCP servers; expected `mcpServers`";
    }
    if (key == "extensions") {
        return "is Goose's form of MCP servers; expected `mcpServers`, with `command` for `cmd` and `env` for `envs`";
    }
    return {};
}

std::optional<node> read_document(std::string_view text, std::string_view file_name, problem_list& problems)
{
    const auto name = core::in_lower_case(file_name);
    std::string without_comments;
    if (name.ends_with(".toml")) {
        problems.add({}, "", "is TOML; expected YAML or JSON, with the servers below `mcpServers`");
        return {};
    }
    if (name.ends_with(".json") || name.ends_with(".jsonc")) {
        without_comments = text;
        if (const auto open = blank_comments(without_comments)) {
            problems.add(open->at, "", open->why);
            return {};
        }
        text = without_comments;
    }
    auto root = parse_document(text, problems);
    if (root) {
        leave_out_client_keys(*root, problems);
    }
    return root;
}

}  // namespace config
