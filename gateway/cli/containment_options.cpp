#include "gateway/cli/containment_options.hpp"

#include "gateway/cli/options.hpp"

namespace gateway::cli {
namespace {

CLI::App& add_verb(CLI::App& to, agents_command& command, agents_verb verb, const char* name, const char* help)
{
    auto& app = *to.add_subcommand(name, help);
    app.preparse_callback([&command, verb](std::size_t) { command.verb = verb; });
    return app;
}

void add_terms(CLI::App& verb, agents_command& command)
{
    add_nonempty(verb, "--reason TEXT", "why, for operators; required", command.reason)->required();
    constexpr const char* until =
        "when it ends by itself: a duration such as 2h, or a time such as 2027-01-31T12:00:00Z";
    add_nonempty(verb, "--until TIME", until, command.until);
    add_nonempty(verb, "--notice TEXT", "what callers are told instead of the usual sentence", command.notice);
    verb.add_flag("--dry-run", command.dry_run, "change nothing; show what would be cut");
}

void add_agent(CLI::App& verb, agents_command& command)
{
    add_nonempty(verb, "ID", "the agent's id", command.id)->required();
}

void add_principal(CLI::App& verb, agents_command& command)
{
    add_nonempty(verb, "PROVIDER", "the provider that identifies the principal", command.provider)->required();
    add_nonempty(verb, "PRINCIPAL", "its id", command.id)->required();
}

}  // namespace

void add_containment_verbs(CLI::App& agents, agents_command& command)
{
    using enum agents_verb;
    auto& contained = add_verb(
        agents,
        command,
        contain,
        "contain",
        "Stop an agent at once, as callee and as caller, until it is released"
    );
    add_agent(contained, command);
    add_terms(contained, command);
    auto& released = add_verb(agents, command, release, "release", "Let a contained agent go on");
    add_agent(released, command);
    released.add_flag("--dry-run", command.dry_run, "change nothing");
}

CLI::App& add_principals(CLI::App& root, agents_command& command, const char* footer)
{
    using enum agents_verb;
    auto& principals =
        *root.add_subcommand("principals", "Stop principals of a running gateway, list and release them");
    principals.require_subcommand(1);
    principals.footer(footer);
    auto& contained = add_verb(
        principals,
        command,
        contain_principal,
        "contain",
        "Refuse a principal's credentials until it is released"
    );
    add_principal(contained, command);
    add_terms(contained, command);
    auto& released =
        add_verb(principals, command, release_principal, "release", "Accept a principal's credentials again");
    add_principal(released, command);
    released.add_flag("--dry-run", command.dry_run, "change nothing");
    auto& listed = add_verb(
        principals,
        command,
        agents_verb::list_principals,
        "list",
        "List the principals that are contained, also with an agent"
    );
    add_number(listed, "--limit N", "at most this many principals", command.limit);
    add_nonempty(
        listed,
        "--after NAME",
        "only principals after this one, PROVIDER and a blank and PRINCIPAL",
        command.after
    );
    return principals;
}

}  // namespace gateway::cli
