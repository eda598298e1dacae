#include "config/placeholders.hpp"

#include "config/agent_table.hpp"
#include "config/mcp_program.hpp"
#include "core/secret.hpp"

#include <string>
#include <variant>

namespace config {
namespace {

void refuse_placeholder(const node::name& key, const node& value, const std::string& path, problem_list& problems)
{
    if (value.text == core::masked) {
        problems.add(key.at, path, "is the mask of a credential; expected the credential itself");
    } else if (value.text.find("${") != std::string::npos) {
        problems.add(key.at, path, "has a variable in it, which only the configuration file may; expected its value");
    }
}

// At any depth.
void refuse_any_placeholder(const node::name& key, const node& value, const std::string& path, problem_list& problems)
{
    refuse_placeholder(key, value, path, problems);
    for (std::size_t i = 0; i < value.keys.size(); ++i) {
        refuse_any_placeholder(value.keys[i], value.items[i], join(path, value.keys[i].text), problems);
    }
}

// The mask of a query, as an address with one is shown.
void refuse_masked_query(const node& value, const place& at, const std::string& path, problem_list& problems)
{
    if (value.text.find(std::string{"?"} + core::masked) != std::string::npos) {
        problems.add(at, path, "has the mask of a query; expected the query itself");
    }
    for (std::size_t i = 0; i < value.items.size(); ++i) {
        refuse_masked_query(value.items[i], value.items[i].at, path + '[' + std::to_string(i) + ']', problems);
    }
}

void refuse_masked_proxy(const node& value, const place& at, const std::string& path, problem_list& problems)
{
    if (value.text.find(std::string{core::masked} + '@') != std::string::npos) {
        problems.add(at, path, "has the mask of a credential; expected the credential itself");
    }
}

// Of a transport, or of one in its short form.
void refuse_environment(const node& map, const std::string& path, problem_list& problems)
{
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
        const auto& key = map.keys[i];
        const auto& value = map.items[i];
        if (loads_code(key.text)) {
            problems
                .add(key.at, join(path, key.text), "decides which code is loaded; the configuration file may set it");
        } else if (value.is == node::kind::scalar) {
            refuse_placeholder(key, value, join(path, key.text), problems);
            refuse_masked_query(value, key.at, join(path, key.text), problems);
        } else if (key.text == "env" || key.text == "headers") {
            refuse_environment(value, join(path, key.text), problems);
        }
    }
}

}  // namespace

void refuse_placeholders(const node& record, std::string_view path, problem_list& problems)
{
    for (std::size_t i = 0; i < record.keys.size(); ++i) {
        const auto& key = record.keys[i];
        const auto& value = record.items[i];
        const auto below = join(path, key.text);
        const auto* row = find_agent_setting(key.text);
        if (row == nullptr) {
            continue;
        }
        const auto* part = std::get_if<transport_part>(&row->type);
        const auto* spelling = std::get_if<other_spelling>(&row->type);
        const auto& type = spelling != nullptr ? find_agent_setting(spelling->of)->type : row->type;
        if (std::holds_alternative<proxy_key>(type)) {
            refuse_masked_proxy(value, key.at, below, problems);
        } else if (std::holds_alternative<url_key>(type) || std::holds_alternative<url_list_key>(type)) {
            refuse_masked_query(value, key.at, below, problems);
        } else if (std::holds_alternative<secret_key>(row->type)) {
            refuse_placeholder(key, value, below, problems);
        } else if (std::holds_alternative<credentials_key>(row->type)) {
            refuse_any_placeholder(key, value, below, problems);
        } else if (std::holds_alternative<transport_key>(row->type) ||
                   (part != nullptr && part->is == transport_part::form::secrets)) {
            refuse_environment(value, below, problems);
        } else if (std::holds_alternative<secret_map_key>(row->type)) {
            for (std::size_t j = 0; j < value.keys.size(); ++j) {
                refuse_placeholder(value.keys[j], value.items[j], join(below, value.keys[j].text), problems);
            }
        }
    }
}

}  // namespace config
