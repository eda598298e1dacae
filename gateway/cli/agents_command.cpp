#include "gateway/cli/agents_command.hpp"

#include "config/document.hpp"
#include "config/file.hpp"
#include "config/json_value.hpp"
#include "core/agent.hpp"
#include "gateway/cli/admin_client.hpp"
#include "gateway/cli/agent_tables.hpp"
#include "gateway/cli/pin_verbs.hpp"
#include "gateway/model/terminal_text.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <thread>
#include <utility>

namespace gateway::cli {
namespace {

using core::json;

constexpr std::uint64_t most_sorted = 1000;  // agents that agents/health gives in another order than that of ids

bool shows_document(const agents_command& command)
{
    return command.verb == agents_verb::card && command.form != card_form::diff;
}

class agents_cli {
public:
    agents_cli(const agents_command& command, admin_client gateway, bool terminal)
        : command_{command},
          gateway_{std::move(gateway)},
          table_{
              command.output == output_form::table ||
              (command.output == output_form::automatic && terminal && !shows_document(command))
          }
    {
    }

    exit_code run()
    {
        switch (command_.verb) {
            case agents_verb::list:
                list("agents/list", list_table);
                break;
            case agents_verb::get:
                get();
                break;
            case agents_verb::health:
                command_.id.empty() ? list("agents/health", health_table) : health();
                break;
            case agents_verb::wait:
                wait();
                break;
            case agents_verb::card:
                command_.form == card_form::served&& command_.a2a_version.empty() ? card() : explained_card();
                break;
            case agents_verb::history:
                history();
                break;
            case agents_verb::refresh:
                refresh();
                break;
            case agents_verb::reset:
                reset();
                break;
            case agents_verb::restart:
                restart();
                break;
            case agents_verb::add:
                command_.file.empty() ? add() : add_file();
                break;
            case agents_verb::remove:
                remove();
                break;
            case agents_verb::bundles:
                bundles();
                break;
            case agents_verb::contain:
            case agents_verb::release:
            case agents_verb::contain_principal:
            case agents_verb::release_principal:
                change_containment();
                break;
            case agents_verb::list_principals:
                principals();
                break;
            case agents_verb::pins:
            case agents_verb::approve:
                pins();
                break;
            case agents_verb::ids:
                ids();
                break;
        }
        return exit_;
    }

    const std::string& out() const { return out_; }
    const std::string& err() const { return err_; }

private:
    void complain(const std::string& message) { err_ += "cardea: " + model::printable(message) + "\n"; }

    void fail(exit_code code, const std::string& message)
    {
        exit_ = code;
        complain(message);
    }

    void report(const admin_failure& failure, const std::string& id)
    {
        exit_ = code_of(failure);
        err_ += complaints(failure, id);
    }

    // nullopt: the failure is reported.
    std::optional<json> call(std::string_view method, const json& params, const std::string& id)
    {
        auto result = gateway_.call(method, params);
        if (!result) {
            report(result.error(), id);
            return std::nullopt;
        }
        return std::move(*result);
    }

    void print(const json& value)
    {
        out_ = table_ ? model::shown_table(model::flattened(value)) : model::shown_json(value);
    }

    void list(std::string_view method, std::string (*table_of)(const json& found))
    {
        json filter = json::object();
        for (const auto& [key, value] :
             {std::pair{"protocol", &command_.protocol},
              {"text", &command_.text},
              {"status", &command_.status},
              {"after", &command_.after}}) {
            if (!value->empty()) {
                filter[key] = *value;
            }
        }
        if (!command_.tags.empty()) {
            filter["tag"] = command_.tags.front();
        }
        if (command_.fresh) {
            filter["fresh"] = true;
        }
        const auto found = found_agents(method, std::move(filter));
        if (!found) {
            report(found.error(), {});
            return;
        }
        out_ = table_ ? table_of(*found) : model::shown_json(*found);
        if (const auto next = shown_member(*found, "next"); table_ && !next.empty()) {
            complain("there may be more agents; continue with --after " + next);
        }
    }

    // A table of agents' health has the worst first, unless that would leave some out.
    admin_result found_agents(std::string_view method, json filter) const
    {
        const bool sortable = command_.verb == agents_verb::health && command_.after.empty();
        const auto limit = command_.limit.value_or(UINT64_MAX);
        const auto& sort = command_.sort;
        if (sort == "id" || !sortable || (sort.empty() && !table_)) {
            return gateway_.call_pages(method, std::move(filter), limit);
        }
        auto sorted = filter;
        sorted["sort"] = sort.empty() ? "trouble" : sort;
        sorted["limit"] = std::min(limit, most_sorted);
        auto found = gateway_.call(method, sorted);
        const bool whole = !found || command_.limit || !sort.empty() || found->at("agents").size() >= expected(*found);
        return whole ? std::move(found) : gateway_.call_pages(method, std::move(filter), limit);
    }

    // How many agents pass the filters.
    std::uint64_t expected(const json& found) const
    {
        std::uint64_t all = 0;
        const auto* const summary = core::member(found, "summary");
        const auto counted = summary == nullptr ? json::object() : *summary;
        for (const auto& [status, count] : counted.items()) {
            const bool counts = command_.status.empty() || command_.status == status;
            all += counts && count.is_number_unsigned() ? count.get<std::uint64_t>() : 0;
        }
        return all;
    }

    void bundles()
    {
        const auto found = gateway_.call_pages("bundles/list", json::object(), UINT64_MAX, "bundles");
        if (!found) {
            report(found.error(), {});
            return;
        }
        out_ = table_ ? bundles_table(*found) : model::shown_json(*found);
    }

    json params_of_one() const
    {
        json params{{"id", command_.id}};
        if (command_.fresh) {
            params["fresh"] = true;
        }
        return params;
    }

    void health()
    {
        const auto agent = call("agents/health", params_of_one(), command_.id);
        if (!agent) {
            return;
        }
        print(*agent);
        if (shown_member(*agent, "status") == "unhealthy") {
            fail(exit_code::refused, command_.id + ": unhealthy (" + shown_member(*agent, "reason") + ")");
        }
    }

    void get()
    {
        if (auto agent = call("agents/get", params_of_one(), command_.id)) {
            agent->erase("card");  // `agents card` prints it
            print(*agent);
        }
    }

    void card()
    {
        const auto agent = call("agents/get", {{"id", command_.id}}, command_.id);
        if (!agent) {
            return;
        }
        if (const auto* card = core::member(*agent, "card"); card != nullptr && !card->is_null()) {
            print(*card);
            return;
        }
        fail(exit_code::refused, command_.id + ": has no card yet; its state is " + state_of(*agent));
    }

    void explained_card()
    {
        json params{{"id", command_.id}};
        if (!command_.a2a_version.empty()) {
            params["a2aVersion"] = command_.a2a_version;
        }
        const auto card = call("agents/card", params, command_.id);
        if (!card) {
            return;
        }
        if (command_.form == card_form::diff) {
            const auto& changes = card->at("changes");
            out_ = table_ ? changes_text(changes) : model::shown_json(changes);
        } else if (const auto& shown = card->at(command_.form == card_form::raw ? "raw" : "served"); shown.is_null()) {
            fail(exit_code::refused, command_.id + ": is an MCP server, which has no card of its own");
        } else {
            print(shown);
        }
    }

    void history()
    {
        if (const auto found = call("agents/history", {{"id", command_.id}}, command_.id)) {
            out_ = table_ ? history_text(*found) : model::shown_json(*found);
        }
    }

    void restart()
    {
        if (const auto result = call("agents/restart", {{"id", command_.id}}, command_.id)) {
            const auto* const session = core::member(*result, "session");
            const auto state = session == nullptr ? std::string{} : shown_member(*session, "state");
            out_ = table_ ? model::printable(command_.id + ": its session begins again; it is " + state) + "\n"
                          : model::shown_json(*result);
        }
    }

    // Until the agent has the status, the time is over, or the gateway says that it never will.
    void wait()
    {
        constexpr std::chrono::milliseconds pause{250};
        constexpr core::duration longest{60'000};  // of one request
        const auto end = std::chrono::steady_clock::now() + command_.timeout;
        const auto left = [&] {
            const auto rest = std::chrono::ceil<core::duration>(end - std::chrono::steady_clock::now());
            return std::clamp(rest, core::duration{pause}, longest);
        };
        const auto wanted = command_.status.empty() ? std::string{"healthy"} : command_.status;
        for (;;) {
            const auto agent = gateway_.call("agents/health", {{"id", command_.id}}, left());
            if (agent && shown_member(*agent, "status") == wanted) {
                out_ = table_ ? status_line(*agent) + "\n" : model::shown_json(*agent);
                return;
            }
            const bool over = !agent && agent.error().reached && agent.error().code != "overloaded";
            if (over || std::chrono::steady_clock::now() + pause >= end) {
                agent ? fail(exit_code::refused, status_line(*agent)) : report(agent.error(), command_.id);
                return;
            }
            // Nobody has asked for its card yet: this does.
            if (agent && shown_member(*agent, "reason") == "not_fetched") {
                static_cast<void>(gateway_.call("agents/card", {{"id", command_.id}}, left()));
            }
            std::this_thread::sleep_for(pause);
        }
    }

    void change_containment()
    {
        const bool contains = command_.verb == agents_verb::contain || command_.verb == agents_verb::contain_principal;
        const auto method =
            std::string{command_.provider.empty() ? "agents/" : "principals/"} + (contains ? "contain" : "release");
        json params = json::object();
        const auto& provider = command_.provider;
        for (const auto& [key, value] :
             {std::pair{provider.empty() ? "id" : "principal", &command_.id},
              {"provider", &provider},
              {"reason", &command_.reason},
              {"until", &command_.until},
              {"notice", &command_.notice}}) {
            if (!value->empty()) {
                params[key] = *value;
            }
        }
        if (command_.dry_run) {
            params["dryRun"] = true;
        }
        const auto about = provider.empty() ? command_.id : provider + ' ' + command_.id;
        const auto result = call(method, params, about);
        if (!result) {
            return;
        }
        const auto with = contains ? std::string{} : shown_member(*result, "agent");
        if (!table_) {
            out_ = model::shown_json(*result);
        } else if (with.empty()) {
            out_ = containment_text(about, *result);
        }
        if (!command_.dry_run && !result->value("durable", false)) {
            complain(about + ": holds, but is not on disk: a restart lifts it");
        }
        if (const auto warning = shown_member(*result, "warning"); !warning.empty()) {
            complain(about + ": " + warning);
        }
        if (const auto* others = core::member(*result, "also_at"); others != nullptr && others->is_array()) {
            std::string all;
            for (const auto& each : *others) {
                all += (all.empty() ? "" : ", ") + each.get<std::string>();
            }
            complain(about + ": not contained with it, though at the same address: " + all);
        }
        if (!with.empty()) {
            fail(exit_code::refused, about + ": still contained, with the agent " + with);
        }
    }

    void pins()
    {
        auto done = run_pin_verb(command_, gateway_, table_);
        exit_ = done.code;
        out_ = std::move(done.out);
        err_ += done.err;
    }

    void principals()
    {
        json filter = json::object();
        if (!command_.after.empty()) {
            filter["after"] = command_.after;
        }
        const auto limit = command_.limit.value_or(UINT64_MAX);
        const auto found = gateway_.call_pages("principals/list", std::move(filter), limit, "principals");
        if (!found) {
            report(found.error(), {});
            return;
        }
        out_ = table_ ? principals_table(*found) : model::shown_json(*found);
    }

    void ids()
    {
        constexpr core::duration moment{200};
        json params{{"limit", most_sorted}};
        if (!command_.text.empty()) {
            params["text"] = command_.text;
        }
        const auto found = gateway_.call("agents/list", params, moment);
        const auto* const agents = found ? core::member(*found, "agents") : nullptr;
        for (std::size_t i = 0; agents != nullptr && agents->is_array() && i < agents->size(); ++i) {
            // A shell evaluates them: a stranger's words must not come through.
            const auto id = shown_member((*agents)[i], "id");
            if (core::valid_agent_id(id) && id.starts_with(command_.text)) {
                out_ += id + "\n";
            }
        }
    }

    void refresh()
    {
        json params{{"id", command_.id}};
        if (command_.dry_run) {
            params["dryRun"] = true;
        }
        if (const auto result = call("agents/refreshCard", params, command_.id)) {
            out_ = table_ ? refreshed_text(command_.id, *result, command_.dry_run) : model::shown_json(*result);
        }
    }

    void reset()
    {
        const auto result = call("agents/reset", {{"id", command_.id}}, command_.id);
        if (!result) {
            return;
        }
        if (!table_) {
            out_ = model::shown_json(*result);
            return;
        }
        const auto* was_open = core::member(*result, "reset");
        const bool changed = was_open != nullptr && *was_open == true;
        out_ =
            model::printable(command_.id) + (changed ? ": gets calls again\n" : ": its breaker was closed already\n");
    }

    void add()
    {
        json agent{{"url", command_.url}};
        if (!command_.protocol.empty()) {
            agent["protocol"] = command_.protocol;
        }
        if (!command_.card_url.empty()) {
            agent["card_url"] = command_.card_url;
        }
        if (!command_.tags.empty()) {
            agent["metadata"] = {{"tags", command_.tags}};
        }
        if (!command_.bearer_file.empty()) {
            const auto bearer = config::read_secret_file(command_.bearer_file);
            if (!bearer) {
                const auto& why = bearer.error().detail;
                fail(exit_code::unusable, "--bearer-file: " + command_.bearer_file + ": " + why);
                return;
            }
            agent["bearer"] = *bearer;
        }
        if (const auto result = upsert(command_.id, agent)) {
            out_ = table_ ? added_line(*result) : model::shown_json(*result);
        }
    }

    std::optional<json> upsert(const std::string& id, const json& agent)
    {
        json params{{"id", id}, {"agent", agent}};
        if (command_.if_version) {
            params["ifVersion"] = *command_.if_version;
        }
        return call("agents/upsert", params, id);
    }

    void add_file()
    {
        const auto agents = read_agents_file();
        if (!agents) {
            return;
        }
        json added = json::array();
        for (const auto& [id, agent] : agents->items()) {
            if (auto result = upsert(id, agent)) {
                out_ += added_line(*result);
                added.push_back(std::move(*result));
            } else if (exit_ == exit_code::unreached) {
                break;
            }
        }
        if (!table_) {
            out_ = model::shown_json({{"agents", std::move(added)}});
        }
    }

    // nullopt: the problems are reported.
    std::optional<json> read_agents_file()
    {
        const auto& file = command_.file;
        const auto text = config::read_file(file == "-" ? "/dev/stdin" : file);
        if (!text) {
            fail(exit_code::unusable, file + ": " + text.error().detail);
            return std::nullopt;
        }
        config::problem_list problems{file};
        const auto document = config::parse_document(*text, problems);
        if (!document || !problems.empty()) {
            for (const auto& problem : std::move(problems).take()) {
                fail(exit_code::unusable, config::to_text(problem));
            }
            return std::nullopt;
        }
        const auto whole = config::to_json(*document);
        const auto* agents = core::member(whole, "agents");
        if (agents == nullptr || !agents->is_object() || whole.size() != 1) {
            fail(exit_code::unusable, file + ": expected one key, `agents`, with a map of agents by id");
            return std::nullopt;
        }
        return *agents;
    }

    void remove()
    {
        json params{{"id", command_.id}};
        if (command_.if_version) {
            params["ifVersion"] = *command_.if_version;
        }
        if (const auto result = call("agents/delete", params, command_.id)) {
            out_ = table_ ? model::printable(command_.id) + ": removed\n" : model::shown_json(*result);
        }
    }

    const agents_command& command_;
    admin_client gateway_;
    bool table_;
    exit_code exit_ = exit_code::done;
    std::string out_;  // printable
    std::string err_;  // printable
};

}  // namespace

exit_code run_agents_command(const agents_command& command, const environment& variable)
{
    auto gateway = admin_client::open(command, variable);
    if (!gateway) {
        std::cerr << "cardea: " << model::printable(gateway.error().detail) << '\n';
        return exit_code::unusable;
    }
    agents_cli cli{command, std::move(*gateway), ::isatty(STDOUT_FILENO) == 1};
    const auto code = cli.run();
    std::cout << cli.out() << std::flush;
    std::cerr << cli.err();
    return code;
}

}  // namespace gateway::cli
