// over 600 lines: one table of all keys.
#include "config/schema.hpp"

#include "config/agent_hosts.hpp"
#include "config/choice.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"
#include "core/proxy.hpp"

#include <algorithm>
#include <array>
#include <concepts>
#include <iterator>
#include <numeric>
#include <utility>

namespace config {
namespace {

constexpr std::size_t longest_mistyped = 64;  // of a key that can be a typing error

// Near in spelling to a key of ours (`cwd`, `type`, `tls`) and in meaning to another one.
constexpr auto lookalikes = std::to_array<std::pair<std::string_view, std::string_view>>(
    {{"cmd", "command"}, {"time", "timeout"}, {"ttl", "ttl"}}
);

constexpr std::uint64_t kib = 1024;
constexpr std::uint64_t mib = 1024 * kib;
constexpr std::uint64_t gib = 1024 * mib;
constexpr core::duration day = 24h;
constexpr core::duration month = 30 * day;

constexpr duration_setting
card_time(member_of<core::duration> member, core::duration least, core::duration most = month)
{
    return {member, least, most};
}

constexpr count_setting rate(member_of<std::uint64_t> member)
{
    return {member, 0, 1'000'000};
}

constexpr duration_setting timeout(member_of<core::duration> member)
{
    return {member, 1ms, day};
}

// The member at the end of a chain, such as of<&settings::cards, &card_settings::ttl>.
template <auto... Chain>
auto& of(settings& s)
{
    return (s.*....*Chain);
}

template <auto Member>
constexpr auto of_health =
    of<&settings::defaults, &agent_defaults::endpoints, &core::endpoint_defaults::health, Member>;
template <auto Member>
constexpr auto of_retry = of<&settings::defaults, &agent_defaults::endpoints, &core::endpoint_defaults::retry, Member>;

constexpr auto settings_table = std::to_array<setting>({
    {"listen", address_setting{of<&settings::listen>}, "The address for callers. Port 0 lets the system choose."},
    {"admin", address_setting{of<&settings::admin>}, "The address for metrics, health and management; keep it private."
    },
    {"admin_programs",
     switch_setting{of<&settings::admin_programs>},
     "Whether the management API may add MCP servers over stdio. If true, everyone who reaches `admin` can run any "
     "program as the gateway's user. It requires an `admin` on a loopback address."},
    {"tls",
     certificate_list_setting{of<&settings::tls>},
     "Serves callers over TLS only. `cert` (PEM) has the certificate and its chain, `key` (PEM) its key. Of several, "
     "the first is the default; `names` or the DNS names in the certificate select the others. Cardea reads changed "
     "files again."},
    {"admin_tls", certificate_list_setting{of<&settings::admin_tls>}, "The same for `admin`."},
    {"metrics",
     address_setting{of<&settings::metrics>},
     "One more address, for scraping alone: `/metrics`, `/healthz` and `/readyz` for everyone who reaches it, under "
     "any "
     "`Host`, and nothing else. Default: none."},
    {"metrics_agents",
     count_setting{of<&settings::metrics_agents>, 0, 100'000},
     "How many agents have series of their own in `/metrics`: those that were called last. The others share the series "
     "of the agent `(other)`."},
    {"metrics_tls", certificate_list_setting{of<&settings::metrics_tls>}, "The same as `tls`, for `metrics`."},
    {"access",
     access_setting{of<&settings::access>},
     "[Who may call](#access). Without providers no caller needs a credential, and `listen` has to be a loopback "
     "address, unless this is `open`. With providers an agent is open to nobody until a policy says otherwise."},
    {"admin_access",
     choice_setting<core::admin_access>{of<&settings::admin_access>},
     "Who may use `admin`. `loopback`: whoever reaches it, which must be a loopback address. `open`: whoever reaches "
     "it, wherever it is. `scopes`: callers with a credential of `access.providers`, other than a certificate, and the "
     "[scopes](security.md#management) of what they ask for; `/healthz` and `/readyz` stay open."},
    {"register.token",
     secret_setting{of<&settings::registration, &core::registration_settings::token>},
     "The bearer token with which [agents register themselves](security.md#self-registration), at `listen` too. "
     "Default: none; principals with the scope `cardea:register` may."},
    {"register.token_file",
     secret_file_setting{{of<&settings::registration, &core::registration_settings::token>}, "register.token"},
     "A file with the token, instead of `register.token`."},
    {"register.allow",
     network_list_setting{of<&settings::registration, &core::registration_settings::allow>},
     "Addresses, besides public ones, at which agents that registered themselves may be. Default: none, so that "
     "nobody can have Cardea connect to a private, link-local or loopback address. Those at which Cardea listens are "
     "never among them."},
    {"public_url",
     base_url_setting{of<&settings::public_url>},
     "The address that callers use; agent cards contain it. Default: `http://`, or `https://` with `tls`, and the "
     "address of `listen`."},
    {"trusted_proxies",
     network_list_setting{of<&settings::trusted_proxies>},
     "Proxies in front of the gateway. Cardea believes their `X-Forwarded-*` and `Forwarded` and passes them on. It "
     "drops those of everyone else."},
    {"proxy",
     proxy_setting{of<&settings::proxy>},
     "The HTTP [proxy](operations.md#proxies) through which Cardea connects to agents and every other server, such as "
     "`http://name:password@proxy.example.com:3128`. `environment`: those of `HTTPS_PROXY` and `HTTP_PROXY`, but for "
     "the hosts of `NO_PROXY`. `none`: no proxy. Cardea always connects to its own machine directly."},
    {"proxy_file",
     secret_file_setting{{of<&settings::proxy>}, "proxy"},
     "A file with the URL of the proxy, instead of `proxy`."},
    {"no_proxy",
     direct_host_list_setting{of<&settings::no_proxy>},
     "Hosts to which Cardea connects without `proxy`: names, which stand for the names below them too, addresses, "
     "blocks of addresses, each name or address perhaps with a port, or `*`. Default: none."},
    {"hosts",
     host_list_setting{of<&settings::hosts>},
     "The names that callers may use in `Host`, without a port; `*` is any name. Others get 421. Default: any name; "
     "on a loopback address only the loopback names, the address of `listen` and the host of `public_url`, against "
     "DNS rebinding."},
    {"agent_hosts",
     host_pattern_setting{of<&settings::agent_hosts>},
     "A host name for each agent, besides its path, with `{id}` in its first label: "
     "[names of agents](#names-of-agents). Default: none."},
    {"workers", count_setting{of<&settings::workers>, 0, 256}, "Threads that carry traffic. 0: one per core."},
    {"push",
     choice_setting<core::push_mode>{of<&settings::push>},
     "Who delivers the [push notifications](operations.md#push-notifications) of A2A agents. `passthrough`: the agent, "
     "to the URL that the caller names. `mediate`: Cardea; the agent gets an address of Cardea instead and has to "
     "reach `public_url`."},
    {"push_allow",
     network_list_setting{of<&settings::push_allow>},
     "Addresses, besides public ones, to which Cardea delivers push notifications, and which callers may name to MCP "
     "servers for [events](mcp.md#events). Default: none, so that no caller can have Cardea connect to a private, "
     "link-local or loopback address. Those at which Cardea listens are never among them."},
    {"push_sign",
     switch_setting{of<&settings::push_sign>},
     "Whether Cardea signs the push notifications that it delivers, with `cards.signing_key`: "
     "[`Cardea-Signature`](operations.md#push-notifications)."},
    {"log.level", choice_setting<core::log_level>{of<&settings::log_level>}, "The least severe level that is written."},
    {"log.format",
     choice_setting<core::log_format>{of<&settings::log_format>},
     "How log lines look. `json`: one object a line. `text`: a sentence for people. `auto`: `text` on a terminal, "
     "`json` "
     "elsewhere. Below systemd each line has its level in front, which journald takes off."},
    {"store",
     store_setting{of<&settings::store>},
     "Where Cardea keeps agents of the management API, the last good card of each A2A agent, and push notifications "
     "until they are delivered: a SQLite file, or memory. Default: `store.db` in systemd's `STATE_DIRECTORY`, else in "
     "`cardea` below `XDG_STATE_HOME` or "
     "`~/.local/state`, or memory if that is unusable. A file that is named here must be usable."},

    {"rate_limits.principal.rate",
     rate(of<&settings::rate_limits, &core::rate_limits::principal, &core::rate_limit::rate>),
     "Requests a second of one principal, to all agents together. More get 429. 0: any number. Requests on `admin` "
     "have no limits."},
    {"rate_limits.principal.burst",
     rate(of<&settings::rate_limits, &core::rate_limits::principal, &core::rate_limit::burst>),
     "How many of them may come at once after a pause. 0: as many as `rate`. It needs a `rate`."},
    {"rate_limits.agent.rate",
     rate(of<&settings::rate_limits, &core::rate_limits::agent, &core::rate_limit::rate>),
     "Requests a second to one agent, of all callers that may know of it together. More get 429. 0: any number."},
    {"rate_limits.agent.burst",
     rate(of<&settings::rate_limits, &core::rate_limits::agent, &core::rate_limit::burst>),
     "As `rate_limits.principal.burst`."},
    {"rate_limits.address.rate",
     rate(of<&settings::rate_limits, &core::rate_limits::address, &core::rate_limit::rate>),
     "Requests a second from one address, before anything else is looked at. More get 429. 0: any number. An IPv6 "
     "address counts with its /64; behind `trusted_proxies` it is the caller's."},
    {"rate_limits.address.burst",
     rate(of<&settings::rate_limits, &core::rate_limits::address, &core::rate_limit::burst>),
     "As `rate_limits.principal.burst`."},

    {"audit",
     audit_setting{of<&settings::audit>},
     "Where Cardea writes what happened to agents, cards, keys and denied callers, one JSON object a line, whatever "
     "`log.level` is. A file is opened again on SIGHUP."},
    {"trace.endpoint",
     base_url_setting{of<&settings::trace, &trace_settings::endpoint>},
     "The address of an OpenTelemetry collector, such as `http://127.0.0.1:4318`. Cardea then joins "
     "[traces](operations.md#traces), and sends its spans to `/v1/traces` there. Default: none; `traceparent` and "
     "`tracestate` pass unchanged."},
    {"trace.sample",
     share_setting{of<&settings::trace, &trace_settings::sample>, 0, 1},
     "How many of the traces that begin at Cardea are recorded. A trace that the caller has begun is recorded if the "
     "caller says so."},
    {"debug.core",
     switch_setting{of<&settings::debug, &debug_settings::core>},
     "Whether a crash may leave a core dump, and a debugger of the same user may attach. Both show every secret."},

    {"reload.watch",
     switch_setting{of<&settings::reload, &reload_settings::watch>},
     "Whether Cardea reads the configuration again when its file, or a file that it names (`bearer_file`), changes. "
     "If false: only on SIGHUP and `POST /reload`."},

    {"handover.timeout",
     timeout(of<&settings::handover, &handover_settings::timeout>),
     "How long a new process may say nothing during a [hand-over](operations.md#hand-over). Then Cardea kills it and "
     "goes "
     "on itself."},

    {"errors.a2x",
     switch_setting{of<&settings::errors, &error_settings::a2x>},
     "Whether JSON-RPC callers of A2A 0.3 who need a credential and send none get the error -32008 of A2X with the "
     "status "
     "401. Other callers get only the status."},
    {"errors.profile",
     choice_setting<core::error_edition>{of<&settings::errors, &error_settings::profile>},
     "Which edition of A2A 1.0 decides the HTTP status of Cardea's own and of translated errors for callers of "
     "HTTP+JSON. 1.0.1 changed some of them: [errors](protocol-profile.md#errors)."},

    {"cors.origins",
     page_origin_list_setting{of<&settings::cors, &cors_settings::origins>},
     "Origins of web pages that may call `listen` and read its answers, besides the gateway's own. The port may be "
     "`*`, as in "
     "`http://localhost:*`. Default: none; on a loopback address the pages of this machine."},
    {"cors.credentials",
     switch_setting{of<&settings::cors, &cors_settings::credentials>},
     "Whether these pages may have the browser send cookies and client certificates."},
    {"cors.public",
     choice_setting<core::public_documents>{of<&settings::cors, &cors_settings::documents>},
     "Which pages may read documents that everybody may read: cards of agents that anyone may discover, catalogs, "
     "metadata and keys. `auto`: `anyone` if callers need a credential, else `listed`, because any web page could "
     "otherwise read "
     "what is meant for a private network."},

    {"mcp.walk",
     duration_setting{of<&settings::mcp, &mcp_settings::walk>, 0s, day},
     "How often Cardea reads the lists of MCP servers with sessions again without a report of a change. 0: never. "
     "Servers without sessions (since 2026-07-28) say how long their lists are valid."},

    {"mcp.session_keys",
     session_key_list_setting{of<&settings::mcp, &mcp_settings::session_keys>},
     "Files with the keys of session ids, and of the addresses that agents notify: 32 bytes each, as hex or base64. "
     "The "
     "first one seals, all of them open. Gateways with the same keys serve each other's sessions. Without keys Cardea "
     "makes one and keeps it in its store."},
    {"mcp.origins",
     page_origin_list_setting{of<&settings::mcp, &mcp_settings::origins>},
     "The previous name of `cors.origins`; both count."},
    {"mcp.replay_events",
     count_setting{of<&settings::mcp, &mcp_settings::replay_events>, 1, 65536},
     "How many events of a stream Cardea keeps for a client that "
     "[comes back](mcp.md#a-client-that-loses-its-connection). The oldest go first."},
    {"mcp.replay_stream",
     size_setting{of<&settings::mcp, &mcp_settings::replay_stream>, kib, gib},
     "The same in bytes, with 128 bytes for each event."},
    {"mcp.replay_memory",
     size_setting{of<&settings::mcp, &mcp_settings::replay_memory>, 0, 64 * gib},
     "The same for all streams together. 0: no stream can be resumed."},
    {"mcp.replay_time",
     duration_setting{of<&settings::mcp, &mcp_settings::replay_time>, 1s, day},
     "How long Cardea keeps an event."},

    {"cards.ttl",
     card_time(of<&settings::cards, &card_settings::ttl>, 1s),
     "How long a card is fresh if the agent does not say."},
    {"cards.min_ttl",
     card_time(of<&settings::cards, &card_settings::min_ttl>, 0s),
     "The shortest freshness that an agent can ask for."},
    {"cards.max_ttl",
     card_time(of<&settings::cards, &card_settings::max_ttl>, 1s),
     "The longest freshness that an agent can ask for."},
    {"cards.stale_if_error",
     card_time(of<&settings::cards, &card_settings::stale_if_error>, 0s),
     "How much longer a card is served while the agent fails."},
    {"cards.negative_ttl",
     card_time(of<&settings::cards, &card_settings::negative_ttl>, 0s, 1h),
     "How long Cardea remembers a failed fetch of a card."},
    {"cards.shape",
     choice_setting<core::card_shape>{of<&settings::cards, &card_settings::shape>},
     "The generation of the cards that callers get, whatever the agents write. `v1`: strictly A2A 1.0. `v0.3`: A2A "
     "0.3. `hybrid`: both in one. `auto`: the one that the caller's `A2A-Version` names; without it `hybrid`, and for "
     "MCP servers and with `bridge: false` the agent's own."},
    {"cards.signatures",
     choice_setting<core::signature_policy>{of<&settings::cards, &card_settings::signatures>},
     "What happens to the signatures of cards (A2A 1.0 section 8.4). The agents' own are always removed. `verify` "
     "refuses a fetched card that no trusted key has signed. `sign` signs cards of shape 1.0; the keys are at "
     "`/.well-known/jwks.json`."},
    {"cards.signing_key",
     file_setting{of<&settings::cards, &card_settings::signing_key>, file_kind::signing_key},
     "The key for `sign`. The kind of the key selects the algorithm: ES256 for a key on P-256, and so on."},
    {"cards.retired_keys",
     file_setting{of<&settings::cards, &card_settings::retired_keys>, file_kind::key_set},
     "Previous keys. They stay at `/.well-known/jwks.json` while cards that they signed are in use."},
    {"cards.trusted_keys",
     file_setting{of<&settings::cards, &card_settings::trusted_keys>, file_kind::key_set},
     "The keys that `verify` trusts. Cardea reads the file again for each card, so a removed key is not trusted any "
     "more."},
    {"cards.key_set_origins",
     origin_list_setting{of<&settings::cards, &card_settings::key_set_origins>},
     "Origins from which Cardea may fetch the key set that a signature names (`jku`). It then trusts the keys of this "
     "set."},
    {"cards.timeout",
     card_time(of<&settings::cards, &card_settings::timeout>, 1ms, 5min),
     "One whole fetch of a card, with all addresses that are tried."},
    {"cards.max_size",
     size_setting{of<&settings::cards, &card_settings::max_size>, kib, 16 * mib},
     "The largest card that Cardea fetches, or makes from the lists of an MCP server."},
    {"cards.background",
     count_setting{of<&settings::cards, &card_settings::background>, 0, 1000},
     "Cardea fetches cards before a request needs them, and again before they are stale, while fewer fetches than "
     "this are running. 0: only on request."},

    {"defaults.breaker.failures",
     count_setting{of<&settings::defaults, &agent_defaults::breaker, &core::breaker_settings::failures>, 1, 1'000'000},
     "As `breaker.failures` of an agent, for those that do not have it."},
    {"defaults.breaker.ratio",
     share_setting{of<&settings::defaults, &agent_defaults::breaker, &core::breaker_settings::ratio>, 0.01, 1},
     "As `breaker.ratio` of an agent, for those that do not have it."},
    {"defaults.breaker.volume",
     count_setting{of<&settings::defaults, &agent_defaults::breaker, &core::breaker_settings::volume>, 1, 1'000'000},
     "As `breaker.volume` of an agent, for those that do not have it."},
    {"defaults.breaker.window",
     duration_setting{of<&settings::defaults, &agent_defaults::breaker, &core::breaker_settings::window>, 1s, 1h},
     "As `breaker.window` of an agent, for those that do not have it."},
    {"defaults.breaker.cooldown",
     duration_setting{of<&settings::defaults, &agent_defaults::breaker, &core::breaker_settings::cooldown>, 100ms, 1h},
     "As `breaker.cooldown` of an agent, for those that do not have it."},
    {"defaults.breaker.max_cooldown",
     duration_setting{
         of<&settings::defaults, &agent_defaults::breaker, &core::breaker_settings::max_cooldown>,
         100ms,
         day
     },
     "As `breaker.max_cooldown` of an agent, for those that do not have it."},
    {"defaults.breaker.probe",
     duration_setting{of<&settings::defaults, &agent_defaults::breaker, &core::breaker_settings::probe>, 100ms, 1h},
     "As `breaker.probe` of an agent, for those that do not have it."},
    {"defaults.balance",
     choice_setting<
         core::balancing>{of<&settings::defaults, &agent_defaults::endpoints, &core::endpoint_defaults::balance>},
     "As `balance` of an agent, for those that do not have it."},
    {"defaults.failback",
     duration_setting{of<&settings::defaults, &agent_defaults::endpoints, &core::endpoint_defaults::failback>, 0s, day},
     "As `failback` of an agent, for those that do not have it."},
    {"defaults.health.check",
     choice_setting<core::health_check>{of_health<&core::health_settings::check>},
     "As `health.check` of an agent, for those that do not have it."},
    {"defaults.health.interval",
     duration_setting{of_health<&core::health_settings::interval>, 100ms, 1h},
     "As `health.interval` of an agent, for those that do not have it."},
    {"defaults.health.timeout",
     duration_setting{of_health<&core::health_settings::timeout>, 1ms, 1min},
     "As `health.timeout` of an agent, for those that do not have it."},
    {"defaults.health.fail",
     count_setting{of_health<&core::health_settings::fail>, 1, 1000},
     "As `health.fail` of an agent, for those that do not have it."},
    {"defaults.health.pass",
     count_setting{of_health<&core::health_settings::pass>, 1, 1000},
     "As `health.pass` of an agent, for those that do not have it."},
    {"defaults.retry.attempts",
     count_setting{of_retry<&core::retry_settings::attempts>, 1, 10},
     "As `retry.attempts` of an agent, for those that do not have it."},
    {"defaults.retry.budget",
     share_setting{of_retry<&core::retry_settings::budget>, 0, 1},
     "As `retry.budget` of an agent, for those that do not have it."},

    {"defaults.limits.in_flight",
     count_setting{of<&settings::defaults, &agent_defaults::calls, &core::call_limits::in_flight>, 1, 1'000'000},
     "As `limits.in_flight` of an agent, for those that do not have it."},
    {"defaults.limits.queue",
     count_setting{of<&settings::defaults, &agent_defaults::calls, &core::call_limits::queue>, 0, 1'000'000},
     "As `limits.queue` of an agent, for those that do not have it."},
    {"defaults.limits.streams",
     count_setting{of<&settings::defaults, &agent_defaults::calls, &core::call_limits::streams>, 1, 1'000'000},
     "As `limits.streams` of an agent, for those that do not have it."},
    {"defaults.timeouts.queue",
     duration_setting{of<&settings::defaults, &agent_defaults::calls, &core::call_limits::wait>, 1ms, 1h},
     "As `timeouts.queue` of an agent, for those that do not have it."},

    {"deadlines.fields",
     field_name_list_setting{of<&settings::deadlines, &deadline_settings::fields>},
     "Header fields in which callers say how long they wait, in milliseconds: 1 to 86400000. Cardea never waits longer "
     "for the head of the agent's answer, nor for what comes before it, and gives the agent what is left in the same "
     "field. Other values are dropped."},
    {"overload.lag",
     duration_marks_setting{of<&settings::overload, &overload_settings::lag>, 1ms, 1h},
     "How late every worker runs at levels 1, 2 and 3 of [overload](operations.md#overload)."},
    {"overload.memory",
     percent_marks_setting{of<&settings::overload, &overload_settings::memory>, 1, 100},
     "How many percent of its control group's memory are used at levels 1, 2 and 3 of "
     "[overload](operations.md#overload)."},

    {"dns.refresh",
     duration_setting{of<&settings::dns, &dns_settings::refresh>, 1s, day},
     "How often Cardea looks up the names of agents, in the background, as long as they have connections or were "
     "called "
     "in the last `dns.stale`. Connections to an address that a name has lost are not used for further calls."},
    {"dns.stale",
     duration_setting{of<&settings::dns, &dns_settings::stale>, 0s, day},
     "How long the last addresses of a name stay valid while lookups fail. Then calls that need a connection get 502 "
     "`upstream_unresolved`."},

    {"timeouts.handshake",
     timeout(of<&settings::timeouts, &timeout_settings::handshake>),
     "The whole TLS handshake of a caller."},
    {"timeouts.header", timeout(of<&settings::timeouts, &timeout_settings::header>), "The whole head of a request."},
    {"timeouts.body", timeout(of<&settings::timeouts, &timeout_settings::body>), "The whole body of a request."},
    {"timeouts.body_grace",
     duration_setting{of<&settings::timeouts, &timeout_settings::body_grace>, 0s, day},
     "How far the body of a request may fall behind `limits.body_rate`."},
    {"timeouts.idle",
     timeout(of<&settings::timeouts, &timeout_settings::idle>),
     "How long a connection stays open between two requests."},
    {"timeouts.write",
     timeout(of<&settings::timeouts, &timeout_settings::write>),
     "How long a caller may accept nothing of its answer."},
    {"timeouts.connect",
     timeout(of<&settings::timeouts, &timeout_settings::connect>),
     "Name resolution, TCP and TLS to an agent."},
    {"timeouts.dns",
     timeout(of<&settings::timeouts, &timeout_settings::dns>),
     "How long a call waits for the addresses of a name that Cardea does not know. Then it gets 502."},
    {"timeouts.upstream_head",
     timeout(of<&settings::timeouts, &timeout_settings::upstream_head>),
     "As `timeout` of an agent, for those that do not have it. Agents that think need minutes."},
    {"timeouts.upstream_read",
     timeout(of<&settings::timeouts, &timeout_settings::upstream_read>),
     "As `timeouts.read` of an agent, for those that do not have it."},
    {"timeouts.upstream_idle",
     timeout(of<&settings::timeouts, &timeout_settings::upstream_idle>),
     "The longest pause between two pieces of an agent's answer."},
    {"timeouts.stream_keep_alive",
     duration_setting{of<&settings::timeouts, &timeout_settings::stream_keep_alive>, 0s, day},
     "A caller of an event stream that receives nothing for this long gets a comment, between two events. 0: never."},
    {"timeouts.upstream_keep",
     timeout(of<&settings::timeouts, &timeout_settings::upstream_keep>),
     "How long an unused connection to an agent stays open. If the agent announces less (`Keep-Alive: timeout=N`), it "
     "closes one second before that."},
    {"timeouts.upstream_max_age",
     timeout(of<&settings::timeouts, &timeout_settings::upstream_max_age>),
     "How long a connection to an agent is used for calls, minus up to 20 % at random. A call in flight ends first."},
    {"timeouts.push",
     timeout(of<&settings::timeouts, &timeout_settings::push>),
     "One attempt to deliver a push notification."},
    {"timeouts.push_age",
     duration_setting{of<&settings::timeouts, &timeout_settings::push_age>, 1s, month},
     "How long Cardea tries to deliver a push notification. Then it drops it."},
    {"timeouts.linger",
     timeout(of<&settings::timeouts, &timeout_settings::linger>),
     "If Cardea answers before the whole request has arrived, how long it reads and drops the rest, so that the "
     "caller sees the answer. Half a second without a byte ends this too."},
    {"timeouts.drain_delay",
     duration_setting{of<&settings::timeouts, &timeout_settings::drain_delay>, 0s, day},
     "How long Cardea goes on accepting connections after it is told to stop, while `/readyz` answers 503 and every "
     "answer says `Connection: close`: a load balancer needs that time to look elsewhere. `timeouts.drain` and "
     "`timeouts.drain_streams` include it."},
    {"timeouts.drain_idle",
     duration_setting{of<&settings::timeouts, &timeout_settings::drain_idle>, 0s, day},
     "How long a connection without a request stays open after `timeouts.drain_delay`. A request that comes meanwhile "
     "is "
     "answered, with `Connection: close`. At most `timeouts.drain`."},
    {"timeouts.drain",
     duration_setting{of<&settings::timeouts, &timeout_settings::drain>, 0s, day},
     "How long calls in flight may take after Cardea is told to stop."},
    {"timeouts.drain_streams",
     duration_setting{of<&settings::timeouts, &timeout_settings::drain_streams>, 0s, day},
     "How long open streams may go on after Cardea is told to stop. Streams of MCP clients that are part of no call "
     "end when `timeouts.drain_delay` is over."},
    {"timeouts.task",
     duration_setting{of<&settings::timeouts, &timeout_settings::task>, 1s, month},
     "How long Cardea knows to whom a [task](security.md#tasks-of-other-principals) belongs, after a call named it or "
     "an "
     "answer showed it."},

    {"limits.body",
     size_setting{of<&settings::limits, &limit_settings::body>, kib, gib},
     "The largest body of a request. A larger one gets 413."},
    {"limits.body_memory",
     size_setting{of<&settings::limits, &limit_settings::body_memory>, kib, 1024 * gib},
     "All bodies that the process holds: of requests, and of answers that it edits. Bytes that have arrived count, "
     "not bytes that are announced. Beyond it: 503."},
    {"limits.linger_bytes",
     size_setting{of<&settings::limits, &limit_settings::linger_bytes>, kib, gib},
     "What Cardea reads and drops on a connection during `timeouts.linger`. Beyond it, the connection closes."},
    {"limits.lingering",
     count_setting{of<&settings::limits, &limit_settings::lingering>, 0, 1'000'000},
     "Connections at a time to which `timeouts.linger` applies. Others close at once."},
    {"limits.stream_body",
     size_setting{of<&settings::limits, &limit_settings::stream_body>, kib, 1024 * gib},
     "The largest body of a request to one of an agent's `relay_paths`, which passes through as it arrives. A larger "
     "one gets 413."},
    {"limits.header",
     size_setting{of<&settings::limits, &limit_settings::header>, kib, mib},
     "The largest head of a request. A larger one gets 431."},
    {"limits.header_fields",
     count_setting{of<&settings::limits, &limit_settings::header_fields>, 10, 1000},
     "The fields in the head of a request. More get 431."},
    {"limits.header_value",
     size_setting{of<&settings::limits, &limit_settings::header_value>, 64, mib},
     "The largest value of one field in the head of a request. A larger one gets 431."},
    {"limits.target",
     size_setting{of<&settings::limits, &limit_settings::target>, 64, 64 * kib},
     "The longest target of a request; less than `limits.header`. A longer one gets 414."},
    {"limits.sse_event",
     size_setting{of<&settings::limits, &limit_settings::sse_event>, kib, gib},
     "The largest event of a stream that an agent answers with; a larger one cuts the stream. Also the largest answer "
     "that Cardea translates."},
    {"limits.upstream_header",
     size_setting{of<&settings::limits, &limit_settings::upstream_header>, kib, mib},
     "The largest head of an agent's answer. A larger one gets 502."},
    {"limits.upstream_connections",
     count_setting{of<&settings::limits, &limit_settings::upstream_connections>, 0, 65536},
     "Idle connections that Cardea keeps, per origin and worker."},
    {"limits.upstream_requests",
     count_setting{of<&settings::limits, &limit_settings::upstream_requests>, 1, 1'000'000'000},
     "Calls on one connection to an agent. It closes after the last one."},
    {"limits.rpc_batch",
     count_setting{of<&settings::limits, &limit_settings::rpc_batch>, 1, 1000},
     "Calls in one management batch."},
    {"limits.rpc_body",
     size_setting{of<&settings::limits, &limit_settings::rpc_body>, kib, gib},
     "The largest body of a request to `/rpc` on `listen`. A larger one gets 413. On `admin`, `limits.body` applies."},
    {"limits.rpc_answer",
     size_setting{of<&settings::limits, &limit_settings::rpc_answer>, kib, gib},
     "The results of one management batch. A call whose result does not fit gets the error `too_large`. A page of a "
     "list ends before it is larger."},
    {"limits.rpc_memory",
     size_setting{of<&settings::limits, &limit_settings::rpc_memory>, kib, 64 * gib},
     "All answers of `/rpc`, and all pages of the directory, that are being built or sent. Beyond it: 503. A quarter "
     "is "
     "reserved for `admin`."},
    {"limits.body_rate",
     size_setting{of<&settings::limits, &limit_settings::body_rate>, 0, gib},
     "The least rate of a request's body, in bytes a second. A body that falls behind by `timeouts.body_grace` while "
     "Cardea waits for it gets 408. 0: any rate."},
    {"limits.read_ahead",
     size_setting{of<&settings::limits, &limit_settings::read_ahead>, kib, mib},
     "What a caller may send behind a request that is being answered (pipelined requests). Cardea reads more only "
     "after the answer."},
    {"limits.requests",
     count_setting{of<&settings::limits, &limit_settings::requests>, 1, 1'000'000'000},
     "Requests on one connection. The answer to the last one closes it."},
    {"limits.streams",
     count_setting{of<&settings::limits, &limit_settings::streams>, 1, 1'000'000},
     "Open event streams per worker. Beyond it: 503."},
    {"limits.hops",
     count_setting{of<&settings::limits, &limit_settings::hops>, 1, 100},
     "How often `Via` may name `cardea`: the gateways that a request to an agent has come through. More get 508."},
    {"limits.tasks",
     count_setting{of<&settings::limits, &limit_settings::tasks>, 8, 1'000'000},
     "Tasks of which Cardea knows to whom they [belong](security.md#tasks-of-other-principals). Beyond it, it forgets "
     "older ones."},
    {"limits.failed_credentials",
     count_setting{of<&settings::limits, &limit_settings::failed_credentials>, 1, 1'000'000},
     "Credentials from one address that may fail in a second on one listener. Beyond it: 429 for every "
     "credential of the address that is not known already. An IPv6 address counts with its /64."},
    {"limits.metrics_connections",
     count_setting{of<&settings::limits, &limit_settings::metrics_connections>, 1, 1000},
     "Open connections to `metrics`. Beyond it: 503, and the connection closes."},
    {"limits.push_config",
     size_setting{of<&settings::limits, &limit_settings::push_config>, 64, 4 * kib},
     "The URL, the token and the authentication of one push notification configuration. A larger one gets -32602. "
     "Agents send it back, sealed and a third longer, in a target, for which `limits.target` must have room."},
    {"limits.push_body",
     size_setting{of<&settings::limits, &limit_settings::push_body>, kib, 16 * mib},
     "The largest push notification of an agent that Cardea delivers. A larger one gets 413."},
    {"limits.push_queue",
     count_setting{of<&settings::limits, &limit_settings::push_queue>, 1, 1'000'000},
     "Push notifications that wait to be delivered. Beyond it, an agent's gets 503."},
    {"limits.push_queue_agent",
     count_setting{of<&settings::limits, &limit_settings::push_queue_agent>, 1, 1'000'000},
     "The same for one agent."},
    {"limits.push_queue_bytes",
     size_setting{of<&settings::limits, &limit_settings::push_queue_bytes>, kib, 64 * gib},
     "The same in bytes. One agent has half of them, or one notification. They are in the store, which may be memory."},
    {"limits.push_attempts",
     count_setting{of<&settings::limits, &limit_settings::push_attempts>, 1, 1000},
     "Attempts to deliver a push notification, counted again after a restart. After the last one Cardea drops it."},
    {"limits.connections",
     count_setting{of<&settings::limits, &limit_settings::connections>, 0, 1'000'000},
     "Open connections of callers. Beyond it: 503, and the connection closes. 0: 45 % of the descriptors that the "
     "process may have."},
    {"limits.program_starts",
     count_setting{of<&settings::limits, &limit_settings::program_starts>, 0, 1000},
     "Programs of MCP servers that start at the same time. The others wait until one answers or has had one second. "
     "0: one per core."},
});

// How many insertions, removals, replacements and swaps of neighbours make one of the other.
std::size_t edit_distance(std::string_view a, std::string_view b)
{
    std::vector<std::size_t> before_last(b.size() + 1);
    std::vector<std::size_t> last(b.size() + 1);
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U)});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        std::swap(before_last, last);
        std::swap(last, row);
    }
    return last[b.size()];
}

std::string joined(const std::vector<std::string>& all)
{
    std::string text;
    for (const auto& each : all) {
        text += (text.empty() ? "" : ", ") + each;
    }
    return text;
}

}  // namespace

std::span<const setting> all_settings()
{
    return settings_table;
}

const setting* find_setting(std::string_view path)
{
    const auto* const found =
        std::find_if(settings_table.begin(), settings_table.end(), [&](const setting& s) { return s.path == path; });
    return found == settings_table.end() ? nullptr : &*found;
}

std::string written_as(const setting_type& type)
{
    return std::visit(
        overloaded{
            [](const duration_setting& s) { return "a duration, " + to_text(s.least) + " to " + to_text(s.most); },
            [](const size_setting& s) { return "a size, " + size_text(s.least) + " to " + size_text(s.most); },
            [](const count_setting& s) {
                return "a whole number, " + std::to_string(s.least) + " to " + std::to_string(s.most);
            },
            [](const share_setting& s) { return "a number, " + share_text(s.least) + " to " + share_text(s.most); },
            [](const duration_marks_setting& s) {
                return "a list of three durations, " + to_text(s.least) + " to " + to_text(s.most) +
                       ", none below the one before";
            },
            [](const percent_marks_setting& s) {
                return "a list of three whole numbers, " + std::to_string(s.least) + " to " + std::to_string(s.most) +
                       ", none below the one before";
            },
            [](const field_name_list_setting&) { return std::string{"a list of header names"}; },
            [](const switch_setting&) { return std::string{"true or false"}; },
            [](const address_setting&) { return std::string{"host:port"}; },
            [](const base_url_setting&) { return std::string{"an http or https URL without query and fragment"}; },
            []<class Enum>(const choice_setting<Enum>&) { return listed<Enum>(); },
            [](const file_setting& s) { return std::string{expected_of(s.kind)}; },
            [](const origin_list_setting&) { return std::string{expected_origins}; },
            [](const page_origin_list_setting&) { return std::string{expected_page_origins}; },
            [](const store_setting&) { return std::string{"memory or sqlite:PATH"}; },
            [](const audit_setting&) { return std::string{"off, stdout or file:PATH"}; },
            [](const secret_setting&) { return std::string{"text"}; },
            [](const proxy_setting&) { return std::string{expected_proxy}; },
            [](const direct_host_list_setting&) { return std::string{"a list of names, addresses or blocks (CIDR)"}; },
            [](const secret_file_setting&) { return std::string{"path"}; },
            [](const session_key_list_setting&) { return std::string{"a list of paths"}; },
            [](const host_list_setting&) { return std::string{"a list of host names or addresses"}; },
            [](const host_pattern_setting&) { return std::string{expected_host_pattern}; },
            [](const network_list_setting&) { return std::string{"a list of IP addresses or blocks (CIDR)"}; },
            [](const certificate_list_setting&) {
                return std::string{"a map with `cert`, `key` and perhaps `names`, or a list of these"};
            },
            [](const access_setting&) {
                return std::string{"a map with `providers`, `rules` and `open`, or the word `open`"};
            },
        },
        type
    );
}

std::string value_text(const setting_type& type, settings of)
{
    return std::visit(
        overloaded{
            [&](const duration_setting& s) { return to_text(s.member(of)); },
            [&](const size_setting& s) { return size_text(s.member(of)); },
            [&](const count_setting& s) { return std::to_string(s.member(of)); },
            [&](const share_setting& s) { return share_text(s.member(of)); },
            [&](const duration_marks_setting& s) {
                std::vector<std::string> marks;
                std::ranges::transform(s.member(of), std::back_inserter(marks), [](auto each) {
                    return to_text(each);
                });
                return joined(marks);
            },
            [&](const percent_marks_setting& s) {
                std::vector<std::string> marks;
                std::ranges::transform(s.member(of), std::back_inserter(marks), [](auto each) {
                    return std::to_string(each);
                });
                return joined(marks);
            },
            [&](const switch_setting& s) { return std::string{s.member(of) ? "true" : "false"}; },
            [&](const address_setting& s) { return to_text(s.member(of)); },
            [&](const base_url_setting& s) { return s.member(of); },
            [&](const host_pattern_setting& s) { return s.member(of); },
            [&]<class Enum>(const choice_setting<Enum>& s) { return std::string{core::name(s.member(of))}; },
            [&](const file_setting& s) { return s.member(of); },
            [&](const audit_setting& s) { return s.member(of); },
            [&](const session_key_list_setting& s) { return std::string{s.member(of).empty() ? "" : core::masked}; },
            [&](const secret_setting& s) { return std::string{s.member(of).empty() ? "" : core::masked}; },
            [&](const secret_file_setting& s) { return std::string{s.member(of).empty() ? "" : core::masked}; },
            [&](const proxy_setting& s) { return core::shown_proxy(s.member(of).reveal()); },
            [&](const store_setting& s) {
                return s.member(of).empty() ? "sqlite:~/.local/state/cardea/store.db" : s.member(of);
            },
            [&](const std::derived_from<member_setting<std::vector<std::string>>> auto& s) {
                return joined(s.member(of));
            },
            [&](const certificate_list_setting& s) {
                std::vector<std::string> certificates;
                for (const auto& each : s.member(of)) {
                    certificates.push_back(each.cert);
                }
                return joined(certificates);
            },
            [&](const access_setting& s) {
                std::vector<std::string> providers;
                for (const auto& each : s.member(of).providers) {
                    providers.push_back(each.name);
                }
                return s.member(of).open ? "open" : joined(providers);
            },
        },
        type
    );
}

std::string_view nearest_key(std::string_view key, const std::vector<std::string_view>& known)
{
    std::string_view nearest;
    if (key.size() > longest_mistyped) {
        return nearest;
    }
    const auto written = core::in_lower_case(key);
    const auto* const other =
        std::find_if(lookalikes.begin(), lookalikes.end(), [&](const auto& each) { return each.first == written; });
    std::size_t least = std::max<std::size_t>(key.size() / 4, 1);
    for (const auto candidate : known) {
        const auto distance = edit_distance(written, core::in_lower_case(candidate));
        if (other != lookalikes.end() ? candidate == other->second
                                      : distance < least || (distance == least && nearest.empty())) {
            nearest = candidate;
            least = distance;
        }
    }
    return nearest;
}

std::string unknown_key(std::string_view key, const std::vector<std::string_view>& known)
{
    // A credential is for one place: whoever gives one elsewhere means another.
    const auto is_secret = [](const setting_type& type) {
        return std::visit(
            []<class Type>(const Type&) { return std::derived_from<Type, member_setting<core::secret>>; },
            type
        );
    };
    const auto nearest = nearest_key(key, known);
    const auto all = all_settings();
    if (std::any_of(all.begin(), all.end(), [&](const setting& s) {
            return s.path == key && key.find('.') != key.npos;
        })) {
        return "is not a known key; expected a map `" + std::string{key.substr(0, key.find('.'))} + "` with the key `" +
               std::string{key.substr(key.find('.') + 1)} + '`';
    }
    const auto ending = '.' + std::string{key.substr(0, longest_mistyped)};
    for (const auto& s : all) {
        if (s.path.ends_with(ending) && !is_secret(s.type)) {
            return "is not a known key here; did you mean `" + std::string{s.path} + "`?";
        }
    }
    if (!nearest.empty()) {
        return "is not a known key; did you mean `" + std::string{nearest} + "`?";
    }
    std::string text = "is not a known key; known here:";
    for (const auto candidate : known) {
        text += (text.ends_with(':') ? " " : ", ") + std::string{candidate};
    }
    return text;
}

}  // namespace config
