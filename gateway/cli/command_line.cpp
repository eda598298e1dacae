#include "gateway/cli/command_line.hpp"

#include "config/values.hpp"
#include "core/ascii.hpp"
#include "gateway/cli/containment_options.hpp"
#include "gateway/cli/options.hpp"
#include "gateway/cli/pin_verbs.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <utility>

namespace gateway::cli {
namespace {

void add_configuration_options(CLI::App& verb, command_line& line)
{
    add_text(verb, "-c,--config FILE", "the configuration; docs/configuration.md lists every key", line.config_file);
    add_list(verb, "--agent ID=URL", "an A2A agent, besides those of the file; may be repeated", line.agents);
    constexpr const char* mcp =
        "an MCP server: a program, or a URL of streamable HTTP; may be repeated.\n"
        "Quotes and backslashes work as in a shell, but no shell runs the program:\n"
        "--mcp 'web=npx -y @modelcontextprotocol/server-everything'";
    add_list(verb, "--mcp ID=COMMAND|ID=URL", mcp, line.mcp);
    add_text(verb, "--listen HOST:PORT", "for callers (default 127.0.0.1:4000); port 0: any free port", line.listen);
    add_text(verb, "--admin HOST:PORT", "for metrics, health and management (default 127.0.0.1:4001)", line.admin);
    constexpr const char* store =
        "where agents that are added at run time are kept: memory, sqlite:PATH or postgresql://...\n"
        "(default sqlite:~/.local/state/cardea/store.db)";
    add_text(verb, "--store STORE", store, line.store);
}

constexpr const char* ca_file_help = "authorities for an https address (PEM; default: the system's)";
constexpr const char* token_file_help =
    "a file with a bearer token for the gateway\n(default $CARDEA_ADMIN_TOKEN, else no credential)";

void add_run(CLI::App& root, command_line& line)
{
    auto& run = *root.add_subcommand("run", "Serve agents: those of the store, of -c FILE, of --agent and of --mcp");
    add_configuration_options(run, line);
    run.footer(R"(For every agent:
  GET  /agents/<id>/.well-known/agent-card.json    its card, with addresses of this gateway
  POST /agents/<id>                                its JSON-RPC address, for calls and event streams)");
    run.callback([&line] { line.verb = top_verb::run; });
}

void add_validate(CLI::App& root, command_line& line)
{
    auto& validate = *root.add_subcommand("validate", "Check a configuration; the exit code is 2 if it cannot be used");
    add_text(validate, "-c,--config FILE", "the configuration; required", line.config_file)->required();
    validate.callback([&line] { line.verb = top_verb::validate; });
}

void add_config(CLI::App& root, command_line& line)
{
    auto& config =
        *root.add_subcommand("config", "Print the effective configuration (dump) or its JSON Schema (schema)");
    config.require_subcommand(1);
    auto& dump = *config.add_subcommand("dump", "Print each effective value and its source; secrets are masked");
    add_configuration_options(dump, line);
    add_output<dump_format>(
        dump,
        "--output yaml|json",
        "the format (default yaml)",
        line.format,
        {{"yaml", dump_format::yaml}, {"json", dump_format::json}}
    );
    constexpr const char* of_running =
        "that of the running gateway at --admin (default $CARDEA_ADMIN, else 127.0.0.1:4001)";
    auto* const running = dump.add_flag("--running", of_running);
    for (const auto* other : {"--config", "--agent", "--mcp", "--listen", "--store"}) {
        running->excludes(dump.get_option(other));
    }
    auto& request = line.gateway_request;
    add_nonempty(dump, "--ca-file FILE", ca_file_help, request.ca_file)->needs(running);
    add_nonempty(dump, "--token-file FILE", token_file_help, request.token_file)->needs(running);
    dump.callback([&line, running] {
        line.verb = running->count() == 0 ? top_verb::config_dump : top_verb::gateway;
        line.gateway_request.verb = gateway_verb::configuration;
        line.gateway_request.admin = line.admin;
        line.gateway_request.output = line.format == dump_format::json ? output_form::json : output_form::table;
    });
    auto& schema = *config.add_subcommand("schema", "Print the JSON Schema of a configuration, for editors");
    schema.callback([&line] { line.verb = top_verb::config_schema; });
}

void add_card(CLI::App& root, command_line& line)
{
    auto& card = *root.add_subcommand("card", "Check an agent card (lint)");
    card.require_subcommand(1);
    auto& lint =
        *card.add_subcommand("lint", "Report what is wrong with an agent card; the exit code is 1 if there are errors");
    add_nonempty(lint, "FILE|URL", "the card", line.card)->required();
    lint.add_flag("--explain", line.explain, "name the section of the specification for each problem");
    lint.callback([&line] { line.verb = top_verb::lint_card; });
}

constexpr const char* usual_form = "the format (default: table on a terminal, else json)";

// `agents` accepts these before its verb and after it.
void add_connection(
    CLI::App& verb,
    admin_options& command,
    const char* form = usual_form,
    const char* token = "--token-file FILE"
)
{
    constexpr const char* admin =
        "the gateway's admin address, HOST:PORT or a URL\n(default $CARDEA_ADMIN, else 127.0.0.1:4001)";
    add_nonempty(verb, "--admin ADDRESS", admin, command.admin);
    add_nonempty(verb, "--ca-file FILE", ca_file_help, command.ca_file);
    add_nonempty(verb, token, token_file_help, command.token_file);
    add_output<output_form>(
        verb,
        "-o,--output json|table",
        form,
        command.output,
        {{"json", output_form::json}, {"table", output_form::table}}
    );
}

// Adds an option whose value is one of those that `words` shows, such as `--sort id|trouble`.
CLI::Option* add_choice(CLI::App& verb, std::string_view words, const char* help, std::string& text)
{
    const auto choices = words.substr(words.find(' ') + 1);
    return add_text(verb, words, help, text)->check([choices](const std::string& value) {
        const auto padded = '|' + std::string{choices} + '|';
        const bool known = !value.empty() && padded.find('|' + value + '|') != std::string::npos;
        return known ? std::string{} : "expected one of " + std::string{choices} + ", got '" + value + "'";
    });
}

constexpr std::string_view sort_words = "--sort id|trouble|calls|failed|p99";

CLI::Option* add_a2a_version(CLI::App& verb, const char* help, std::string& text)
{
    return add_text(verb, "--a2a-version VERSION", help, text)->check([](const std::string& value) {
        const bool known = !value.empty() && core::is_digit(value.front()) && core::is_token(value);
        return known ? std::string{} : "expected a version such as 1.0, got '" + value + "'";
    });
}

// `words` are the verb's name and its description.
CLI::App& add_agents_verb(CLI::App& agents, agents_command& command, agents_verb verb, std::array<const char*, 2> words)
{
    auto& app = *agents.add_subcommand(words[0], words[1]);
    app.preparse_callback([&command, verb](std::size_t) { command.verb = verb; });
    return app;
}

CLI::Option* add_id(CLI::App& verb, agents_command& command)
{
    return add_nonempty(verb, "ID", "the agent's id", command.id);
}

void add_fresh(CLI::App& verb, agents_command& command)
{
    verb.add_flag("--fresh", command.fresh, "with everything that other replicas have written until now");
}

void add_filters(CLI::App& verb, agents_command& command)
{
    add_list(verb, "--tag TAG", "only agents whose skills or metadata have this tag", command.tags);
    add_nonempty(verb, "--protocol a2a|mcp", "only agents of this protocol", command.protocol);
    add_nonempty(verb, "--text TEXT", "only agents with this in their id, name, description or metadata", command.text);
    add_number(verb, "--limit N", "at most this many agents", command.limit);
    add_nonempty(verb, "--after ID", "only agents after this id", command.after);
    verb.callback([&command] {
        if (command.tags.size() > 1) {
            throw CLI::ValidationError("--tag", "expected one tag, got " + std::to_string(command.tags.size()));
        }
    });
}

void add_reads(CLI::App& agents, agents_command& command)
{
    using enum agents_verb;
    auto& list_verb = add_agents_verb(agents, command, list, {"list", "List the agents by id"});
    add_filters(list_verb, command);
    add_fresh(list_verb, command);
    auto& get_verb = add_agents_verb(
        agents,
        command,
        get,
        {"get", "Show what the gateway knows about an agent; secrets are masked"}
    );
    add_id(get_verb, command)->required();
    add_fresh(get_verb, command);
    auto& card_verb =
        add_agents_verb(agents, command, card, {"card", "Print the card that callers of an agent get (default: JSON)"});
    add_id(card_verb, command)->required();
    const auto add_form = [&](const char* name, card_form form, const char* help) {
        return card_verb.add_flag_callback(name, [&command, form] { command.form = form; }, help);
    };
    auto* const raw = add_form("--raw", card_form::raw, "the card as the agent wrote it");
    add_form("--diff", card_form::diff, "how the card that callers get differs from that, and why")->excludes(raw);
    add_a2a_version(card_verb, "the card for callers with this A2A-Version", command.a2a_version)->excludes(raw);
    auto& history_verb =
        add_agents_verb(agents, command, history, {"history", "Show the latest cards of an agent, with differences"});
    add_id(history_verb, command)->required();
    auto& health_verb = add_agents_verb(agents, command, health, {"health", "Show the health of all agents or of one"});
    add_filters(health_verb, command);
    add_fresh(health_verb, command);
    constexpr const char* status = "only agents with this status: healthy, degraded, unhealthy, unknown or contained";
    add_nonempty(health_verb, "--status STATUS", status, command.status);
    constexpr const char* order =
        "the order; any but id shows at most 1000 agents (default: trouble in a table, else id)";
    add_choice(health_verb, sort_words, order, command.sort)->excludes(health_verb.get_option("--after"));
    auto* const id = add_id(health_verb, command);
    for (const auto* filter : {"--tag", "--protocol", "--text", "--limit", "--after", "--status", "--sort"}) {
        id->excludes(health_verb.get_option(filter));
    }
}

void add_wait(CLI::App& agents, agents_command& command)
{
    auto& verb = add_agents_verb(
        agents,
        command,
        agents_verb::wait,
        {"wait", "Wait until an agent has a status; the exit code is 1 if it has another at the end"}
    );
    add_id(verb, command)->required();
    constexpr const char* wanted = "the status (default healthy)";
    add_choice(verb, "--for healthy|degraded|unhealthy|unknown|contained", wanted, command.status);
    add(verb, "--timeout DURATION", "how long (default 60s)", [&command](const CLI::results_t& values) {
        const auto read = config::parse_duration(values.back());
        if (!read) {
            const auto what = "expected a duration such as 60s or 5m, got '" + values.back() + "'";
            throw CLI::ValidationError("--timeout", what);
        }
        command.timeout = *read;
        return true;
    });
}

void add_writes(CLI::App& agents, agents_command& command)
{
    using enum agents_verb;
    auto& refresh_verb = add_agents_verb(agents, command, refresh, {"refresh", "Fetch an agent's card now"});
    add_id(refresh_verb, command)->required();
    refresh_verb.add_flag("--dry-run", command.dry_run, "change nothing; show what would change");

    auto& reset_verb = add_agents_verb(
        agents,
        command,
        reset,
        {"reset", "Close the breaker of an agent that has failed, so that it gets calls"}
    );
    add_id(reset_verb, command)->required();

    auto& restart_verb = add_agents_verb(
        agents,
        command,
        restart,
        {"restart", "End the gateway's session with an MCP server and begin another"}
    );
    add_id(restart_verb, command)->required();

    auto& add_verb =
        add_agents_verb(agents, command, agents_verb::add, {"add", "Add an agent, or replace it completely"});
    add_id(add_verb, command);
    add_nonempty(add_verb, "URL", "the agent's address", command.url);
    add_nonempty(add_verb, "--protocol a2a|mcp", "what the agent speaks (default a2a)", command.protocol);
    add_list(add_verb, "--tag TAG", "a tag, by which lists can be filtered; may be repeated", command.tags);
    add_nonempty(add_verb, "--card-url URL", "where the agent's card is", command.card_url);
    add_nonempty(add_verb, "--bearer-file FILE", "a file with the credential for the agent", command.bearer_file);
    constexpr const char* version = "only if the agent has this version; 0: only if it does not exist";
    add_number(add_verb, "--if-version N", version, command.if_version);
    constexpr const char* help =
        "instead of ID and URL: all agents of this file (- for stdin),\n"
        "YAML or JSON with a map `agents` as in a configuration";
    auto* const file = add_nonempty(add_verb, "-f,--file FILE", help, command.file);
    for (const auto* other : {"ID", "URL", "--protocol", "--tag", "--card-url", "--bearer-file", "--if-version"}) {
        file->excludes(add_verb.get_option(other));
    }
    add_verb.callback([&command] {
        if (command.file.empty() && command.url.empty()) {
            throw CLI::ValidationError("expected ID and URL, or -f FILE");
        }
    });

    auto& remove_verb =
        add_agents_verb(agents, command, remove, {"remove", "Remove an agent that was added at run time"});
    remove_verb.alias("rm");
    add_id(remove_verb, command)->required();
    add_number(remove_verb, "--if-version N", "only if the agent has this version", command.if_version);
}

void add_key(CLI::App& root, command_line& line)
{
    auto& key = *root.add_subcommand("key", "Make an API key for a caller (new)");
    key.require_subcommand(1);
    auto& made = *key.add_subcommand("new", "Print a new key, once, and the line for `access.providers` that knows it");
    add_nonempty(made, "--name NAME", "whose key it is: the principal's id; required", line.key.name)->required();
    add_list(made, "--scope SCOPE", "a scope of the principal; may be repeated", line.key.scopes);
    add_nonempty(made, "--expires DATE", "the day from which it is refused, such as 2027-01-31", line.key.expires);
    add_output<key_form>(
        made,
        "-o,--output text|json",
        "the format (default text)",
        line.key.form,
        {{"text", key_form::text}, {"json", key_form::json}}
    );
    made.callback([&line] { line.verb = top_verb::new_key; });
}

constexpr const char* exit_codes =
    "Exit codes: 0 done; 1 the gateway refused, or its agent failed or is unhealthy; 2 the arguments\n"
    "or files cannot be used; 3 the gateway was not reached; 130 after Ctrl-C. stderr says what went wrong.";

CLI::App& add_gateway_verb(CLI::App& root, command_line& line, gateway_verb verb, std::array<const char*, 2> words)
{
    auto& app = *root.add_subcommand(words[0], words[1]);
    app.footer(exit_codes);
    app.callback([&line, verb] {
        line.verb = top_verb::gateway;
        line.gateway_request.verb = verb;
    });
    return app;
}

void add_gateway_verbs(CLI::App& root, command_line& line)
{
    auto& request = line.gateway_request;
    auto& status = add_gateway_verb(
        root,
        line,
        gateway_verb::status,
        {"status", "Show a running gateway: what needs attention, and its agents, the worst first"}
    );
    status.add_flag("--watch", request.watch, "show it again every 2 seconds");
    add_choice(status, sort_words, "the order of the agents (default trouble)", request.sort);
    add_connection(status, request);

    auto& events = add_gateway_verb(root, line, gateway_verb::events, {"events", "Print the log of a running gateway"});
    events.add_flag("--follow", request.follow, "also print what comes, until Ctrl-C");
    add_nonempty(events, "--agent ID", "only lines about this agent", request.agent);
    add_nonempty(events, "--event NAME", "only events of this name, such as request", request.event);
    add_nonempty(events, "--route ROUTE", "only requests of this route, such as call", request.route);
    add_nonempty(events, "--status STATUS", "only requests with this status, such as 500 or 5xx", request.status);
    add_number(events, "--last N", "at most so many lines that came before (default 20; at most 1000)", request.last);
    add_connection(events, request);

    auto& edges =
        add_gateway_verb(root, line, gateway_verb::edges, {"edges", "Show who calls whom through a running gateway"});
    add_nonempty(edges, "--principal ID", "only calls of this principal", request.principal);
    add_nonempty(edges, "--agent ID", "only calls of this agent", request.agent);
    add_choice(edges, "--sort calls|failed|refused|last", "the order (default calls)", request.sort);
    add_number(edges, "--limit N", "at most so many rows (default 100; at most 1000)", request.limit);
    add_connection(edges, request);

    constexpr std::array<const char*, 2> others{"replicas", "List the gateways that share a store with a running one"};
    add_connection(add_gateway_verb(root, line, gateway_verb::replicas, others), request);

    constexpr std::array<const char*, 2> words{"reload", "Make a running gateway read its configuration again"};
    add_connection(add_gateway_verb(root, line, gateway_verb::reload, words), request);
}

void add_store(CLI::App& root, command_line& line)
{
    auto& store = *root.add_subcommand("store", "Prepare a PostgreSQL store (migrate), or copy a store (copy)");
    store.require_subcommand(1);
    constexpr const char* password = "a file with the password of the database (default: $PGPASSWORD or $PGPASSFILE)";
    auto& migrate = *store.add_subcommand("migrate", "Bring the schema of a PostgreSQL store up to date");
    add_nonempty(migrate, "--store URL", "the database; required", line.store)->required();
    add_nonempty(migrate, "--password-file FILE", password, line.password_file);
    migrate.callback([&line] { line.verb = top_verb::migrate_store; });
    auto& copy = *store.add_subcommand(
        "copy",
        "Copy all that a store keeps into an empty one; no gateway may use either of them meanwhile"
    );
    add_nonempty(copy, "--from STORE", "sqlite:PATH or postgresql://...; required", line.store)->required();
    add_nonempty(copy, "--to STORE", "the same; required", line.copy_to)->required();
    add_nonempty(copy, "--password-file FILE", password, line.password_file);
    copy.callback([&line] { line.verb = top_verb::copy_store; });
}

void add_call(CLI::App& root, command_line& line)
{
    auto& command = line.call_request;
    auto& call = *root.add_subcommand("call", "Send a message to an agent, or call a tool, through a running gateway");
    add_nonempty(call, "ID", "the agent's id; without more, an MCP server lists its tools", command.id)->required();
    auto* const text = add_nonempty(call, "TEXT", "the message", command.text);
    auto* const document =
        add_nonempty(call, "--json FILE", "a JSON document to send as data (- for stdin)", command.json_file);
    auto* const tool = add_nonempty(call, "--tool NAME", "call this tool over MCP instead", command.tool);
    add_nonempty(call, "--args JSON", "its arguments, an object (default {})", command.arguments)->needs(tool);
    call.add_flag("--stream", command.stream, "print the answer event by event, or a tool's progress to stderr");
    constexpr const char* header = "a field of the call's head, such as 'Authorization: Bearer T'; may be repeated";
    add_list(call, "--header NAME:VALUE", header, command.headers);
    constexpr const char* version = "A2A-Version of the message (default 1.0, or 0.3 if the agent has no other)";
    auto* const generation = add_a2a_version(call, version, command.a2a_version);
    for (auto* other : {text, document, generation}) {
        tool->excludes(other);
    }
    add_connection(call, command, "json: the whole answer (default: its text)");
    call.footer(exit_codes);
    call.callback([&line] { line.verb = top_verb::call; });
}

void add_explain(CLI::App& root, command_line& line)
{
    auto& command = line.explain_request;
    auto& explain = *root.add_subcommand(
        "explain",
        "Say why a request is let pass or denied, and by which rule; the exit code is 1 if it is denied"
    );
    add_nonempty(explain, "--agent ID", "the agent that would be called; required", command.agent)->required();
    add_nonempty(explain, "--method METHOD", "of JSON-RPC, such as SendMessage (default any)", command.method);
    add_nonempty(explain, "--tool NAME", "the tool of a tools/call, as callers name it", command.tool);
    auto* const principal =
        add_nonempty(explain, "--principal PRINCIPAL", "whose request it would be", command.principal);
    auto* const provider = add_nonempty(explain, "--provider NAME", "that identifies the principal", command.provider);
    principal->needs(provider);
    constexpr const char* scope = "a scope of the principal (default as the configuration says); may be repeated";
    add_list(explain, "--scope SCOPE", scope, command.scopes);
    add_list(explain, "--group GROUP", "a group of the principal; may be repeated", command.groups);
    add_nonempty(explain, "--tenant TENANT", "the principal's tenant", command.tenant);
    add_list(explain, "--claim NAME=VALUE", "a claim of the principal; may be repeated", command.claims);
    for (const auto* of_principal : {"--scope", "--group", "--tenant", "--claim", "--provider"}) {
        explain.get_option(of_principal)->needs(principal);
    }
    constexpr const char* shown = "instead: a file with a credential (- for stdin)";
    auto* const credential = add_nonempty(explain, "--token-file FILE", shown, command.credential_file);
    constexpr const char* field = "the header, cookie or parameter with it (default a bearer token)";
    add_nonempty(explain, "--field NAME", field, command.field)->needs(credential);
    auto* const anonymous =
        explain.add_flag("--anonymous", command.anonymous, "instead: a caller without a credential");
    principal->excludes(credential)->excludes(anonymous);
    credential->excludes(anonymous);
    auto* const file =
        add_nonempty(explain, "-c,--config FILE", "decide by this configuration, without a gateway", line.config_file);
    add_connection(explain, command, usual_form, "--admin-token-file FILE");
    for (const auto* other : {"--admin", "--ca-file", "--admin-token-file"}) {
        file->excludes(explain.get_option(other));
    }
    explain.footer(
        "Exit codes: 0 let pass; 1 denied; 2 the arguments or files cannot be used; 3 the gateway was not\n"
        "reached. stderr says what went wrong."
    );
    explain.callback([&line] {
        const auto& given = line.explain_request;
        if (given.principal.empty() && given.credential_file.empty() && !given.anonymous) {
            throw CLI::ValidationError("expected --principal, --token-file or --anonymous");
        }
        for (const auto& each : given.claims) {
            if (each.find('=') == std::string::npos) {
                throw CLI::ValidationError("--claim", "expected NAME=VALUE, got '" + each + "'");
            }
        }
        line.verb = top_verb::explain;
    });
}

// Completions ask it for ids; no help shows it.
void add_ids(CLI::App& root, command_line& line)
{
    auto& ids = *root.add_subcommand("__agents", "Print ids of agents")->group("");
    add_text(ids, "PREFIX", "their beginning", line.agents_request.text);
    ids.callback([&line] {
        line.verb = top_verb::agents;
        line.agents_request.verb = agents_verb::ids;
    });
}

void add_bundles(CLI::App& root, command_line& line)
{
    auto& bundles = *root.add_subcommand("bundles", "List the bundles of a running gateway, with their members");
    bundles.footer(exit_codes);
    bundles.callback([&line] {
        line.verb = top_verb::agents;
        line.agents_request.verb = agents_verb::bundles;
    });
    add_connection(bundles, line.agents_request);
}

void add_principals_verb(CLI::App& root, command_line& line)
{
    auto& principals = add_principals(root, line.agents_request, exit_codes);
    principals.callback([&line] { line.verb = top_verb::agents; });
    add_connection(principals, line.agents_request);
    for (auto* verb : principals.get_subcommands(std::function<bool(CLI::App*)>{})) {
        add_connection(*verb, line.agents_request);
    }
}

void add_agents(CLI::App& root, command_line& line)
{
    auto& agents = *root.add_subcommand(
        "agents",
        "List, show, wait for, refresh, restart, contain, add and remove agents of a running gateway"
    );
    agents.require_subcommand(1);
    agents.footer(exit_codes);
    agents.callback([&line] { line.verb = top_verb::agents; });
    add_reads(agents, line.agents_request);
    add_wait(agents, line.agents_request);
    add_writes(agents, line.agents_request);
    add_containment_verbs(agents, line.agents_request);
    add_pin_verbs(agents, line.agents_request);
    add_connection(agents, line.agents_request);
    for (auto* verb : agents.get_subcommands(std::function<bool(CLI::App*)>{})) {
        add_connection(*verb, line.agents_request);
    }
}

}  // namespace

command_line parse_command_line(const std::vector<std::string>& arguments)
{
    command_line line;
    bool version = false;
    CLI::App root{"Cardea is a gateway for A2A agents and MCP servers.", "cardea"};
    root.formatter(std::make_shared<help_page>());
    root.group("Verbs");
    root.set_help_flag("-h,--help", "print this help");
    root.option_defaults()->take_last();
    root.require_subcommand(0, 1);
    root.add_flag("-V,--version", version, "print the version");
    add_run(root, line);
    add_validate(root, line);
    add_config(root, line);
    add_card(root, line);
    add_key(root, line);
    add_agents(root, line);
    add_principals_verb(root, line);
    add_bundles(root, line);
    add_call(root, line);
    add_explain(root, line);
    add_gateway_verbs(root, line);
    add_store(root, line);
    add_ids(root, line);
    root.add_subcommand("version", "Print the version")->callback([&version] { version = true; });
    root.footer("`cardea VERB --help` prints the options of a verb.");
    try {
        root.parse(reversed(arguments));
        if (version) {
            line.verb = top_verb::version;
        } else if (root.get_subcommands().empty()) {
            throw CLI::RequiredError("a verb");
        }
    } catch (const CLI::CallForHelp&) {
        line.verb = top_verb::help;
        line.help = root.help();
    } catch (const CLI::ParseError& error) {
        line.problem = problem_of(error, root);
    }
    return line;
}

namespace {

constexpr std::string_view default_admin = "127.0.0.1:4001";  // where `cardea agents` asks without --admin

}  // namespace

std::string welcome(const served_addresses& at, std::string_view store)
{
    const auto agents = "cardea agents " + (at.admin == default_admin ? "" : "--admin " + std::string{at.admin} + ' ');
    std::string out = store.empty() ? "Cardea keeps agents in memory: they are lost when it ends.\n"
                                    : "Cardea serves the agents in " + std::string{store} + "\n";
    out += "\n  callers  http://" + std::string{at.traffic} + "/\n";
    out += "  admin    http://" + std::string{at.admin} + "/\n\n";
    out += "Add an agent:     " + agents + "add my-agent http://127.0.0.1:9000/\n";
    out += "List the agents:  " + agents + "list\n";
    return out;
}

}  // namespace gateway::cli
