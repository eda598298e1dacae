#include "gateway/cli/pin_verbs.hpp"

#include "gateway/cli/agent_tables.hpp"
#include "gateway/cli/options.hpp"
#include "gateway/model/terminal_text.hpp"
#include "mcp/pins/lock_file.hpp"

#include <algorithm>
#include <utility>

namespace gateway::cli {
namespace {

using core::json;

std::string subject_of(const json& item)
{
    const auto name = shown_member(item, "name");
    return shown_member(item, "kind") + (name.empty() ? "" : ' ' + name);
}

std::string sentence_of(const std::string& why)
{
    if (why == "new") {
        return "is new, and hidden from callers";
    }
    if (why == "changed") {
        return "has changed; callers get the approved form, or none";
    }
    if (why == "words") {
        return "has other words; callers read the approved ones";
    }
    return "has no room among the pins, and is hidden (pins_full)";
}

std::string operation_text(const json& operation)
{
    const auto* const value = core::member(operation, "value");
    return "    " + shown_member(operation, "op") + ' ' + shown_member(operation, "path") +
           (value == nullptr ? "" : " " + core::to_text(*value));
}

const json& list_in(const json& of, std::string_view name)
{
    static const auto none = json::array();
    const auto* const found = core::member(of, name);
    return found != nullptr && found->is_array() ? *found : none;
}

bool is_chosen(const json& item, const pin_choice& choice)
{
    const auto kind = shown_member(item, "kind");
    return choice.all || (kind == "card" && choice.card) || (kind == "instructions" && choice.instructions) ||
           (kind == "tool" && std::ranges::find(choice.tools, shown_member(item, "name")) != choice.tools.end());
}

verb_outcome failed(const admin_failure& why, const std::string& about)
{
    return {code_of(why), {}, complaints(why, about)};
}

// Every form of a chosen tool that waits is among them.
json chosen_items(const json& held, const pin_choice& choice)
{
    auto items = json::array();
    for (const auto& each : held) {
        if (is_chosen(each, choice)) {
            json item{{"kind", each.at("kind")}, {"sha256", each.at("sha256")}};
            if (each.contains("name")) {
                item["name"] = each.at("name");
            }
            items.push_back(std::move(item));
        }
    }
    return items;
}

verb_outcome run_approve(const agents_command& command, const admin_client& gateway, bool table)
{
    const auto& id = command.id;
    const auto known = gateway.call("agents/pins", {{"id", id}, {"diff", false}});
    if (!known) {
        return failed(known.error(), id);
    }
    const auto& agents = list_in(*known, "agents");
    auto items = chosen_items(agents.empty() ? json{} : list_in(agents.front(), "held"), command.pins);
    if (items.empty()) {
        return {
            exit_code::refused,
            {},
            model::printable("cardea: " + id + ": nothing of this waits to be approved") + "\n"
        };
    }
    const auto done = gateway.call("agents/approve", {{"id", id}, {"items", std::move(items)}});
    if (!done) {
        return failed(done.error(), id);
    }
    if (!table) {
        return {exit_code::done, model::shown_json(*done)};
    }
    std::string out;
    for (const auto& each : list_in(*done, "approved")) {
        out += model::printable(id + ": approved " + subject_of(each)) + "\n";
    }
    out += model::printable(id + ": " + shown_member(*done, "held") + " still wait") + "\n";
    return {exit_code::done, std::move(out)};
}

}  // namespace

void add_pin_verbs(CLI::App& agents, agents_command& command)
{
    auto& pins = *agents.add_subcommand("pins", "Show what is approved of agents, and what waits for that");
    pins.preparse_callback([&command](std::size_t) { command.verb = agents_verb::pins; });
    add_nonempty(pins, "ID", "one agent (default: all)", command.id);
    pins.add_flag("--diff", command.pins.diff, "with the differences to what is approved");
    auto* const lock = pins.add_flag("--lock", command.pins.lock, "print a lock file that approves the same");
    lock->excludes(pins.get_option("--diff"));
    auto& approve =
        *agents.add_subcommand("approve", "Approve what waits of an agent: its card, instructions or tools");
    approve.preparse_callback([&command](std::size_t) { command.verb = agents_verb::approve; });
    add_nonempty(approve, "ID", "the agent's id", command.id)->required();
    approve.add_flag("--all", command.pins.all, "everything that waits");
    approve.add_flag("--card", command.pins.card, "the card");
    approve.add_flag("--instructions", command.pins.instructions, "the instructions");
    add_list(approve, "--tool NAME", "a tool, as the server calls it; may be repeated", command.pins.tools);
    approve.callback([&command] {
        const auto& chosen = command.pins;
        if (!chosen.all && !chosen.card && !chosen.instructions && chosen.tools.empty()) {
            throw CLI::ValidationError("expected --all, --card, --instructions or --tool NAME");
        }
    });
}

std::string pins_text(const json& agents)
{
    std::string out;
    for (const auto& agent : agents) {
        const auto& held = list_in(agent, "held");
        out += model::printable(
                   shown_member(agent, "id") + ": " + shown_member(agent, "mode") + ", " +
                   std::to_string(list_in(agent, "approved").size()) + " approved, " + std::to_string(held.size()) +
                   " held"
               ) +
               "\n";
        for (const auto& each : held) {
            out += model::printable("  " + subject_of(each) + ' ' + sentence_of(shown_member(each, "why"))) + "\n";
            for (const auto& operation : list_in(each, "diff")) {
                out += model::printable(operation_text(operation)) + "\n";
            }
        }
        for (const auto& each : list_in(agent, "volatile")) {
            out += model::printable("  " + each.get<std::string>() + " has other words all the time (volatile)") + "\n";
        }
    }
    return out;
}

std::string lock_text_of(const json& agents)
{
    ::mcp::lock_file file;
    for (const auto& agent : agents) {
        auto& locked = file[shown_member(agent, "id")];
        for (const auto& each : list_in(agent, "approved")) {
            const auto kind = shown_member(each, "kind");
            auto sha256 = shown_member(each, "sha256");
            if (kind == "tool") {
                locked.tools[shown_member(each, "name")] = std::move(sha256);
            } else {
                (kind == "card" ? locked.card : locked.instructions) = std::move(sha256);
            }
        }
    }
    return ::mcp::lock_file_text(file);
}

verb_outcome run_pin_verb(const agents_command& command, const admin_client& gateway, bool table)
{
    if (command.verb == agents_verb::approve) {
        return run_approve(command, gateway, table);
    }
    json params{{"diff", command.pins.diff}};
    if (!command.id.empty()) {
        params["id"] = command.id;
    }
    const auto found = command.id.empty() ? gateway.call_pages("agents/pins", std::move(params), UINT64_MAX)
                                          : gateway.call("agents/pins", params);
    if (!found) {
        return failed(found.error(), command.id);
    }
    const auto& agents = list_in(*found, "agents");
    if (command.pins.lock) {
        return {exit_code::done, lock_text_of(agents)};
    }
    return {exit_code::done, table ? pins_text(agents) : model::shown_json(*found)};
}

}  // namespace gateway::cli
