#include "mcp/pins/lock_file.hpp"

#include "core/json/ambiguity.hpp"
#include "core/json/json.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace mcp {
namespace {

using core::json;

constexpr std::int64_t version = 1;
constexpr std::size_t most_members = 20'000;

core::error unfit(const std::string& what)
{
    return core::gateway_error(core::errc::config_invalid, what);
}

// The place of the first byte that is not JSON, from 1.
core::error not_json(std::string_view text)
{
    std::size_t at = text.size();
    try {
        // Nothing is kept of it: a document may be nested deeper than its end could bear.
        static_cast<void>(json::parse(text, [](int, json::parse_event_t, json&) { return false; }));
    } catch (const json::parse_error& why) {
        at = std::min(why.byte > 0 ? why.byte - 1 : 0, text.size());
    } catch (const json::exception&) {
        at = 0;
    }
    const auto before = text.substr(0, at);
    const auto line = std::ranges::count(before, '\n') + 1;
    const auto column = at - (before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1) + 1;
    return unfit("line " + std::to_string(line) + ", column " + std::to_string(column) + ": is not JSON");
}

bool is_fingerprint(const json& value)
{
    const auto* text = value.is_string() ? &value.get_ref<const std::string&>() : nullptr;
    return text != nullptr && text->size() == 64 &&
           std::ranges::all_of(*text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

core::result<> read_print(const json& value, const std::string& where, std::string& into)
{
    if (value.is_null()) {
        return {};
    }
    if (!is_fingerprint(value)) {
        return unfit(where + ": expected 64 hexadecimal digits in small letters, or null");
    }
    into = value.get<std::string>();
    return {};
}

core::result<locked_agent> read_agent(const json& agent, const std::string& where)
{
    if (!agent.is_object()) {
        return unfit(where + ": expected an object with card, instructions and tools");
    }
    locked_agent out;
    for (const auto& [name, value] : agent.items()) {
        core::result<> read;
        if (name == "card") {
            read = read_print(value, where + ".card", out.card);
        } else if (name == "instructions") {
            read = read_print(value, where + ".instructions", out.instructions);
        } else if (name != "tools") {
            return unfit(where + '.' + name + ": is not known; expected card, instructions or tools");
        } else if (!value.is_object()) {
            return unfit(where + ".tools: expected an object of names and fingerprints");
        } else {
            for (const auto& [tool, print] : value.items()) {
                read = !read ? read : read_print(print, where + ".tools." + tool, out.tools[tool]);
            }
        }
        if (!read) {
            return std::move(read).error();
        }
    }
    return out;
}

json shown(const std::string& print)
{
    return print.empty() ? json{} : json(print);
}

}  // namespace

core::result<lock_file> read_lock_file(std::string_view text)
{
    const auto read = core::parse_json(text, {.bytes = longest_lock_file, .depth = 8, .members = most_members});
    if (!read) {
        return text.size() > longest_lock_file || json::accept(text) ? unfit(read.error().detail) : not_json(text);
    }
    if (!read->is_object()) {
        return unfit("expected an object with version and agents");
    }
    if (const auto two_ways = core::ambiguity(text)) {
        return unfit(*two_ways);  // reviewers would read another file
    }
    lock_file out;
    bool versioned = false;
    for (const auto& [name, value] : read->items()) {
        if (name == "version") {
            if (value != version) {
                return unfit("version: expected 1");
            }
            versioned = true;
        } else if (name != "agents") {
            return unfit(name + ": is not known; expected version or agents");
        } else if (!value.is_object()) {
            return unfit("agents: expected an object of ids");
        } else {
            for (const auto& [id, agent] : value.items()) {
                auto one = read_agent(agent, "agents." + id);
                if (!one) {
                    return std::move(one).error();
                }
                out.insert_or_assign(id, std::move(*one));
            }
        }
    }
    return versioned ? core::result<lock_file>{std::move(out)} : unfit("version: is missing; expected 1");
}

std::string lock_file_text(const lock_file& file)
{
    auto agents = json::object();
    for (const auto& [id, each] : file) {
        auto tools = json::object();
        for (const auto& [name, print] : each.tools) {
            tools[name] = shown(print);
        }
        agents[id] = {
            {"card", shown(each.card)},
            {"instructions", shown(each.instructions)},
            {"tools", std::move(tools)}
        };
    }
    return json{
               {"version", version},
               {"agents", std::move(agents)}
           }.dump(2, ' ', false, json::error_handler_t::replace) +
           '\n';
}

}  // namespace mcp
