#include "gateway/cli/agents_command.hpp"

#include "config/document.hpp"
#include "config/json_value.hpp"
#include "gateway/cli/agents_table.hpp"
#include "gateway/model/terminal_text.hpp"

#include <algorithm>
#include <utility>

namespace gateway::cli {
namespace {

using core::json;

constexpr std::uint64_t page_size = 500;

class agents_cli {
public:
    agents_cli(const agents_command& asked, const command_surroundings& with)
        : asked_{asked},
          with_{with},
          table_{
              asked.output == output_form::table ||
              (asked.output == output_form::automatic && with.terminal && asked.what != agents_verb::card)
          }
    {
    }

    command_outcome run()
    {
        switch (asked_.what.value_or(agents_verb::list)) {
            case agents_verb::list:
                list();
                break;
            case agents_verb::get:
                get();
                break;
            case agents_verb::health:
                asked_.id.empty() ? health_of_all() : health();
                break;
            case agents_verb::card:
                card();
                break;
            case agents_verb::refresh:
                refresh();
                break;
            case agents_verb::add:
                add();
                break;
            case agents_verb::remove:
                remove();
                break;
        }
        return std::move(done_);
    }

private:
    void complain(const std::string& what) { done_.err += "cardea: " + model::printable(what) + "\n"; }

    void refuse(command_exit code, const std::string& what)
    {
        done_.code = code;
        complain(what);
    }

    // The result; nothing: it has been said what went wrong.
    std::optional<json> ask(std::string_view method, const json& params, const std::string& about)
    {
        auto outcome = with_.ask(method, params);
        if (auto* result = std::get_if<json>(&outcome)) {
            return std::move(*result);
        }
        if (const auto* unreachable = std::get_if<unreached>(&outcome)) {
            refuse(command_exit::unreached, "the gateway is not reached at " + asked_.admin + ": " + unreachable->why);
            return std::nullopt;
        }
        const auto& why = std::get<declined>(outcome);
        refuse(command_exit::refused, (about.empty() ? "" : about + ": ") + why.message + " (" + why.code + ")");
        if (const auto* problems = core::member(why.data, "problems"); problems != nullptr && problems->is_array()) {
            for (const auto& each : *problems) {
                complain((about.empty() ? "" : about + ": ") + text_of(each, "path") + ": " + text_of(each, "what"));
            }
        }
        if (const auto version = text_of(why.data, "version"); !version.empty()) {
            complain(about + ": its version is " + version);
        }
        return std::nullopt;
    }

    struct found_agents {
        json agents = json::array();
        json next;     // null: these are all
        json summary;  // of health
    };

    // All pages, or as many agents as are asked for; nothing: it has been said what went wrong.
    std::optional<found_agents> find_all(std::string_view method)
    {
        json params = json::object();
        for (const auto& [key, value] :
             {std::pair{"protocol", &asked_.protocol},
              {"text", &asked_.text},
              {"status", &asked_.status},
              {"after", &asked_.after}}) {
            if (!value->empty()) {
                params[key] = *value;
            }
        }
        if (!asked_.tags.empty()) {
            params["tag"] = asked_.tags.front();
        }
        const auto most = asked_.limit.value_or(UINT64_MAX);
        found_agents found;
        do {
            params["limit"] =
                std::min<std::uint64_t>(page_size, std::max<std::uint64_t>(most - found.agents.size(), 1));
            auto page = ask(method, params, {});
            if (!page) {
                return std::nullopt;
            }
            for (auto& each : (*page)["agents"]) {
                if (found.agents.size() < most) {
                    found.agents.push_back(std::move(each));
                }
            }
            if (found.summary.is_null()) {
                found.summary = page->value("summary", json{});
            }
            found.next = page->value("next", json{});
            params["after"] = found.next;
        } while (found.next.is_string() && found.agents.size() < most);
        return found;
    }

    void print_found(found_agents found, table_rows (*rows_of)(const json& agents))
    {
        if (table_) {
            done_.out = model::shown_table(rows_of(found.agents)) +
                        model::printable(shown_summary(found.summary), /*lines=*/true);
            if (found.next.is_string()) {
                complain("there may be more: --after " + found.next.get<std::string>());
            }
            return;
        }
        json out{{"agents", std::move(found.agents)}};
        for (auto& [key, value] : {std::pair{"next", &found.next}, {"summary", &found.summary}}) {
            if (!value->is_null()) {
                out[key] = std::move(*value);
            }
        }
        done_.out = model::shown_json(out);
    }

    void list()
    {
        if (auto found = find_all("agents/list")) {
            print_found(std::move(*found), list_rows);
        }
    }

    void health_of_all()
    {
        if (auto found = find_all("agents/health")) {
            print_found(std::move(*found), health_rows);
        }
    }

    void health()
    {
        const auto agent = ask("agents/health", {{"id", asked_.id}}, asked_.id);
        if (!agent) {
            return;
        }
        print(*agent);
        if (text_of(*agent, "status") == "unhealthy") {
            refuse(command_exit::refused, asked_.id + ": unhealthy (" + text_of(*agent, "reason") + ")");
        }
    }

    void print(const json& value)
    {
        done_.out += table_ ? model::shown_table(model::flattened(value)) : model::shown_json(value);
    }

    void get()
    {
        auto agent = ask("agents/get", {{"id", asked_.id}}, asked_.id);
        if (agent) {
            agent->erase("card");  // that is `agents card`
            print(*agent);
        }
    }

    void card()
    {
        const auto agent = ask("agents/get", {{"id", asked_.id}}, asked_.id);
        if (!agent) {
            return;
        }
        if (const auto* card = core::member(*agent, "card"); card != nullptr && !card->is_null()) {
            print(*card);
            return;
        }
        refuse(command_exit::refused, asked_.id + ": has no card yet; its state is " + state_of(*agent));
    }

    void refresh()
    {
        json params{{"id", asked_.id}};
        if (asked_.dry_run) {
            params["dryRun"] = true;
        }
        const auto done = ask("agents/refreshCard", params, asked_.id);
        if (!done) {
            return;
        }
        if (!table_) {
            print(*done);
            return;
        }
        const bool changed = done->value("changed", false);
        const std::string said = asked_.dry_run ? (changed ? ": would change\n" : ": would not change\n")
                                                : (changed ? ": changed\n" : ": has not changed\n");
        std::string out = asked_.id + said;
        const auto* diff = core::member(*done, "diff");
        for (std::size_t i = 0; changed && diff != nullptr && diff->is_array() && i < diff->size(); ++i) {
            const auto& each = (*diff)[i];
            out += "  " + text_of(each, "op") + " " + text_of(each, "path");
            const auto* value = core::member(each, "value");
            out += value == nullptr ? "\n" : " " + core::to_text(*value) + "\n";
        }
        const auto* status = core::member(*done, "card_status");
        const auto* problems = core::member(status == nullptr ? *done : *status, "problems");
        out += problems == nullptr ? std::string{} : shown_problems(*problems);
        done_.out = model::printable(out, /*lines=*/true);
    }

    void add()
    {
        if (!asked_.file.empty()) {
            add_file();
            return;
        }
        json agent{{"url", asked_.url}};
        if (!asked_.protocol.empty()) {
            agent["protocol"] = asked_.protocol;
        }
        if (!asked_.card_url.empty()) {
            agent["card_url"] = asked_.card_url;
        }
        if (!asked_.tags.empty()) {
            agent["metadata"] = {{"tags", asked_.tags}};
        }
        if (!asked_.bearer_file.empty()) {
            const auto bearer = with_.read_secret(asked_.bearer_file);
            if (!bearer) {
                refuse(command_exit::unusable, "--bearer-file: " + asked_.bearer_file + ": " + bearer.error().detail);
                return;
            }
            agent["bearer"] = *bearer;
        }
        if (const auto done = upsert(asked_.id, agent)) {
            print_added({*done});
        }
    }

    std::optional<json> upsert(const std::string& id, const json& agent)
    {
        json params{{"id", id}, {"agent", agent}};
        if (asked_.if_version) {
            params["ifVersion"] = *asked_.if_version;
        }
        return ask("agents/upsert", params, id);
    }

    void add_file()
    {
        const auto agents = read_agents_file();
        if (!agents) {
            return;
        }
        std::vector<json> added;
        for (const auto& [id, agent] : agents->items()) {
            if (auto done = upsert(id, agent)) {
                added.push_back(std::move(*done));
            } else if (done_.code == command_exit::unreached) {
                break;
            }
        }
        print_added(added);
    }

    std::optional<json> read_agents_file()
    {
        const auto wrong = [&](const std::string& what) {
            refuse(command_exit::unusable, what);
            return std::nullopt;
        };
        const auto path = asked_.file == "-" ? std::string{"/dev/stdin"} : asked_.file;
        const auto text = with_.read_file(path);
        if (!text) {
            return wrong(asked_.file + ": " + text.error().detail);
        }
        config::problem_list problems{asked_.file};
        const auto document = config::parse_document(*text, problems);
        if (!document || !problems.empty()) {
            for (const auto& each : std::move(problems).take()) {
                wrong(config::to_text(each));
            }
            return std::nullopt;
        }
        auto whole = config::to_json(*document);
        const auto* agents = core::member(whole, "agents");
        if (agents == nullptr || !agents->is_object() || whole.size() != 1) {
            return wrong(asked_.file + ": expected a map with the one key `agents`, which holds a map of agents by id");
        }
        return *agents;
    }

    void print_added(const std::vector<json>& added)
    {
        if (table_) {
            for (const auto& each : added) {
                const bool kept = each.value("durable", false);
                done_.out += model::printable(
                    text_of(each, "id") + (each.value("created", false) ? ": added" : ": changed") + ", version " +
                        text_of(each, "version") + (kept ? "" : ", until the gateway ends") + "\n",
                    /*lines=*/true
                );
            }
            return;
        }
        done_.out = model::shown_json(asked_.file.empty() ? added.front() : json{{"agents", added}});
    }

    void remove()
    {
        json params{{"id", asked_.id}};
        if (asked_.if_version) {
            params["ifVersion"] = *asked_.if_version;
        }
        const auto done = ask("agents/delete", params, asked_.id);
        if (done && table_) {
            done_.out = model::printable(asked_.id) + ": removed\n";
        } else if (done) {
            print(*done);
        }
    }

    const agents_command& asked_;
    const command_surroundings& with_;
    bool table_;
    command_outcome done_;
};

}  // namespace

command_outcome carry_out(const agents_command& asked, const command_surroundings& with)
{
    return agents_cli{asked, with}.run();
}

}  // namespace gateway::cli
