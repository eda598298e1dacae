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
     "The agent's own address, `http` or `https`. Calls go there and nowhere else. Needed for A2A. That of an MCP "
     "server "
     "may have a query, which is never shown."},
    {"serverUrl", agent_key::url, "URL", "", "The same as `url`."},
    {"httpUrl", agent_key::url, "URL", "", "The same as `url`."},
    {"protocol",
     agent_key::protocol,
     "`a2a` or `mcp`",
     "by its other keys",
     "What the agent speaks: with `transport` or `command` it is `mcp`, else `a2a`."},
    {"bearer", agent_key::bearer, "secret", "none", "Sent to the agent with calls and card fetches."},
    {"bearer_file", agent_key::bearer_file, "path", "none", "A file that holds the bearer, in place of `bearer`."},
    {"timeout",
     agent_key::timeout,
     "duration, 1ms to 1d",
     "`timeouts.upstream_head`",
     "From a request sent to the head of the answer."},
    {"relay_paths",
     agent_key::relay_paths,
     "list of patterns",
     "none",
     "Further paths below `/agents/<id>` that are relayed as they are, any method and body, to the same path below "
     "`url`. "
     "`*` stands for anything within a segment, `**` for any number of segments: `/v1/*`, `/**`."},
    {"disabled", agent_key::disabled, "`true` or `false`", "`false`", "Known, but answered like an unknown agent."},
    {"shape",
     agent_key::shape,
     "`auto`, `v1`, `v0.3` or `hybrid`",
     "`cards.shape`",
     "The generation of this agent's card as callers are shown it."},
    {"signatures",
     agent_key::signatures,
     "`strip`, `verify`, `sign` or `verify_and_sign`",
     "`cards.signatures`",
     "What becomes of the signatures of this agent's card. An inline card is not verified."},
    {"trusted_keys",
     agent_key::trusted_keys,
     "path of a JWK Set",
     "`cards.trusted_keys`",
     "The keys that are trusted for this agent's card."},
    {"key_set_origins",
     agent_key::key_set_origins,
     "list of https origins",
     "`cards.key_set_origins`",
     "Where the key set that a signature of this agent's card names may be fetched."},
    {"card_url", agent_key::card_url, "URL", "beside `url`", "Where the agent's card is fetched; a query is allowed."},
    {"trust_card_url",
     agent_key::trust_card_url,
     "`never` or `same-origin`",
     "`same-origin`",
     "Whether the card may say to which path of the agent's scheme, host and port calls go. A card never leads to "
     "another "
     "host. `never`: calls go to `url`."},
    {"extended_card",
     agent_key::extended_card,
     "`auto` or `proxy`",
     "`auto`",
     "Whether callers get the agent's extended card. The agent is asked for it with the `bearer` and the `tls.cert` "
     "that "
     "stand here, whoever the caller is: with `auto` it is passed on only if there is neither."},
    {"card",
     agent_key::card,
     "map",
     "fetched",
     "The agent's card itself; it is served without a fetch. It needs a `name`."},
    {"card_headers", agent_key::card_headers, "map of secrets", "none", "Header fields that are sent with card fetches."
    },
    {"tls.ca_file",
     agent_key::tls,
     "path",
     "the system's",
     "Certificate authorities (PEM) that the agent's certificate is verified with. If the file holds revocation lists "
     "too, one of them has to cover the certificate."},
    {"tls.cert",
     agent_key::tls,
     "path",
     "none",
     "The certificate (PEM, with its chain) that the agent is shown if it asks for one."},
    {"tls.key", agent_key::tls, "path", "none", "The key of `tls.cert` (PEM)."},
    {"version", agent_key::version, "text", "none", "A note; shown, never interpreted."},
    {"protocol_version", agent_key::protocol_version, "text", "none", "A note; shown, never interpreted."},
    {"protocolVersion", agent_key::protocol_version, "text", "none", "The same as `protocol_version`."},
    {"metadata",
     agent_key::metadata,
     "map",
     "`{}`",
     "Shown by `agents/get`. Its member `agentCard` is the inline card if it has a `name`; else its `url` is the "
     "`card_url`."},
    {"transport",
     agent_key::transport,
     "map",
     "none",
     "How an MCP server is reached: `type` (`stdio`, `streamable-http`, `sse`), `url`, `headers`, `command`, `args`, "
     "`env`, "
     "`cwd`. Shown without what may be a credential."},
    {"command", agent_key::command, "text", "none", "The same as `transport.command`, with `type: stdio`."},
    {"args", agent_key::args, "list", "none", "The same as `transport.args`; goes with `command`."},
    {"env", agent_key::env, "map of secrets", "none", "The same as `transport.env`; goes with `command`."},
    {"env_file",
     agent_key::env_file,
     "path",
     "none",
     "A file of at most 64 KiB with more variables for the `command`, as VS Code reads it: lines `NAME=value`, quotes, "
     "`#` for comments. What `env` says counts. It is read again with the configuration when it changes."},
    {"envFile", agent_key::env_file, "path", "none", "The same as `env_file`."},
    {"cwd", agent_key::cwd, "path", "the gateway's", "The same as `transport.cwd`; goes with `command`."},
    {"type", agent_key::type, "text", "by `command` or `url`", "The same as `transport.type`."},
    {"headers",
     agent_key::headers,
     "map of secrets",
     "none",
     "Header fields that are sent to an MCP server with every request; goes with a URL."},
    {"start",
     agent_key::start,
     "`eager` or `lazy`",
     "`eager`",
     "When the session with an MCP server begins: with the gateway, or when its card is first asked for."},
    {"era",
     agent_key::era,
     "`auto`, `legacy` or `modern`",
     "`auto`",
     "Which MCP it speaks: with sessions (up to 2025-11-25), without (since 2026-07-28), or to be found out by asking. "
     "One "
     "of the type `sse` has sessions."},
    {"timeouts.initialize",
     agent_key::timeouts,
     "duration, 1ms to 1d",
     "`1m`",
     "From the start of a session to the server's answer to it."},
    {"timeouts.request",
     agent_key::timeouts,
     "duration, 1ms to 1d",
     "`30s`",
     "One request of the gateway to an MCP server."},
    {"timeouts.ping",
     agent_key::timeouts,
     "duration, 0 to 1d",
     "`30s`",
     "How often an MCP server is asked whether it is there, whatever else it says; 0: never."},
    {"walk",
     agent_key::walk,
     "duration, 0 to 1d",
     "`mcp.walk`",
     "How often the lists of an MCP server that has sessions are walked although it has not said that they changed; 0: "
     "never."},
    {"restart.backoff",
     agent_key::restart,
     "duration, 10ms to 1d",
     "`500ms`",
     "How long an MCP server is left alone after its session has ended; half as much more each time, up to "
     "`restart.max_backoff`, less up to half by chance."},
    {"restart.max_backoff", agent_key::restart, "duration, 10ms to 1d", "`1m`", "The longest such pause."},
    {"max_message",
     agent_key::max_message,
     "size, 64KiB to 1GiB",
     "`8MiB`",
     "One message to or from an MCP server; a longer one is not sent, or not read."},
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
