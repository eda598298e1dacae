#include "gateway/cli/agents_command.hpp"

#include "config/document.hpp"
#include "config/file.hpp"
#include "config/json_value.hpp"
#include "gateway/cli/admin_client.hpp"
#include "gateway/model/terminal_text.hpp"

#include <unistd.h>

#include <iostream>
#include <utility>
#include <vector>

namespace gateway::cli {
namespace {

using core::json;

std::string source_of(const json& agent)
{
    const auto* stored = core::member(agent, "stored");
    return stored == nullptr ? "configuration" : "added, version " + text_of(*stored, "version");
}

std::string member_of(const json& agent, std::string_view part, std::string_view key)
{
    const auto* object = core::member(agent, part);
    return object == nullptr ? std::string{} : text_of(*object, key);
}

std::string with_reason(const std::string& state, const std::string& reason)
{
    return reason.empty() ? state : state + " (" + reason + ")";
}

std::string summary_line(const json& summary)
{
    std::string out;
    for (const auto& [status, count] : summary.items()) {
        out += (out.empty() ? "" : ", ") + core::to_text(count) + " " + status;
    }
    return out.empty() ? out : out + "\n";
}

std::string problem_lines(const json& problems)
{
    std::string out;
    for (std::size_t i = 0; problems.is_array() && i < problems.size(); ++i) {
        const auto severity = text_of(problems[i], "severity");
        out += "  " + (severity.empty() ? "" : severity + ": ") + text_of(problems[i], "path") + ": " +
               text_of(problems[i], "what") + "\n";
    }
    return out;
}

}  // namespace

std::string text_of(const json& object, std::string_view key)
{
    const auto* value = core::member(object, key);
    if (value == nullptr || value->is_null()) {
        return {};
    }
    return value->is_string() ? value->get<std::string>() : core::to_text(*value);
}

std::string state_of(const json& agent)
{
    if (core::member(agent, "unusable") != nullptr) {
        return "unusable";
    }
    const auto* status = core::member(agent, "card_status");
    if (status == nullptr) {
        return {};
    }
    const auto* failure = core::member(*status, "failure");
    return text_of(*status, "state") + (failure == nullptr ? "" : " (" + text_of(*failure, "code") + ")");
}

std::string list_table(const json& found)
{
    std::vector<std::vector<std::string>> rows{{"ID", "PROTOCOL", "SOURCE", "CARD", "SKILLS", "URL"}};
    for (const auto& agent : found.at("agents")) {
        rows.push_back(
            {text_of(agent, "id"),
             text_of(agent, "protocol"),
             source_of(agent),
             state_of(agent),
             member_of(agent, "card_status", "skills"),
             text_of(agent, "url")}
        );
    }
    return model::shown_table(rows);
}

std::string health_table(const json& found)
{
    std::vector<std::vector<std::string>> rows{{"ID", "PROTOCOL", "STATUS", "CARD", "SESSION", "UPTIME", "RESTARTS"}};
    for (const auto& agent : found.at("agents")) {
        const auto uptime = member_of(agent, "session", "uptime_seconds");
        rows.push_back(
            {text_of(agent, "id"),
             text_of(agent, "protocol"),
             with_reason(text_of(agent, "status"), text_of(agent, "reason")),
             with_reason(member_of(agent, "card", "state"), member_of(agent, "card", "failure")),
             with_reason(member_of(agent, "session", "state"), member_of(agent, "session", "reason")),
             uptime.empty() ? uptime : uptime + "s",
             member_of(agent, "session", "restarts")}
        );
    }
    const auto* summary = core::member(found, "summary");
    return model::shown_table(rows) +
           model::printable(summary_line(summary == nullptr ? json{} : *summary), /*lines=*/true);
}

std::string refreshed_text(const std::string& id, const json& result, bool dry_run)
{
    const bool changed = result.value("changed", false);
    std::string out = id + (dry_run ? (changed ? ": would change\n" : ": would not change\n")
                                    : (changed ? ": changed\n" : ": has not changed\n"));
    const auto* diff = core::member(result, "diff");
    for (std::size_t i = 0; changed && diff != nullptr && diff->is_array() && i < diff->size(); ++i) {
        const auto& difference = (*diff)[i];
        out += "  " + text_of(difference, "op") + " " + text_of(difference, "path");
        const auto* value = core::member(difference, "value");
        out += value == nullptr ? "\n" : " " + core::to_text(*value) + "\n";
    }
    const auto* status = core::member(result, "card_status");
    const auto* problems = core::member(status == nullptr ? result : *status, "problems");
    return model::printable(out + (problems == nullptr ? "" : problem_lines(*problems)), /*lines=*/true);
}

std::string added_line(const json& result)
{
    const auto* outcome = result.value("created", false) ? ": added" : ": changed";
    const auto* lifetime = result.value("durable", false) ? "" : ", until the gateway stops";
    return model::printable(text_of(result, "id") + outcome + ", version " + text_of(result, "version") + lifetime) +
           "\n";
}

std::string bundles_table(const json& found)
{
    std::vector<std::vector<std::string>> members{
        {"BUNDLE", "PATH", "AGENT", "AS", "STATE", "TOOLS", "PROMPTS", "RESOURCES"}
    };
    std::vector<std::vector<std::string>> renamed{{"BUNDLE", "AGENT", "LIST", "NAME", "EXPOSED AS"}};
    for (const auto& bundle : found.at("bundles")) {
        const auto name = text_of(bundle, "name");
        const auto path = text_of(bundle, "path");
        for (const auto& each : bundle.at("members")) {
            auto& row = members.emplace_back(std::vector{name, path});
            for (const auto* key : {"agent", "as", "state", "tools", "prompts", "resources"}) {
                row.push_back(text_of(each, key));
            }
        }
        for (const auto& each : bundle.at("skipped")) {
            members.push_back({name, path, text_of(each, "agent"), "", with_reason("skipped", text_of(each, "reason"))}
            );
        }
        for (const auto& each : bundle.at("renamed")) {
            auto& row = renamed.emplace_back(std::vector{name});
            for (const auto* key : {"agent", "list", "name", "exposed"}) {
                row.push_back(text_of(each, key));
            }
        }
    }
    return model::shown_table(members) + (renamed.size() > 1 ? "\n" + model::shown_table(renamed) : "");
}

namespace {

using core::json;

enum class exit_code : int { done = 0, refused = 1, unusable = 2, unreached = 3 };

class agents_cli {
public:
    agents_cli(const agents_command& command, core::secret token, bool terminal)
        : command_{command},
          gateway_{command.admin, command.ca_file, std::move(token)},
          table_{
              command.output == output_form::table ||
              (command.output == output_form::automatic && terminal && command.verb != agents_verb::card)
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
            case agents_verb::card:
                card();
                break;
            case agents_verb::refresh:
                refresh();
                break;
            case agents_verb::reset:
                reset();
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
        if (!failure.reached) {
            fail(exit_code::unreached, failure.message);
            return;
        }
        const auto about = id.empty() ? id : id + ": ";
        fail(exit_code::refused, about + failure.message + " (" + failure.code + ")");
        if (const auto* problems = core::member(failure.data, "problems");
            problems != nullptr && problems->is_array()) {
            for (const auto& problem : *problems) {
                complain(about + text_of(problem, "path") + ": " + text_of(problem, "what"));
            }
        }
        if (const auto version = text_of(failure.data, "version"); !version.empty()) {
            complain(about + "its version is " + version);
        }
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
        const auto found = gateway_.call_pages(method, std::move(filter), command_.limit.value_or(UINT64_MAX));
        if (!found) {
            report(found.error(), {});
            return;
        }
        out_ = table_ ? table_of(*found) : model::shown_json(*found);
        if (const auto next = text_of(*found, "next"); table_ && !next.empty()) {
            complain("there may be more agents; continue with --after " + next);
        }
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

    void health()
    {
        const auto agent = call("agents/health", {{"id", command_.id}}, command_.id);
        if (!agent) {
            return;
        }
        print(*agent);
        if (text_of(*agent, "status") == "unhealthy") {
            fail(exit_code::refused, command_.id + ": unhealthy (" + text_of(*agent, "reason") + ")");
        }
    }

    void get()
    {
        if (auto agent = call("agents/get", {{"id", command_.id}}, command_.id)) {
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

int run_agents_command(
    agents_command command,
    const std::function<std::optional<std::string>(std::string_view name)>& variable
)
{
    if (command.admin.empty()) {
        command.admin = variable("CARDEA_ADMIN").value_or("");
    }
    if (command.admin.empty()) {
        command.admin = "127.0.0.1:4001";
    }
    auto token = core::result<std::string>{variable("CARDEA_ADMIN_TOKEN").value_or("")};
    if (!command.token_file.empty()) {
        token = config::read_secret_file(command.token_file);
    }
    if (!token) {
        std::cerr << "cardea: " << model::printable("--token-file: " + command.token_file + ": " + token.error().detail)
                  << '\n';
        return static_cast<int>(exit_code::unusable);
    }
    agents_cli cli{command, core::secret{std::move(*token)}, ::isatty(STDOUT_FILENO) == 1};
    const auto code = cli.run();
    std::cout << cli.out() << std::flush;
    std::cerr << cli.err();
    return static_cast<int>(code);
}

}  // namespace gateway::cli
