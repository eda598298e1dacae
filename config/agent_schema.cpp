// The keys of one agent.
#include "config/client_files.hpp"
#include "config/schema.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace config {
namespace {

constexpr auto agents_table = std::to_array<agent_setting>({
    {"url",
     agent_key::url,
     "URL",
     "",
     "The agent's own address, `http` or `https`. Calls go to this host and nowhere else. Required for A2A. The "
     "address of an MCP server may have a query, which is never shown."},
    {"serverUrl", agent_key::url, "URL", "", "The same as `url`."},
    {"httpUrl", agent_key::url, "URL", "", "The same as `url`."},
    {"protocol",
     agent_key::protocol,
     "`a2a` or `mcp`",
     "from its other keys",
     "What the agent speaks. Default: `mcp` with `transport` or `command`, else `a2a`."},
    {"bearer", agent_key::bearer, "secret", "none", "Cardea sends it to the agent with calls and card fetches."},
    {"bearer_file", agent_key::bearer_file, "path", "none", "A file with the bearer, instead of `bearer`."},
    {"timeout",
     agent_key::timeout,
     "duration, 1ms to 1d",
     "`timeouts.upstream_head`",
     "From a request sent to the head of the answer."},
    {"relay_paths",
     agent_key::relay_paths,
     "list of patterns",
     "none",
     "More paths below `/agents/<id>`. Cardea passes any method and body on, unchanged, to the same path below `url`. "
     "`*` matches anything within a segment, `**` any number of segments: `/v1/*`, `/**`."},
    {"disabled",
     agent_key::disabled,
     "`true` or `false`",
     "`false`",
     "Cardea keeps the agent, but answers as for an unknown agent."},
    {"shape",
     agent_key::shape,
     "`auto`, `v1`, `v0.3` or `hybrid`",
     "`cards.shape`",
     "The generation of this agent's card that callers get."},
    {"signatures",
     agent_key::signatures,
     "`strip`, `verify`, `sign` or `verify_and_sign`",
     "`cards.signatures`",
     "What happens to the signatures of this agent's card. An inline card is not verified."},
    {"trusted_keys",
     agent_key::trusted_keys,
     "path of a JWK Set",
     "`cards.trusted_keys`",
     "The keys that Cardea trusts for this agent's card."},
    {"key_set_origins",
     agent_key::key_set_origins,
     "list of https origins",
     "`cards.key_set_origins`",
     "Origins from which Cardea may fetch the key set that a signature of this agent's card names."},
    {"card_url",
     agent_key::card_url,
     "URL",
     "found from `url`",
     "Where Cardea fetches the agent's card. A query is allowed."},
    {"trust_card_url",
     agent_key::trust_card_url,
     "`never` or `same-origin`",
     "`same-origin`",
     "Whether the card may choose the path for calls, on the agent's own scheme, host and port. A card never leads to "
     "another host. `never`: calls go to `url`."},
    {"extended_card",
     agent_key::extended_card,
     "`auto` or `proxy`",
     "`auto`",
     "Whether callers get the agent's extended card. Cardea asks the agent for it with the agent's `bearer` and "
     "`tls.cert`, whoever the caller is. `auto`: only if neither is set. `proxy`: also with them."},
    {"card", agent_key::card, "map", "fetched", "The agent's card itself, served without a fetch. It needs a `name`."},
    {"card_headers",
     agent_key::card_headers,
     "map of secrets",
     "none",
     "Header fields that Cardea sends with card fetches."},
    {"tls.ca_file",
     agent_key::tls,
     "path",
     "the system's",
     "Certificate authorities (PEM) for the agent's certificate. If the file also holds revocation lists, one of them "
     "must cover the certificate."},
    {"tls.cert",
     agent_key::tls,
     "path",
     "none",
     "The certificate (PEM, with its chain) that Cardea shows if the agent asks for one."},
    {"tls.key", agent_key::tls, "path", "none", "The key of `tls.cert` (PEM)."},
    {"version", agent_key::version, "text", "none", "A note. Cardea shows it and never interprets it."},
    {"protocol_version", agent_key::protocol_version, "text", "none", "A note. Cardea shows it and never interprets it."
    },
    {"protocolVersion", agent_key::protocol_version, "text", "none", "The same as `protocol_version`."},
    {"metadata",
     agent_key::metadata,
     "map",
     "`{}`",
     "Shown by `agents/get`. If its member `agentCard` has a `name`, it is the inline card; else its `url` is the "
     "`card_url`."},
    {"transport",
     agent_key::transport,
     "map",
     "none",
     "How to reach an MCP server: `type` (`stdio`, `streamable-http`, `sse`), `url`, `headers`, `command`, `args`, "
     "`env`, `cwd`. Shown without anything that may be a credential."},
    {"command", agent_key::command, "text", "none", "The same as `transport.command`, with `type: stdio`."},
    {"args", agent_key::args, "list", "none", "The same as `transport.args`; only with `command`."},
    {"env", agent_key::env, "map of secrets", "none", "The same as `transport.env`; only with `command`."},
    {"env_file",
     agent_key::env_file,
     "path",
     "none",
     "A file of at most 64 KiB with more variables for the `command`, in the format of VS Code: lines `NAME=value`, "
     "quotes, `#` for comments. `env` takes precedence. When the file changes, Cardea reads it again with the "
     "configuration."},
    {"envFile", agent_key::env_file, "path", "none", "The same as `env_file`."},
    {"cwd", agent_key::cwd, "path", "the gateway's", "The same as `transport.cwd`; only with `command`."},
    {"type", agent_key::type, "text", "from `command` or `url`", "The same as `transport.type`."},
    {"headers",
     agent_key::headers,
     "map of secrets",
     "none",
     "Header fields that Cardea sends to an MCP server with every request; only with a URL."},
    {"start",
     agent_key::start,
     "`eager` or `lazy`",
     "`eager`",
     "When the session with an MCP server starts. `eager`: with the gateway. `lazy`: at the first request for its "
     "card."},
    {"era",
     agent_key::era,
     "`auto`, `legacy` or `modern`",
     "`auto`",
     "Which MCP the server speaks. `legacy`: with sessions (up to 2025-11-25). `modern`: without (since 2026-07-28). "
     "`auto`: Cardea asks the server. The type `sse` is always `legacy`."},
    {"timeouts.initialize",
     agent_key::timeouts,
     "duration, 1ms to 1d",
     "`1m`",
     "From the start of a session to the server's answer to it."},
    {"timeouts.request", agent_key::timeouts, "duration, 1ms to 1d", "`30s`", "One request of Cardea to an MCP server."
    },
    {"timeouts.ping",
     agent_key::timeouts,
     "duration, 0 to 1d",
     "`30s`",
     "How often Cardea asks an MCP server whether it is still there, whatever else the server sends. 0: never."},
    {"walk",
     agent_key::walk,
     "duration, 0 to 1d",
     "`mcp.walk`",
     "How often Cardea reads the lists of an MCP server with sessions again without a report of a change. 0: never."},
    {"restart.backoff",
     agent_key::restart,
     "duration, 10ms to 1d",
     "`500ms`",
     "The pause before Cardea tries an MCP server again after its session has ended. Each pause is 1.5 times the one "
     "before, up to `restart.max_backoff`, and is shortened by up to half at random."},
    {"restart.max_backoff", agent_key::restart, "duration, 10ms to 1d", "`1m`", "The longest such pause."},
    {"max_message",
     agent_key::max_message,
     "size, 64KiB to 1GiB",
     "`8MiB`",
     "The largest message to or from an MCP server. A larger one is not sent, or not read."},
    {"stale_if_error",
     agent_key::stale_if_error,
     "`true` or `false`",
     "`false`",
     "Whether the card of an MCP server is served while there is no session."},
});

}  // namespace

std::span<const agent_setting> all_agent_settings()
{
    return agents_table;
}

std::string unknown_agent_key(std::string_view key)
{
    const auto of_clients = client_server_keys();
    if (std::any_of(of_clients.begin(), of_clients.end(), [&](const client_key& each) { return each.name == key; })) {
        return "is a key of MCP clients that has no meaning here; remove it";
    }
    if (key == "enabled") {
        return "is not a known key; `disabled: true` turns an agent off";
    }
    std::vector<std::string_view> known;
    for (const auto& row : agents_table) {
        const auto first = row.name.substr(0, row.name.find('.'));
        if (known.empty() || known.back() != first) {
            known.push_back(first);
        }
    }
    const auto nearest = nearest_key(key, known);
    return nearest.empty() ? unknown_key(key, known)
                           : "is not a known key; did you mean `" + std::string{nearest} + "`?";
}

}  // namespace config
