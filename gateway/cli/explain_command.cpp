#include "gateway/cli/explain_command.hpp"

#include "config/file.hpp"
#include "gateway/access/explain_request.hpp"
#include "gateway/access/explanation.hpp"
#include "gateway/cli/admin_client.hpp"
#include "gateway/cli/agent_tables.hpp"
#include "gateway/model/terminal_text.hpp"

#include <unistd.h>

#include <chrono>
#include <iostream>
#include <iterator>
#include <optional>
#include <utility>

namespace gateway::cli {
namespace {

using core::json;

exit_code complain(const std::string& what)
{
    std::cerr << "cardea: " << model::printable(what) << '\n' << std::flush;
    return exit_code::unusable;
}

core::result<std::string> credential_of(const explain_command& command)
{
    if (command.credential_file != "-") {
        return config::read_secret_file(command.credential_file);
    }
    std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
    text.erase(text.find_last_not_of("\r\n") + 1);
    return text;
}

json principal_of(const explain_command& command)
{
    json out{{"provider", command.provider}, {"id", command.principal}};
    if (!command.scopes.empty()) {
        out["scopes"] = command.scopes;
    }
    if (!command.groups.empty()) {
        out["groups"] = command.groups;
    }
    if (!command.tenant.empty()) {
        out["tenant"] = command.tenant;
    }
    for (const auto& each : command.claims) {
        const auto equals = each.find('=');  // the command line has looked
        out["claims"][each.substr(0, equals)].push_back(each.substr(equals + 1));
    }
    return out;
}

// Fails with a sentence about the credential's file.
core::result<json> params_of(const explain_command& command)
{
    json out{{"agent", command.agent}};
    if (!command.method.empty()) {
        out["method"] = command.method;
    }
    if (!command.tool.empty()) {
        out["tool"] = command.tool;
    }
    if (command.anonymous) {
        out["anonymous"] = true;
    } else if (!command.credential_file.empty()) {
        auto text = credential_of(command);
        if (!text) {
            auto why = std::move(text).error();
            why.detail.insert(0, command.credential_file + ": ");
            return why;
        }
        out["credential"] = {{"value", std::move(*text)}};
        if (!command.field.empty()) {
            out["credential"]["field"] = command.field;
        }
    } else {
        out["principal"] = principal_of(command);
    }
    return out;
}

std::string table_of(const json& explained)
{
    std::vector<std::vector<std::string>> rows{{"CHECK", "OUTCOME", "RULE", "MISSING"}};
    for (const auto& each : explained.at("steps")) {
        rows.push_back(
            {shown_member(each, "check"),
             shown_member(each, "outcome"),
             shown_member(each, "rule"),
             shown_member(each, "missing")}
        );
    }
    const auto code = shown_member(explained, "code");
    const auto end =
        code.empty() ? std::string{"allowed\n"} : "denied: " + shown_member(explained, "status") + ' ' + code + '\n';
    return model::shown_table(rows) + model::printable(end, /*lines=*/true);
}

exit_code show(const json& explained, const explain_command& command)
{
    const bool table = command.output == output_form::table ||
                       (command.output == output_form::automatic && ::isatty(STDOUT_FILENO) == 1);
    std::cout << (table ? table_of(explained) : model::shown_json(explained)) << std::flush;
    return explained.at("allowed") == true ? exit_code::done : exit_code::refused;
}

}  // namespace

exit_code run_explain_command(const explain_command& command, const environment& variable)
{
    auto params = params_of(command);
    if (!params) {
        return complain(params.error().detail);
    }
    const auto gateway = admin_client::open(command, variable);
    if (!gateway) {
        return complain(gateway.error().detail);
    }
    const auto explained = gateway->call("access/explain", *params);
    if (explained) {
        return show(*explained, command);
    }
    std::cerr << complaints(explained.error(), {}) << std::flush;
    // A question that the gateway refuses is no denied request.
    const auto code = code_of(explained.error());
    return code == exit_code::refused ? exit_code::unusable : code;
}

exit_code explain_by(const config::settings& settings, const explain_command& command)
{
    const auto params = params_of(command);
    if (!params) {
        return complain(params.error().detail);
    }
    const auto asked = access::read_explain_request(*params);
    if (!asked) {
        return complain(asked.error().detail);
    }
    const auto snapshot = model::make_snapshot(settings, "http://localhost");
    if (!snapshot) {
        return complain(snapshot.error().detail);
    }
    const auto now = std::chrono::system_clock::now();
    const auto plan = access::access_plan::make(settings.access);
    std::optional<access::identified> owner;
    if (asked->credential.empty()) {
        owner = access::named_owner(*asked, settings.access, now);
    } else {
        model::presented_credential unknown;
        owner = access::shown_owner(*asked, plan.get(), now, unknown);
    }
    if (!owner) {
        return complain("only a running gateway can ask the provider of this credential; leave out -c FILE");
    }
    if (!*owner && owner->error().code == core::errc::invalid_params) {
        return complain(owner->error().detail);
    }
    const auto agent = (*snapshot)->agents.find(asked->asked.agent);
    const access::access_facts facts{
        .plan = plan,
        .agent = agent == (*snapshot)->agents.end() ? nullptr : agent->second,
        .places = settings.rules
    };
    return show(access::to_json(access::explain(asked->asked, *owner, facts)), command);
}

}  // namespace gateway::cli
