// over 60 lines: one table of all keys. over 600 lines: the same.
#include "config/agent_table.hpp"

#include "config/agent_kinds.hpp"
#include "config/mcp_server.hpp"
#include "config/url.hpp"

#include <algorithm>

namespace config {
namespace {

using core::agent;
using core::endpoint_rules;
using core::json;
using core::mcp_server;
using relation = agent_key::relation;

agent_key spelling(std::string_view of)
{
    return {nullptr, relation::spelling, of};
}

// The duration `of` as a number.
agent_key milliseconds_of(std::string_view of)
{
    value_form form{"a whole number", [] { return schema::count(1, 3'600'000); }};
    return {std::make_shared<const plain_key>(std::move(form)), relation::milliseconds, of};
}

// The file with the value, or a part of the value, of the key `of`.
agent_key file_of(std::string_view of)
{
    return {std::make_shared<const plain_key>(value_form{"path", schema::any_text}), relation::file, of};
}

agent_key transport()
{
    value_form form{"a map", transport_schema, masked_part::environment};
    return {std::make_shared<const plain_key>(std::move(form)), relation::transport, {}, true};
}

// A key of the map `transport` that can be one of the agent instead.
agent_key transport_part(std::string described, json (*schema)(), masked_part masked = masked_part::nothing)
{
    value_form form{std::move(described), schema, masked};
    return {std::make_shared<const plain_key>(std::move(form)), relation::transport_part, {}, true};
}

json schema_of_texts()
{
    return schema::list_of(schema::any_text());
}

json schema_of_map()
{
    return schema::map_of(schema::any_text());
}

json schema_of_type()
{
    return schema::one_of(transport_types);
}

std::string with_masked_query(const std::string& url)
{
    return url + '?' + core::masked;
}

std::vector<agent_setting> make_table()
{
    std::vector<agent_setting> table{
        // clang-format off
        {"url", own<&agent::url>(agent_url()), {},
         "The agent's own address, `http` or `https`. Calls go to this host and nowhere else. Required for A2A. If "
         "it has a query, the query goes with every request to the agent, and is never shown. `grpc://host:port`, "
         "or `grpcs` with TLS: an A2A agent that is called by [gRPC](grpc.md) alone.", "transport.url"},
        {"grpc_url", own<&agent::grpc_url>(grpc_url()), {"none"},
         "Where an A2A agent takes [gRPC](grpc.md) beside `url`: calls by gRPC go there. Its card never leads to "
         "another port. Only for A2A agents with one endpoint."},
        {"http", own<&agent::http>(http_version()), {},
         "The version of HTTP for calls. `auto`: HTTP/2 for gRPC, else HTTP/1.1. `2`: HTTP/2 for all calls, which "
         "the agent has to choose in the TLS handshake (ALPN); for `http` URLs without asking."},
        {"relay_services", own<&agent::relay_services>(relay_services()), {"none"},
         "More gRPC services that callers reach. Cardea passes their calls on unread, as those of "
         "`grpc.reflection.v1.ServerReflection`. Only for A2A agents."},
        {"upstreams", own<&endpoint_rules::upstreams>(urls()), {"`url`"},
         "The addresses of the agent's [endpoints](operations/agents.md#several-endpoints), 1 to 32 URLs, each "
         "once: instances of the same agent. `url` is the short form for one. Only for A2A agents."},
        {"balance", own<&endpoint_rules::balance>(choice_of<core::balancing>()), {.setting = "defaults.balance"},
         "Which endpoint gets a call. `failover`: the first healthy one, in written order. `spread`: of two at "
         "random, the one with fewer calls in flight. `caller`: the same one for the same principal, or address."},
        {"failback", own<&endpoint_rules::failback>(duration_in(0s, 24h)), {.setting = "defaults.failback"},
         "How long an endpoint has to be healthy before `failover` returns to it."},
        {"health.check", own<&endpoint_rules::check>(choice_of<core::health_check>()),
         {.setting = "defaults.health.check"},
         "How Cardea [checks](operations/agents.md#several-endpoints) each endpoint. `tcp`: a connection, with TLS "
         "if the URL is `https`. `card`: a fetch of the card. `http`: a GET that is answered with 200 to 299. "
         "`auto`: `tcp` with several endpoints, else `none`. Only for A2A agents."},
        {"health.path", own<&endpoint_rules::health_path>(health_path()), {"that of the endpoint"},
         "The path that `http` asks for, at the origin of each endpoint."},
        {"health.interval", own<&endpoint_rules::health_interval>(duration_in(100ms, 1h)),
         {.setting = "defaults.health.interval"}, "The time between two checks of an endpoint, more or less 10 %."},
        {"health.timeout", own<&endpoint_rules::health_timeout>(duration_in(1ms, 1min)),
         {.setting = "defaults.health.timeout"}, "How long a check may take."},
        {"health.fail", own<&endpoint_rules::health_fail>(count_in(1, 1000)), {.setting = "defaults.health.fail"},
         "After so many failed checks in a row the endpoint gets no calls."},
        {"health.pass", own<&endpoint_rules::health_pass>(count_in(1, 1000)), {.setting = "defaults.health.pass"},
         "After so many good checks in a row it gets calls again."},
        {"retry.attempts", own<&endpoint_rules::retry_attempts>(count_in(1, 10)),
         {.setting = "defaults.retry.attempts"},
         "How often a call is [sent](operations/failures.md#calls-that-are-sent-again) in all. 1: once. Attempts "
         "that made no connection do not count."},
        {"retry.budget", own<&endpoint_rules::retry_budget>(share_in(0, 1)), {.setting = "defaults.retry.budget"},
         "Which share of the calls of the last 10 seconds may be sent again; 3 in each second always may."},
        {"serverUrl", spelling("url"), {}, "The same as `url`."},
        {"httpUrl", spelling("url"), {}, "The same as `url`."},
        {"protocol", own<&agent::speaks>(choice_of<core::protocol>()), {"from its other keys"},
         "What the agent speaks. Default: `mcp` with `transport` or `command`, else `a2a`."},
        {"bearer", own<&agent::bearer>(secret_text()), {"none"},
         "Cardea sends it to the agent with calls and card fetches.", "bearer_file"},
        {"bearer_file", file_of("bearer"), {"none"}, "A file with the bearer, instead of `bearer`."},
        {"credentials", own<&agent::credentials>(credentials()), {"none"},
         "What Cardea shows the agent instead of a bearer: [credentials](#credentials-towards-agents)."},
        {"caller_credentials", own<&agent::of_callers>(caller_credentials()), {},
         "What the agent gets of its callers' credentials, which are `Authorization`, `Cookie`, `X-API-Key` and "
         "[its like](architecture.md#the-relay), and whatever a provider reads. `drop`: nothing. `passthrough`: "
         "all. A list of header names: those. Of an MCP server only `[Authorization]`: [callers log in at the "
         "server](mcp.md#servers-that-log-callers-in)."},
        {"proxy", own<&agent::proxy>(proxy()), {.words = {}, .setting = "proxy"},
         "The HTTP [proxy](operations/agents.md#proxies) through which Cardea connects to the agent, whatever "
         "`no_proxy` says; `environment`, or `none`.", "proxy_file"},
        {"proxy_file", file_of("proxy"), {"none"}, "A file with the URL of the proxy, instead of `proxy`."},
        {"timeout", own<&agent::timeout>(duration_in(1ms, 24h)), {.setting = "timeouts.upstream_head"},
         "From a request that may start work to the head of its answer: `SendMessage`, streams, methods that A2A "
         "does not have, any but `GET`, `HEAD` and `OPTIONS` on `relay_paths`."},
        {"breaker.failures", own<&agent::breaker_failures>(count_in(1, 1'000'000)),
         {.setting = "defaults.breaker.failures"},
         "An agent gets no calls any more after so many failures without a success in between: its "
         "[breaker](operations/failures.md#agents-that-fail) opens. Failures are: no connection in time, an answer "
         "that breaks off or is not valid, and the answers 502, 503 and 504. Not for programs and HTTP+SSE."},
        {"breaker.ratio", own<&agent::breaker_ratio>(share_in(0.01, 1)), {.setting = "defaults.breaker.ratio"},
         "The breaker opens too when this share of the calls within `breaker.window` failed."},
        {"breaker.volume", own<&agent::breaker_volume>(count_in(1, 1'000'000)), {.setting = "defaults.breaker.volume"},
         "How many calls there must be within `breaker.window` for `breaker.ratio` to count."},
        {"breaker.window", own<&agent::breaker_window>(duration_in(1s, 1h)), {.setting = "defaults.breaker.window"},
         "How far back `breaker.ratio` looks."},
        {"breaker.cooldown", own<&agent::breaker_cooldown>(duration_in(100ms, 1h)),
         {.setting = "defaults.breaker.cooldown"},
         "How long an open breaker lets no call pass, times the number of openings in a row and minus up to 20 % "
         "at random. Then one call at a time passes; the first success closes it."},
        {"breaker.max_cooldown", own<&agent::breaker_max_cooldown>(duration_in(100ms, 24h)),
         {.setting = "defaults.breaker.max_cooldown"}, "The longest such time."},
        {"breaker.probe", own<&agent::breaker_probe>(duration_in(100ms, 1h)), {.setting = "defaults.breaker.probe"},
         "How often Cardea tries to connect to an agent that could not be connected to. Calls pass again, one at a "
         "time, when it succeeds."},
        {"failureThreshold", spelling("breaker.failures"), {}, "The same as `breaker.failures`."},
        {"failureWindowMs", milliseconds_of("breaker.window"), {},
         "The same as `breaker.window`, in milliseconds without a unit."},
        {"cooldownMs", milliseconds_of("breaker.cooldown"), {},
         "The same as `breaker.cooldown`, in milliseconds without a unit."},
        {"limits.in_flight", own<&agent::most_in_flight>(count_in(1, 1'000'000)),
         {.setting = "defaults.limits.in_flight"},
         "How many calls the agent gets at a time, from all callers and workers, half of them from one principal. "
         "More [wait](operations/failures.md#too-many-calls). A stream of events counts until it begins. Not for "
         "programs and HTTP+SSE."},
        {"maxInFlight", spelling("limits.in_flight"), {}, "The same as `limits.in_flight`."},
        {"limits.queue", own<&agent::most_queued>(count_in(0, 1'000'000)), {.setting = "defaults.limits.queue"},
         "How many calls wait for one in flight to end; of one caller at most half. More get 503."},
        {"limits.streams", own<&agent::most_streams>(count_in(1, 1'000'000)), {.setting = "defaults.limits.streams"},
         "How many streams of events of the agent are open at a time, half of them of one principal. More get 503."},
        {"relay_paths", own<&agent::relay_paths>(relay_paths()), {"none"},
         "More paths below `/agents/<id>`. Cardea passes any method and body on, unchanged, to the same path below "
         "`url`. `*` matches anything within a segment, `**` any number of segments: `/v1/*`, `/**`."},
        {"hosts", own<&agent::hosts>(host_names()), {"none"},
         "Host names at whose origin callers reach the agent too: [names of agents](#names-of-agents)."},
        {"push", own<&agent::push>(choice_of<core::push_mode>()), {.setting = "push"},
         "Who delivers [push notifications](push.md) of the agent: itself, or Cardea."},
        {"discover", own<&agent::discover>(policy(decision::discover)), {"as `access.rules` say"},
         "Who may know of the agent: a [policy](#policies). For everyone else the agent does not exist."},
        {"call", own<&agent::call>(policy(decision::call)), {"as `access.rules` say"},
         "Who may call the agent: a [policy](#policies). Everyone else who may know of it gets 403."},
        {"acts_as", own<&agent::acts_as>(acts_as()), {"none"},
         "With whose credentials the agent itself calls this gateway, as maps with `provider` and `principal`: who "
         "[contains](operations/contain.md) the agent stops these too, and `calls/edges` names the agent."},
        {"pin", own<&agent::pin>(pin()), {.setting = "defaults.pin"},
         "Whether Cardea [compares](operations/pins.md) what the agent says of itself (its card, or the tools of an MCP "
         "server) with what was approved. `off`: no. `warn`: a change is one event. `enforce`: only the approved "
         "reaches callers. A map has `mode` and `except`: tools that are left out, in which `*` is any text."},
        {"extensions.enforce_0_3", own<&agent::extensions_of_03>(on_or_off()), {},
         "Whether a call of A2A 0.3 too has to name the extensions that the agent's card requires. A call of 1.0 "
         "always has to."},
        {"disabled", own<&agent::disabled>(on_or_off()), {},
         "Cardea keeps the agent, but answers as for an unknown agent."},
        {"registered", own<&agent::registered>(on_or_off()), {},
         "The agent [registered itself](security.md#self-registration), or may register itself again. Cardea "
         "connects to it at public addresses only, and at those of `register.allow`. Not for programs."},
        {"registered_by", own<&agent::registered_by>(line("text", "a provider and the id of a principal")),
         {"whoever has `register.token`"},
         "The provider and the id of the principal that may register the agent again, with a space between them. "
         "Cardea writes it when a principal registers an agent. Only with `registered: true`."},
        {"shape", own<&agent::shape>(choice_of<core::card_shape>()), {.setting = "cards.shape"},
         "The generation of this agent's card that callers get."},
        {"signatures", own<&agent::signatures>(choice_of<core::signature_policy>()), {.setting = "cards.signatures"},
         "What happens to the signatures of this agent's card. An inline card is not verified."},
        {"trusted_keys", own<&agent::trusted_keys>(file(file_kind::key_set)), {.setting = "cards.trusted_keys"},
         "The keys that Cardea trusts for this agent's card."},
        {"key_set_origins", own<&agent::key_set_origins>(https_origins()), {.setting = "cards.key_set_origins"},
         "Origins from which Cardea may fetch the key set that a signature of this agent's card names."},
        {"card_url", own<&agent::card_url>(url()), {"found from `url`"},
         "Where Cardea fetches the agent's card. A query is allowed.", "metadata.agentCard.url"},
        {"trust_card_url", own<&agent::trust>(choice_of<core::card_trust>()), {},
         "Whether the card may choose the path for calls, on the agent's own scheme, host and port. A card never "
         "leads to another host. `never`: calls go to `url`."},
        {"speaks", own<&agent::dialects>(dialects()), {"as its card says"},
         "The dialects of A2A in which the agent takes calls, if its card does not say so or is wrong. Only for "
         "A2A agents."},
        {"bridge", own<&agent::bridge>(on_or_off()), {},
         "Whether callers of other dialects of A2A reach the agent, and A2A clients an MCP server: Cardea then "
         "[translates](protocol-profile.md) their calls. If false, calls only pass as they are, and A2A calls of an "
         "MCP server get 501."},
        {"as_tools", own<&agent::as_tools>(choice_of<core::tool_form>()), {},
         "How MCP clients call an A2A agent. `agent`: with a tool `send_message`. `skills`: with a tool for each "
         "skill, for agents that obey `metadata.skillId`. `off`: not at all. Only for A2A agents."},
        {"tool_wait", own<&agent::tool_wait>(duration_in(1s, 1h)), {},
         "How long such a tool waits for the end of the agent's task. Then its caller gets the state of the task and "
         "its id. Only for A2A agents."},
        {"extended_card", own<&agent::extended_card>(choice_of<core::extended_card_access>()), {},
         "Where the [extended card](#skills-and-extended-cards) comes from. `off`: callers get none. `proxy`: "
         "Cardea asks the agent for it with the agent's own credentials, whoever the caller is. `managed`: Cardea "
         "extends the agent's card itself. `auto`: `proxy`, if the agent's card says that it has one; but `off` if "
         "there are no `access.providers` and the agent has one of these credentials. With providers, only "
         "authenticated callers get an extended card."},
        {"skills", own<&agent::skills>(skill_rules()), {"all are public"},
         "Who sees which [skills](#skills-and-extended-cards) of the agent; of an MCP server, who sees and calls "
         "which tools and prompts."},
        {"overlays", own<&agent::overlays>(overlays()), {"none"},
         "What a managed [extended card](#skills-and-extended-cards) says besides to some principals."},
        {"card_patch", own<&agent::patch>(card_patch()), {"none"},
         "What [every card](#skills-and-extended-cards) of the agent says instead of what the agent says: "
         "`description`, `documentationUrl`, `provider` and `skills`."},
        {"card", own<&agent::card>(card()), {"fetched"},
         "The agent's card itself, served without a fetch. It needs a `name`.", "metadata.agentCard"},
        {"card_headers", own<&agent::card_headers>(headers(header_use::cards)), {"none"},
         "Header fields that Cardea sends with card fetches; to an MCP server over HTTP, with its own session, "
         "whose lists are the card."},
        {"tls.ca_file", own<&agent::ca_file>(line("path", "a version")), {"the system's"},
         "Certificate authorities (PEM) for the agent's certificate. If the file also holds revocation lists, one "
         "of them must cover the certificate."},
        {"tls.cert", own<&agent::cert_file>(line("path", "a version")), {"none"},
         "The certificate (PEM, with its chain) that Cardea shows if the agent asks for one."},
        {"tls.key", own<&agent::key_file>(line("path", "a version")), {"none"}, "The key of `tls.cert` (PEM)."},
        {"version", own<&agent::version>(line("text", "a version")), {"none"},
         "A note. Cardea shows it and never interprets it."},
        {"protocol_version", own<&agent::protocol_version>(line("text", "a version")), {"none"},
         "A note. Cardea shows it and never interprets it."},
        {"protocolVersion", spelling("protocol_version"), {}, "The same as `protocol_version`."},
        {"metadata", own<&agent::metadata>(metadata()), {"`{}`"},
         "Shown by `agents/get`. If its member `agentCard` has a `name`, it is the inline card; else its `url` is "
         "the `card_url`."},
        {"transport", transport(), {"none"},
         "How to reach an MCP server: `type` (`stdio`, `streamable-http`, `sse`), `url`, `headers`, `command`, "
         "`args`, `env`, `cwd`. Shown without anything that may be a credential.", "command"},
        {"command", transport_part("text", schema::any_text), {"none"},
         "The same as `transport.command`, with `type: stdio`."},
        {"args", transport_part("list", schema_of_texts), {"none"},
         "The same as `transport.args`; only with `command`."},
        {"env", transport_part("map of secrets", schema_of_map, masked_part::environment), {"none"},
         "The same as `transport.env`; only with `command`."},
        {"env_file", file_of("transport"), {"none"},
         "A file of at most 64 KiB with more variables for the `command`, in the format of VS Code: lines "
         "`NAME=value`, quotes, `#` for comments. `env` takes precedence. When the file changes, Cardea reads it "
         "again with the configuration."},
        {"envFile", spelling("env_file"), {}, "The same as `env_file`."},
        {"cwd", transport_part("path", schema::any_text), {"the gateway's"},
         "The same as `transport.cwd`; only with `command`."},
        {"type", transport_part("text", schema_of_type), {"from `command` or `url`"}, "The same as `transport.type`."},
        {"headers", own<&agent::headers>(headers(header_use::calls)), {"none"},
         "Header fields that Cardea sends with calls, instead of the caller's, and to the origin of `url` with "
         "card fetches; to an MCP server with every request."},
        {"start", own<&mcp_server::start>(choice_of<core::mcp_start>()), {},
         "When the session with an MCP server starts. `eager`: with the gateway. `lazy`: at the first request for "
         "its card."},
        {"era", own<&mcp_server::era>(choice_of<core::mcp_era>()), {},
         "Which MCP the server speaks. `legacy`: with sessions (up to 2025-11-25). `modern`: without (since "
         "2026-07-28). `auto`: Cardea asks the server. The type `sse` is always `legacy`."},
        {"timeouts.queue", own<&agent::queue_wait>(duration_in(1ms, 1h)), {.setting = "defaults.timeouts.queue"},
         "How long a call waits for one in flight to end. Then it gets 503."},
        {"timeouts.read", own<&agent::read_timeout>(duration_in(1ms, 24h)), {.setting = "timeouts.upstream_read"},
         "From any other request, such as `GetTask` and lists, to the head of its answer; never more than "
         "`timeout`."},
        {"timeouts.initialize", own<&mcp_server::initialize_timeout>(duration_in(1ms, 24h)), {},
         "From the start of a session to the server's answer to it, also of a client's session."},
        {"timeouts.request", own<&mcp_server::request_timeout>(duration_in(1ms, 24h)), {},
         "One request of Cardea to an MCP server."},
        {"timeouts.ping", own<&mcp_server::ping_interval>(duration_in(0ms, 24h)), {},
         "How often Cardea asks an MCP server whether it is still there, whatever else the server sends. 0: never."},
        {"timeouts.call", own<&mcp_server::call_timeout>(duration_in(1ms, 1h)), {},
         "How long an MCP server may be silent during a call."},
        {"walk", own<&mcp_server::walk>(duration_in(0ms, 24h)), {.setting = "mcp.walk"},
         "How often Cardea reads the lists of an MCP server with sessions again without a report of a change. 0: "
         "never."},
        {"restart.backoff", own<&mcp_server::backoff>(duration_in(10ms, 24h)), {},
         "The pause before Cardea tries an MCP server again after its session has ended. Each pause is 1.5 times "
         "the one before, up to `restart.max_backoff`, and is shortened by up to half at random."},
        {"restart.max_backoff", own<&mcp_server::max_backoff>(duration_in(10ms, 24h)), {}, "The longest such pause."},
        {"max_message", own<&mcp_server::max_message>(size_in(core::least_mcp_message, core::most_mcp_message)), {},
         "The largest message to or from an MCP server. A larger one is not sent, or not read."},
        {"stale_if_error", own<&mcp_server::stale_if_error>(on_or_off()), {},
         "Whether the card of an MCP server is served while there is no session."},
        {"sessions", own<&mcp_server::sessions>(choice_of<core::mcp_sessions>()), {},
         "Whose session with an MCP server a caller's session uses. `own`: one of its own. `shared`: the one that "
         "Cardea keeps, for servers of which only one can run; then nothing that the server asks reaches a caller."},
        {"sessionless", own<&mcp_server::sessionless>(choice_of<core::mcp_sessionless>()), {},
         "What a call without a session gets. `fall_back`: a session that ends with the call; but "
         "`server/discover` of a server that speaks only the legacy era is refused, so that [clients of both "
         "eras](mcp.md#a-client-of-both-eras-and-a-legacy-server) begin a session. `fresh`: the same session, and "
         "`server/discover` is answered. `shared`: the session that Cardea keeps. `refuse`: 400."},
        {"on_lost", own<&mcp_server::on_lost>(choice_of<core::mcp_loss>()), {},
         "What a caller sees when an MCP server has lost its session. `recover`: nothing; Cardea begins another "
         "one and sends the call again that was refused for that. `tell`: 404."},
        {"warm", own<&mcp_server::warm>(count_in(0, 16)), {},
         "How many programs of an MCP server Cardea starts ahead, once callers have come."},
        {"max_sessions", own<&mcp_server::max_sessions>(count_in(1, 100'000)),
         {"64 programs, or 10000 connections over HTTP+SSE"},
         "How many sessions callers may have at once with an MCP server that is a program or speaks HTTP+SSE, one "
         "principal half of them. A server over streamable HTTP limits its sessions itself."},
        {"overlap", own<&mcp_server::overlap>(on_or_off()), {},
         "Whether programs of an MCP server start at a [hand-over](operations/start.md#hand-over) while those of "
         "the old process still run. If false, they start when those have ended."},
        {"bind", own<&mcp_server::bind>(on_or_off()), {},
         "Whether the task ids and `requestState` that an MCP server hands out are good for [one principal "
         "only](mcp.md#whose-task). If false, they pass as they are: for a server that gets each caller's own "
         "credential and keeps callers apart itself."},
        {"tools", own<&mcp_server::tools>(mcp_filter()), {"all, as the server has them"},
         "Which tools callers get: `allow` and `deny`, lists of the server's names in which `*` is any text; "
         "`rename`, from the server's name to the one that callers use; `describe`, from that to another "
         "description. `deny` counts before `allow`. A list alone is `allow`."},
        {"prompts", own<&mcp_server::prompts>(mcp_filter()), {"all, as the server has them"}, "The same for prompts."},
        {"resources", own<&mcp_server::resources>(mcp_filter()), {"all, as the server has them"},
         "The same for resources, by their URI."},
        {"forward_headers", own<&mcp_server::forward_headers>(forwarded_headers()), {"none"},
         "Header fields of callers that go on to an MCP server over streamable HTTP. Never credentials, nor fields "
         "of HTTP or MCP."},
        // clang-format on
    };
    for (auto& row : table) {
        if (!row.type.key) {
            row.type.key = std::ranges::find(table, row.type.of, &agent_setting::name)->type.key;
        }
    }
    return table;
}

}  // namespace

std::span<const agent_setting> all_agent_settings()
{
    static const auto table = make_table();
    return table;
}

const agent_setting* find_agent_setting(std::string_view key)
{
    const auto all = all_agent_settings();
    const auto found =
        std::ranges::find_if(all, [&](const auto& row) { return row.name == key || first_part(row.name) == key; });
    return found == all.end() ? nullptr : &*found;
}

std::string_view first_part(std::string_view name) noexcept
{
    return name.substr(0, name.find('.'));
}

std::vector<std::string_view> keys_below(std::string_view map)
{
    std::vector<std::string_view> keys;
    for (const auto& row : all_agent_settings()) {
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
    return row.type.only_of_mcp || (!row.type.of.empty() && only_of_mcp(*find_agent_setting(row.type.of)));
}

std::string usual_text(const agent_setting& row)
{
    if (row.is_spelling()) {
        return usual_text(*find_agent_setting(row.type.of));
    }
    if (!row.usual.words.empty()) {
        return std::string{row.usual.words};
    }
    if (!row.usual.setting.empty()) {
        return '`' + std::string{row.usual.setting} + '`';
    }
    const auto value = shown_value(row, usual_agent(only_of_mcp(row) ? core::protocol::mcp : core::protocol::a2a));
    return value.is_null() ? "" : '`' + (value.is_string() ? value.get<std::string>() : core::to_text(value)) + '`';
}

json shown_value(const agent_setting& row, const core::agent& agent)
{
    if (row.name == "url" && !core::query_of(agent).empty()) {
        return with_masked_query(agent.url);
    }
    auto value = row.type.member == nullptr ? json{} : row.type.member->print(agent);
    if (row.name == "upstreams") {
        for (std::size_t i = 0; i < value.size() && i < agent.queries.size(); ++i) {
            value[i] = agent.queries[i].empty() ? value[i] : json(with_masked_query(value[i].get<std::string>()));
        }
    }
    return value;
}

bool same_value(const agent_setting& row, const core::agent& a, const core::agent& b)
{
    if (row.name == "url" && a.queries != b.queries) {
        return false;
    }
    if (row.name == "trust_card_url" && a.speaks != b.speaks) {
        return true;  // MCP servers have none
    }
    if (row.type.is == relation::transport) {
        return !a.mcp || !b.mcp ||
               (a.mcp->transport == b.mcp->transport && a.mcp->command == b.mcp->command &&
                a.mcp->arguments == b.mcp->arguments && a.mcp->environment == b.mcp->environment &&
                a.mcp->directory == b.mcp->directory);
    }
    return row.type.member == nullptr || row.type.member->same(a, b);
}

}  // namespace config
