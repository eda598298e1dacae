#include "config/agent_table.hpp"

#include "config/values.hpp"

#include <algorithm>
#include <type_traits>

namespace config {
namespace {

using core::agent;
using core::endpoint_rules;
using core::json;
using core::mcp_server;
using form = transport_part::form;
using optional_duration = duration_key<std::optional<core::duration>>;
using optional_count = count_key<std::optional<std::uint64_t>>;
template <class Enum>
using optional_choice = choice_key<Enum, std::optional<Enum>>;

constexpr auto agents_table = std::to_array<agent_setting>({
    {"url",
     url_key{&agent::url},
     {},
     "The agent's own address, `http` or `https`. Calls go to this host and nowhere else. Required for A2A. If it has "
     "a "
     "query, the query goes with every request to the agent, and is never shown.",
     "transport.url"},
    {"upstreams",
     url_list_key{&endpoint_rules::upstreams},
     {"`url`"},
     "The addresses of the agent's [endpoints](operations.md#several-endpoints), 1 to 32 URLs, each once: instances of "
     "the "
     "same agent. `url` is the short form for one. Only for A2A agents."},
    {"balance",
     optional_choice<core::balancing>{&endpoint_rules::balance},
     {.setting = "defaults.balance"},
     "Which endpoint gets a call. `failover`: the first healthy one, in written order. `spread`: of two at random, the "
     "one with fewer calls in flight. `caller`: the same one for the same principal, or address."},
    {"failback",
     optional_duration{&endpoint_rules::failback, 0s},
     {.setting = "defaults.failback"},
     "How long an endpoint has to be healthy before `failover` returns to it."},
    {"health.check",
     optional_choice<core::health_check>{&endpoint_rules::check},
     {.setting = "defaults.health.check"},
     "How Cardea [checks](operations.md#several-endpoints) each endpoint. `tcp`: a connection, with TLS if the URL is "
     "`https`. `card`: a fetch of the card. `http`: a GET that is answered with 200 to 299. `auto`: `tcp` with several "
     "endpoints, else `none`. Only for A2A agents."},
    {"health.path",
     text_key{&endpoint_rules::health_path, "path"},
     {"that of the endpoint"},
     "The path that `http` asks for, at the origin of each endpoint."},
    {"health.interval",
     optional_duration{&endpoint_rules::health_interval, 100ms, 1h},
     {.setting = "defaults.health.interval"},
     "The time between two checks of an endpoint, more or less 10 %."},
    {"health.timeout",
     optional_duration{&endpoint_rules::health_timeout, 1ms, 1min},
     {.setting = "defaults.health.timeout"},
     "How long a check may take."},
    {"health.fail",
     optional_count{&endpoint_rules::health_fail, 1, 1000},
     {.setting = "defaults.health.fail"},
     "After so many failed checks in a row the endpoint gets no calls."},
    {"health.pass",
     optional_count{&endpoint_rules::health_pass, 1, 1000},
     {.setting = "defaults.health.pass"},
     "After so many good checks in a row it gets calls again."},
    {"retry.attempts",
     optional_count{&endpoint_rules::retry_attempts, 1, 10},
     {.setting = "defaults.retry.attempts"},
     "How often a call is [sent](operations.md#calls-that-are-sent-again) in all. 1: once. Attempts that made no "
     "connection do not count."},
    {"retry.budget",
     share_key{&endpoint_rules::retry_budget, 0, 1},
     {.setting = "defaults.retry.budget"},
     "Which share of the calls of the last 10 seconds may be sent again; 3 in each second always may."},
    {"serverUrl", other_spelling{"url"}, {}, "The same as `url`."},
    {"httpUrl", other_spelling{"url"}, {}, "The same as `url`."},
    {"protocol",
     choice_key<core::protocol>{&agent::speaks},
     {"from its other keys"},
     "What the agent speaks. Default: `mcp` with `transport` or `command`, else `a2a`."},
    {"bearer",
     secret_key{&agent::bearer},
     {"none"},
     "Cardea sends it to the agent with calls and card fetches.",
     "bearer_file"},
    {"bearer_file", file_key{"bearer"}, {"none"}, "A file with the bearer, instead of `bearer`."},
    {"credentials",
     credentials_key{&agent::credentials},
     {"none"},
     "What Cardea shows the agent instead of a bearer: [credentials](#credentials-towards-agents)."},
    {"caller_credentials",
     caller_credentials_key{&agent::of_callers},
     {},
     "What the agent gets of its callers' credentials, which are `Authorization`, `Cookie`, `X-API-Key` and "
     "[its like](architecture.md#the-relay), and whatever a provider reads. `drop`: nothing. `passthrough`: all. "
     "A list of header names: those. Of an MCP server only `[Authorization]`: "
     "[callers log in at the server](mcp.md#servers-that-log-callers-in)."},
    {"proxy",
     proxy_key{&agent::proxy},
     {.words = {}, .setting = "proxy"},
     "The HTTP [proxy](operations.md#proxies) through which Cardea connects to the agent, whatever `no_proxy` says; "
     "`environment`, or `none`.",
     "proxy_file"},
    {"proxy_file", file_key{"proxy"}, {"none"}, "A file with the URL of the proxy, instead of `proxy`."},
    {"timeout",
     optional_duration{&agent::timeout, 1ms},
     {.setting = "timeouts.upstream_head"},
     "From a request that may start work to the head of its answer: `SendMessage`, streams, methods that A2A does not "
     "have, any but `GET`, `HEAD` and `OPTIONS` on `relay_paths`."},
    {"breaker.failures",
     optional_count{&agent::breaker_failures, 1, 1'000'000},
     {.setting = "defaults.breaker.failures"},
     "An agent gets no calls any more after so many failures without a success in between: its "
     "[breaker](operations.md#agents-that-fail) opens. Failures are: no connection in time, an answer that breaks off "
     "or "
     "is not valid, and the answers 502, 503 and 504. Not for programs and HTTP+SSE."},
    {"breaker.ratio",
     share_key{&agent::breaker_ratio, 0.01, 1},
     {.setting = "defaults.breaker.ratio"},
     "The breaker opens too when this share of the calls within `breaker.window` failed."},
    {"breaker.volume",
     optional_count{&agent::breaker_volume, 1, 1'000'000},
     {.setting = "defaults.breaker.volume"},
     "How many calls there must be within `breaker.window` for `breaker.ratio` to count."},
    {"breaker.window",
     optional_duration{&agent::breaker_window, 1s, 1h},
     {.setting = "defaults.breaker.window"},
     "How far back `breaker.ratio` looks."},
    {"breaker.cooldown",
     optional_duration{&agent::breaker_cooldown, 100ms, 1h},
     {.setting = "defaults.breaker.cooldown"},
     "How long an open breaker lets no call pass, times the number of openings in a row and minus up to 20 % at "
     "random. Then one call at a time passes; the first success closes it."},
    {"breaker.max_cooldown",
     optional_duration{&agent::breaker_max_cooldown, 100ms},
     {.setting = "defaults.breaker.max_cooldown"},
     "The longest such time."},
    {"breaker.probe",
     optional_duration{&agent::breaker_probe, 100ms, 1h},
     {.setting = "defaults.breaker.probe"},
     "How often Cardea tries to connect to an agent that could not be connected to. Calls pass again, one at a time, "
     "when it succeeds."},
    {"failureThreshold", other_spelling{"breaker.failures"}, {}, "The same as `breaker.failures`."},
    {"failureWindowMs",
     other_spelling{"breaker.window", true},
     {},
     "The same as `breaker.window`, in milliseconds without a unit."},
    {"cooldownMs",
     other_spelling{"breaker.cooldown", true},
     {},
     "The same as `breaker.cooldown`, in milliseconds without a unit."},
    {"limits.in_flight",
     optional_count{&agent::most_in_flight, 1, 1'000'000},
     {.setting = "defaults.limits.in_flight"},
     "How many calls the agent gets at a time, from all callers and workers, half of them from one principal. More "
     "[wait](operations.md#too-many-calls). "
     "A stream of events counts until it begins. Not for programs and HTTP+SSE."},
    {"maxInFlight", other_spelling{"limits.in_flight"}, {}, "The same as `limits.in_flight`."},
    {"limits.queue",
     optional_count{&agent::most_queued, 0, 1'000'000},
     {.setting = "defaults.limits.queue"},
     "How many calls wait for one in flight to end; of one caller at most half. More get 503."},
    {"limits.streams",
     optional_count{&agent::most_streams, 1, 1'000'000},
     {.setting = "defaults.limits.streams"},
     "How many streams of events of the agent are open at a time, half of them of one principal. More get 503."},
    {"relay_paths",
     pattern_list_key{&agent::relay_paths},
     {"none"},
     "More paths below `/agents/<id>`. Cardea passes any method and body on, unchanged, to the same path below `url`. "
     "`*` matches anything within a segment, `**` any number of segments: `/v1/*`, `/**`."},
    {"hosts",
     host_name_list_key{&agent::hosts},
     {"none"},
     "Host names at whose origin callers reach the agent too: [names of agents](#names-of-agents)."},
    {"push",
     optional_choice<core::push_mode>{&agent::push},
     {.setting = "push"},
     "Who delivers [push notifications](operations.md#push-notifications) of the agent: itself, or Cardea."},
    {"discover",
     access_policy_key{&agent::discover, decision::discover},
     {"as `access.rules` say"},
     "Who may know of the agent: a [policy](#policies). For everyone else the agent does not exist."},
    {"call",
     access_policy_key{&agent::call, decision::call},
     {"as `access.rules` say"},
     "Who may call the agent: a [policy](#policies). Everyone else who may know of it gets 403."},
    {"extensions.enforce_0_3",
     switch_key{&agent::extensions_of_03},
     {},
     "Whether a call of A2A 0.3 too has to name the extensions that the agent's card requires. A call of 1.0 always "
     "has "
     "to."},
    {"disabled", switch_key{&agent::disabled}, {}, "Cardea keeps the agent, but answers as for an unknown agent."},
    {"registered",
     switch_key{&agent::registered},
     {},
     "The agent [registered itself](security.md#self-registration), or may register itself again. Cardea connects to "
     "it "
     "at public addresses only, and at those of `register.allow`. Not for programs."},
    {"registered_by",
     text_key{&agent::registered_by, "text"},
     {"whoever has `register.token`"},
     "The provider and the id of the principal that may register the agent again, with a space between them. Cardea "
     "writes it when a principal registers an agent. Only with `registered: true`."},
    {"shape",
     optional_choice<core::card_shape>{&agent::shape},
     {.setting = "cards.shape"},
     "The generation of this agent's card that callers get."},
    {"signatures",
     optional_choice<core::signature_policy>{&agent::signatures},
     {.setting = "cards.signatures"},
     "What happens to the signatures of this agent's card. An inline card is not verified."},
    {"trusted_keys",
     key_set_key{&agent::trusted_keys},
     {.setting = "cards.trusted_keys"},
     "The keys that Cardea trusts for this agent's card."},
    {"key_set_origins",
     origin_list_key{&agent::key_set_origins},
     {.setting = "cards.key_set_origins"},
     "Origins from which Cardea may fetch the key set that a signature of this agent's card names."},
    {"card_url",
     url_key{&agent::card_url},
     {"found from `url`"},
     "Where Cardea fetches the agent's card. A query is allowed.",
     "metadata.agentCard.url"},
    {"trust_card_url",
     choice_key<core::card_trust>{&agent::trust},
     {},
     "Whether the card may choose the path for calls, on the agent's own scheme, host and port. A card never leads to "
     "another host. `never`: calls go to `url`."},
    {"speaks",
     dialect_list_key{&agent::dialects},
     {"as its card says"},
     "The dialects of A2A in which the agent takes calls, if its card does not say so or is wrong. Only for A2A "
     "agents."},
    {"bridge",
     switch_key{&agent::bridge},
     {},
     "Whether callers of other dialects of A2A reach the agent: Cardea then "
     "[translates](protocol-profile.md) their calls. If false, calls only pass as they are."},
    {"extended_card",
     choice_key<core::extended_card_access>{&agent::extended_card},
     {},
     "Where the [extended card](#skills-and-extended-cards) comes from. `off`: callers get none. `proxy`: Cardea asks "
     "the "
     "agent for it with the agent's own credentials, whoever the caller is. `managed`: Cardea extends the "
     "agent's "
     "card itself. `auto`: `proxy`, if the agent's card says that it has one; but `off` if there are no "
     "`access.providers` and the agent has one of these "
     "credentials. With providers, only authenticated callers get an extended card."},
    {"skills",
     skill_rules_key{&agent::skills},
     {"all are public"},
     "Who sees which [skills](#skills-and-extended-cards) of the agent; of an MCP server, who sees and calls which "
     "tools "
     "and prompts."},
    {"overlays",
     overlays_key{&agent::overlays},
     {"none"},
     "What a managed [extended card](#skills-and-extended-cards) says besides to some principals."},
    {"card_patch",
     card_patch_key{&agent::patch},
     {"none"},
     "What [every card](#skills-and-extended-cards) of the agent says instead of what the agent says: `description`, "
     "`documentationUrl`, `provider` and `skills`."},
    {"card",
     card_key{&agent::card},
     {"fetched"},
     "The agent's card itself, served without a fetch. It needs a `name`.",
     "metadata.agentCard"},
    {"card_headers",
     secret_map_key{&agent::card_headers},
     {"none"},
     "Header fields that Cardea sends with card fetches; to an MCP server over HTTP, with its own session, whose lists "
     "are the card."},
    {"tls.ca_file",
     text_key{&agent::ca_file, "path"},
     {"the system's"},
     "Certificate authorities (PEM) for the agent's certificate. If the file also holds revocation lists, one of them "
     "must cover the certificate."},
    {"tls.cert",
     text_key{&agent::cert_file, "path"},
     {"none"},
     "The certificate (PEM, with its chain) that Cardea shows if the agent asks for one."},
    {"tls.key", text_key{&agent::key_file, "path"}, {"none"}, "The key of `tls.cert` (PEM)."},
    {"version", text_key{&agent::version, "text"}, {"none"}, "A note. Cardea shows it and never interprets it."},
    {"protocol_version",
     text_key{&agent::protocol_version, "text"},
     {"none"},
     "A note. Cardea shows it and never interprets it."},
    {"protocolVersion", other_spelling{"protocol_version"}, {}, "The same as `protocol_version`."},
    {"metadata",
     metadata_key{&agent::metadata},
     {"`{}`"},
     "Shown by `agents/get`. If its member `agentCard` has a `name`, it is the inline card; else its `url` is the "
     "`card_url`."},
    {"transport",
     transport_key{},
     {"none"},
     "How to reach an MCP server: `type` (`stdio`, `streamable-http`, `sse`), `url`, `headers`, `command`, `args`, "
     "`env`, `cwd`. Shown without anything that may be a credential.",
     "command"},
    {"command", transport_part{form::text, "text"}, {"none"}, "The same as `transport.command`, with `type: stdio`."},
    {"args", transport_part{form::list, "list"}, {"none"}, "The same as `transport.args`; only with `command`."},
    {"env",
     transport_part{form::secrets, "map of secrets"},
     {"none"},
     "The same as `transport.env`; only with `command`."},
    {"env_file",
     file_key{"transport"},
     {"none"},
     "A file of at most 64 KiB with more variables for the `command`, in the format of VS Code: lines `NAME=value`, "
     "quotes, `#` for comments. `env` takes precedence. When the file changes, Cardea reads it again with the "
     "configuration."},
    {"envFile", other_spelling{"env_file"}, {}, "The same as `env_file`."},
    {"cwd", transport_part{form::text, "path"}, {"the gateway's"}, "The same as `transport.cwd`; only with `command`."},
    {"type", transport_part{form::type_name, "text"}, {"from `command` or `url`"}, "The same as `transport.type`."},
    {"headers",
     secret_map_key{&agent::headers},
     {"none"},
     "Header fields that Cardea sends with calls, instead of the caller's, and to the origin of `url` with card "
     "fetches; to an MCP server with every request."},
    {"start",
     choice_key<core::mcp_start>{&mcp_server::start},
     {},
     "When the session with an MCP server starts. `eager`: with the gateway. `lazy`: at the first request for its card."
    },
    {"era",
     choice_key<core::mcp_era>{&mcp_server::era},
     {},
     "Which MCP the server speaks. `legacy`: with sessions (up to 2025-11-25). `modern`: without (since 2026-07-28). "
     "`auto`: Cardea asks the server. The type `sse` is always `legacy`."},
    {"timeouts.queue",
     optional_duration{&agent::queue_wait, 1ms, 1h},
     {.setting = "defaults.timeouts.queue"},
     "How long a call waits for one in flight to end. Then it gets 503."},
    {"timeouts.read",
     optional_duration{&agent::read_timeout, 1ms},
     {.setting = "timeouts.upstream_read"},
     "From any other request, such as `GetTask` and lists, to the head of its answer; never more than `timeout`."},
    {"timeouts.initialize",
     duration_key<core::duration>{&mcp_server::initialize_timeout, 1ms},
     {},
     "From the start of a session to the server's answer to it, also of a client's session."},
    {"timeouts.request",
     duration_key<core::duration>{&mcp_server::request_timeout, 1ms},
     {},
     "One request of Cardea to an MCP server."},
    {"timeouts.ping",
     duration_key<core::duration>{&mcp_server::ping_interval, 0ms},
     {},
     "How often Cardea asks an MCP server whether it is still there, whatever else the server sends. 0: never."},
    {"timeouts.call",
     duration_key<core::duration>{&mcp_server::call_timeout, 1ms, 1h},
     {},
     "How long an MCP server may be silent during a call."},
    {"walk",
     optional_duration{&mcp_server::walk, 0ms},
     {.setting = "mcp.walk"},
     "How often Cardea reads the lists of an MCP server with sessions again without a report of a change. 0: never."},
    {"restart.backoff",
     duration_key<core::duration>{&mcp_server::backoff, 10ms},
     {},
     "The pause before Cardea tries an MCP server again after its session has ended. Each pause is 1.5 times the one "
     "before, up to `restart.max_backoff`, and is shortened by up to half at random."},
    {"restart.max_backoff", duration_key<core::duration>{&mcp_server::max_backoff, 10ms}, {}, "The longest such pause."
    },
    {"max_message",
     size_key{&mcp_server::max_message, {core::least_mcp_message, core::most_mcp_message}},
     {},
     "The largest message to or from an MCP server. A larger one is not sent, or not read."},
    {"stale_if_error",
     switch_key{&mcp_server::stale_if_error},
     {},
     "Whether the card of an MCP server is served while there is no session."},
    {"sessions",
     choice_key<core::mcp_sessions>{&mcp_server::sessions},
     {},
     "Whose session with an MCP server a caller's session uses. `own`: one of its own. `shared`: the one that Cardea "
     "keeps, for servers of which only one can run; then nothing that the server asks reaches a caller."},
    {"sessionless",
     choice_key<core::mcp_sessionless>{&mcp_server::sessionless},
     {},
     "What a call without a session gets. `fall_back`: a session that ends with the call; but `server/discover` of a "
     "server that speaks only the legacy era is refused, so that [clients of both "
     "eras](mcp.md#a-client-of-both-eras-and-a-legacy-server) begin a session. `fresh`: the same session, and "
     "`server/discover` is answered. `shared`: the session that Cardea keeps. `refuse`: 400."},
    {"on_lost",
     choice_key<core::mcp_loss>{&mcp_server::on_lost},
     {},
     "What a caller sees when an MCP server has lost its session. `recover`: nothing; Cardea begins another one and "
     "sends the call again that was refused for that. `tell`: 404."},
    {"warm",
     count_key<std::uint64_t>{&mcp_server::warm, 0, 16},
     {},
     "How many programs of an MCP server Cardea starts ahead, once callers have come."},
    {"max_sessions",
     count_key<std::optional<std::uint64_t>>{&mcp_server::max_sessions, 1, 100'000},
     {"64 programs, or 10000 connections over HTTP+SSE"},
     "How many sessions callers may have at once with an MCP server that is a program or speaks HTTP+SSE, one "
     "principal "
     "half of them. A server over streamable HTTP limits its sessions itself."},
    {"overlap",
     switch_key{&mcp_server::overlap},
     {},
     "Whether programs of an MCP server start at a [hand-over](operations.md#hand-over) while those of the old process "
     "still run. If false, they start when those have ended."},
    {"bind",
     switch_key{&mcp_server::bind},
     {},
     "Whether the task ids and `requestState` that an MCP server hands out are good for [one principal "
     "only](mcp.md#whose-task). If false, they pass as they are: for a server that gets each caller's own credential "
     "and "
     "keeps callers apart itself."},
    {"tools",
     mcp_filter_key{&mcp_server::tools},
     {"all, as the server has them"},
     "Which tools callers get: `allow` and `deny`, lists of the server's names in which `*` is any text; `rename`, "
     "from "
     "the server's name to the one that callers use; `describe`, from that to another description. `deny` counts "
     "before `allow`. A list alone is `allow`."},
    {"prompts", mcp_filter_key{&mcp_server::prompts}, {"all, as the server has them"}, "The same for prompts."},
    {"resources",
     mcp_filter_key{&mcp_server::resources},
     {"all, as the server has them"},
     "The same for resources, by their URI."},
    {"forward_headers",
     header_list_key{&mcp_server::forward_headers},
     {"none"},
     "Header fields of callers that go on to an MCP server over streamable HTTP. Never credentials, nor fields of HTTP "
     "or MCP."},
});

}  // namespace

std::span<const agent_setting> all_agent_settings()
{
    return agents_table;
}

const agent_setting* find_agent_setting(std::string_view key)
{
    const auto* const found = std::find_if(agents_table.begin(), agents_table.end(), [&](const agent_setting& row) {
        return row.name == key || first_part(row.name) == key;
    });
    return found == agents_table.end() ? nullptr : &*found;
}

std::string_view first_part(std::string_view name) noexcept
{
    return name.substr(0, name.find('.'));
}

std::vector<std::string_view> keys_below(std::string_view map)
{
    std::vector<std::string_view> keys;
    for (const auto& row : agents_table) {
        if (first_part(row.name) == map && row.name != map) {
            keys.push_back(row.name.substr(map.size() + 1));
        }
    }
    return keys;
}

core::agent usual_agent(core::protocol speaks)
{
    core::agent usual;
    usual.speaks = speaks;
    if (speaks == core::protocol::mcp) {
        usual.mcp.emplace();
    } else {
        usual.trust = core::card_trust::same_origin;
    }
    return usual;
}

bool only_of_mcp(const agent_setting& row)
{
    return std::visit(
        overloaded{
            [](const transport_key&) { return true; },
            [](const transport_part&) { return true; },
            [](const file_key& type) { return only_of_mcp(*find_agent_setting(type.of)); },
            [](const other_spelling& type) { return only_of_mcp(*find_agent_setting(type.of)); },
            [](const auto& type) { return type.member.index() == 1; },
        },
        row.type
    );
}

}  // namespace config
