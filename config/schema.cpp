// over 60 lines: one table of all keys. over 600 lines: the same.
#include "config/schema.hpp"

#include "config/access.hpp"
#include "config/access_providers.hpp"
#include "config/access_table.hpp"
#include "config/agent_hosts.hpp"
#include "config/agent_table.hpp"
#include "config/mcp_bundles.hpp"
#include "config/mcp_server.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"
#include "core/proxy.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <type_traits>
#include <utility>

namespace config {
namespace {

using core::json;

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

value_kind<core::duration> timeout()
{
    return duration_in(1ms, day);
}

value_kind<std::uint64_t> rate()
{
    return count_in(0, 1'000'000);
}

value_kind<endpoint> address()
{
    return {
        {"host:port", [] { return schema::or_variable(schema::text_like("^.+:[0-9]+$")); }},
        [](const field& f, const reading& with) {
            constexpr std::string_view expected = "host:port such as 127.0.0.1:4000 or \"[::1]:4000\"";
            return read_parsed(f, expected, parse_endpoint, with.problems);
        },
        [](const endpoint& at) { return at.host.empty() ? json{} : json(to_text(at)); }
    };
}

value_kind<std::string> public_address()
{
    const auto parse = [](std::string_view text) {
        const auto at = parse_endpoint(text);
        if (at && at->port == 0) {
            return core::result<std::string>{invalid("has no valid port (1 to 65535)")};
        }
        return at ? core::result<std::string>{std::string{text}} : at.error();
    };
    return parsed_text(
        {"host:port such as grpc.example.com:443", [] { return schema::or_variable(schema::text_like("^.+:[0-9]+$")); }
        },
        parse
    );
}

value_kind<std::string> agent_id()
{
    const auto parse = [](std::string_view text) {
        return core::valid_agent_id(text) ? core::result<std::string>{std::string{text}}
                                          : core::result<std::string>{invalid("is not an agent's id")};
    };
    return parsed_text({"the id of an agent", [] { return schema::any_text(); }}, parse);
}

value_kind<std::string> store()
{
    static constexpr std::string_view form = "^(memory$|sqlite:.|postgres(ql)?://)";
    auto kind = parsed_text(
        {std::string{expected_store}, [] { return schema::or_variable(schema::text_like(form)); }},
        parse_store,
        false
    );
    kind.print = [](const std::string& store) {
        return store.empty() ? "sqlite:~/.local/state/cardea/store.db" : store;
    };
    return kind;
}

// Other replicas send requests there as callers have sent them.
value_kind<std::string> origin()
{
    const auto parse = [](std::string_view text) {
        auto url = parse_base_url(text);
        if (url && path_begin(*url) < url->size()) {
            return core::result<std::string>{invalid("has a path")};
        }
        return url;
    };
    return parsed_text({"an http or https URL without a path", schema::url}, parse, false);
}

value_kind<std::string> audit()
{
    return parsed_text(
        {"off, stdout or file:PATH", [] { return schema::or_variable(schema::text_like("^(off$|stdout$|file:.)")); }},
        parse_audit
    );
}

value_kind<std::string> host_pattern()
{
    static constexpr std::string_view form = "^[^.]*\\{[iI][dD]\\}[^.]*\\..";
    return parsed_text(
        {std::string{expected_host_pattern}, [] { return schema::or_variable(schema::text_like(form)); }},
        parse_host_pattern
    );
}

value_kind<std::vector<std::string>> page_origins()
{
    return list_of({expected_page_origins, "an origin", expected_page_origin}, parse_page_origin);
}

value_kind<std::vector<std::string>> hosts()
{
    return list_of(
        {"a list of host names or addresses", "a host name", "a name or address without a port, or *"},
        [](const auto& text) { return text == "*" ? text : parse_host(text); }
    );
}

value_kind<std::vector<std::string>> direct_hosts()
{
    return list_of(
        {"a list of names, addresses or blocks (CIDR)",
         "a host",
         "a name such as example.com, an address, a block such as 10.0.0.0/8, or *"},
        [](const auto& text) { return core::valid_direct_host(text) ? std::optional{text} : std::nullopt; }
    );
}

value_kind<core::secret> bearer()
{
    auto kind = secret_text();
    kind.parse = [](field f, const reading& with) {
        f.secret = true;
        const auto* text = read_text(f, expected_token, with.problems);
        return text == nullptr ? std::nullopt : std::optional{checked_token(f, *text, with.problems)};
    };
    return kind;
}

// Files are shown nowhere: the dump has the key that they stand for.
value_kind<core::secret> secret_file(std::optional<core::secret> (*read)(const field&, const reading&))
{
    return {{"path", schema::any_text, masked_part::whole}, read, [](const core::secret&) { return json{}; }};
}

value_kind<core::secret> bearer_file()
{
    return secret_file([](const field& f, const reading& with) {
        const auto text = read_named_file(f, expected_token_file, with.secrets, with.problems);
        return text ? std::optional{checked_token(f, *text, with.problems)} : std::nullopt;
    });
}

value_kind<core::secret> proxy_file()
{
    return secret_file([](const field& f, const reading& with) {
        return read_proxy_file(f, with.secrets, with.problems);
    });
}

value_kind<std::vector<core::secret>> session_keys()
{
    return {
        {"a list of paths", [] { return schema::list_of(schema::any_text()); }},
        [](const field& f, const reading& with) {
            return std::optional{read_session_keys(f, with.secrets, with.problems)};
        },
        [](const std::vector<core::secret>& keys) { return json(std::vector(keys.size(), core::masked)); }
    };
}

value_kind<std::vector<core::mcp_bundle>> bundles()
{
    return {
        {"a map from names to bundles", bundles_schema},
        [](const field& f, const reading& with) { return std::optional{read_bundles(f, with)}; },
        shown_bundles
    };
}

json certificates_schema()
{
    using namespace schema;
    auto one = closed_map({{"cert", any_text()}, {"key", any_text()}, {"names", schema::list_of(any_text())}});
    one["required"] = {"cert", "key"};
    const json several{{"type", "array"}, {"items", one}, {"minItems", 1}};
    return {{"anyOf", {one, several}}};
}

json shown_certificates(const std::vector<certificate_files>& all)
{
    auto shown = json::array();
    for (const auto& each : all) {
        json one{{"cert", each.cert}, {"key", each.key}};
        if (!each.names.empty()) {
            one["names"] = each.names;
        }
        shown.push_back(std::move(one));
    }
    return shown;
}

value_kind<std::vector<certificate_files>> certificates()
{
    return {
        {"a map with `cert`, `key` and perhaps `names`, or a list of these", certificates_schema},
        [](const field& f, const reading& with) {
            return std::optional{read_certificates(f, with.tls, with.problems)};
        },
        shown_certificates
    };
}

value_kind<core::access_settings> access()
{
    return {
        {"a map with `providers`, `rules` and `open`, or the word `open`", access_schema},
        [](const field& f, const reading& with) { return std::optional{read_access(f, with)}; },
        shown_access
    };
}

// The default of an agent's key, for agents that do not have it.
template <auto... Chain>
setting as_of_agents(std::string_view name)
{
    using value = std::remove_pointer_t<decltype(member_path<Chain...>::in(std::declval<settings&>()))>;
    const auto& of_agent = dynamic_cast<const has_kind<value>&>(*find_agent_setting(name)->type.key);
    const std::string key{name};
    return {
        "defaults." + key,
        sets<Chain...>(of_agent.kind),
        "As `" + key + "` of an agent, for those that do not have it."
    };
}

std::vector<setting> make_table()
{
    return {
        // clang-format off
        {"listen", sets<&settings::listen>(address()), "The address for callers. Port 0 lets the system choose."},
        {"admin", sets<&settings::admin>(address()),
         "The address for metrics, health and management; keep it private."},
        {"admin_programs", sets<&settings::admin_programs>(on_or_off()),
         "Whether the management API may add MCP servers over stdio. If true, everyone who reaches `admin` can run "
         "any program as the gateway's user. It requires an `admin` on a loopback address."},
        {"console", sets<&settings::console>(on_or_off()),
         "Whether `admin` has the console: the page at `/console/`, and `/try`, which sends calls to agents for it and "
         "for `cardea call`. If false, both are 404."},
        {"http2", sets<&settings::http2>(on_or_off()),
         "Whether `listen`, `admin` and `metrics` speak HTTP/2 beside HTTP/1.1, which [gRPC](grpc.md) needs. A caller "
         "chooses it by ALPN, or without TLS by the connection's first bytes."},
        {"grpc.public", sets<&settings::grpc, &grpc_settings::public_address>(public_address()),
         "The `host:port` at which cards offer [gRPC](grpc.md) of agents without a name of their own. Default: those "
         "of `public_url`."},
        {"grpc.default_agent", sets<&settings::grpc, &grpc_settings::default_agent>(agent_id()),
         "The id of the agent that a call by [gRPC](grpc.md) reaches if it names none. Default: none, so that such a "
         "call is refused."},
        {"tls", sets<&settings::tls>(certificates()),
         "Serves callers over TLS only. `cert` (PEM) has the certificate and its chain, `key` (PEM) its key. Of "
         "several, the first is the default; `names` or the DNS names in the certificate select the others. Cardea "
         "reads changed files again."},
        {"admin_tls", sets<&settings::admin_tls>(certificates()), "The same for `admin`."},
        {"metrics", sets<&settings::metrics>(address()),
         "One more address, for scraping alone: `/metrics`, `/healthz` and `/readyz` for everyone who reaches it, "
         "under any `Host`, and nothing else. Default: none."},
        {"metrics_agents", sets<&settings::metrics_agents>(count_in(0, 100'000)),
         "How many agents have series of their own in `/metrics`: the first by id. "
         "`cardea_metrics_agents_omitted` counts the others."},
        {"metrics_tls", sets<&settings::metrics_tls>(certificates()), "The same as `tls`, for `metrics`."},
        {"access", sets<&settings::access>(access()),
         "[Who may call](#access). Without providers no caller needs a credential, and `listen` has to be a "
         "loopback address, unless this is `open`. With providers an agent is open to nobody until a policy says "
         "otherwise."},
        {"admin_access", sets<&settings::admin_access>(choice_of<core::admin_access>()),
         "Who may use `admin`. `loopback`: whoever reaches it, which must be a loopback address. `open`: whoever "
         "reaches it, wherever it is. `scopes`: callers with a credential of `access.providers`, other than a "
         "certificate, and the [scopes](security.md#management) of what they ask for; `/healthz` and `/readyz` "
         "stay open."},
        {"register.token", sets<&settings::registration, &core::registration_settings::token>(bearer()),
         "The bearer token with which [agents register themselves](security.md#self-registration), at `listen` "
         "too. Default: none; principals with the scope `cardea:register` may."},
        {"register.token_file", sets<&settings::registration, &core::registration_settings::token>(bearer_file()),
         "A file with the token, instead of `register.token`.", "register.token"},
        {"register.allow", sets<&settings::registration, &core::registration_settings::allow>(networks()),
         "Addresses, besides public ones, at which agents that registered themselves may be. Default: none, so "
         "that nobody can have Cardea connect to a private, link-local or loopback address. Those at which Cardea "
         "listens are never among them."},
        {"public_url", sets<&settings::public_url>(base_url()),
         "The address that callers use; agent cards contain it. Default: `http://`, or `https://` with `tls`, and "
         "the address of `listen`."},
        {"trusted_proxies", sets<&settings::trusted_proxies>(networks()),
         "Proxies in front of the gateway. Cardea believes their `X-Forwarded-*` and `Forwarded` and passes them "
         "on. It drops those of everyone else."},
        {"proxy", sets<&settings::proxy>(proxy()),
         "The HTTP [proxy](operations/agents.md#proxies) through which Cardea connects to agents and every other "
         "server, such as `http://name:password@proxy.example.com:3128`. `environment`: those of `HTTPS_PROXY` and "
         "`HTTP_PROXY`, but for the hosts of `NO_PROXY`. `none`: no proxy. Cardea always connects to its own "
         "machine directly."},
        {"proxy_file", sets<&settings::proxy>(proxy_file()), "A file with the URL of the proxy, instead of `proxy`.",
         "proxy"},
        {"no_proxy", sets<&settings::no_proxy>(direct_hosts()),
         "Hosts to which Cardea connects without `proxy`: names, which stand for the names below them too, "
         "addresses, blocks of addresses, each name or address perhaps with a port, or `*`. Default: none."},
        {"hosts", sets<&settings::hosts>(hosts()),
         "The names that callers may use in `Host`, without a port; `*` is any name. Others get 421, and over "
         "HTTP/2 with TLS those that neither the certificate nor SNI names, unless a trusted proxy sends them. Default: any "
         "name; on a loopback address only the loopback names, the address of `listen` and the host of "
         "`public_url`, against DNS rebinding."},
        {"agent_hosts", sets<&settings::agent_hosts>(host_pattern()),
         "A host name for each agent, besides its path, with `{id}` in its first label: [names of "
         "agents](#names-of-agents). Default: none."},
        {"workers", sets<&settings::workers>(count_in(0, 256)), "Threads that carry traffic. 0: one per core that the process may use."},
        {"push", sets<&settings::push>(choice_of<core::push_mode>()),
         "Who delivers the [push notifications](push.md) of A2A agents. `passthrough`: the agent, to the URL that "
         "the caller names. `mediate`: Cardea; the agent gets an address of Cardea instead and has to reach "
         "`public_url`."},
        {"push_allow", sets<&settings::push_allow>(networks()),
         "Addresses, besides public ones, to which Cardea delivers push notifications, and which callers may name "
         "to MCP servers for [events](mcp.md#events). Default: none, so that no caller can have Cardea connect to "
         "a private, link-local or loopback address. Those at which Cardea listens are never among them."},
        {"push_sign", sets<&settings::push_sign>(on_or_off()),
         "Whether Cardea signs the push notifications that it delivers, with `cards.signing_key`: "
         "[`Cardea-Signature`](push.md)."},
        {"log.level", sets<&settings::log_level>(choice_of<core::log_level>()),
         "The least severe level that is written."},
        {"log.format", sets<&settings::log_format>(choice_of<core::log_format>()),
         "How log lines look. `json`: one object a line. `text`: a sentence for people. `auto`: `text` on a "
         "terminal, `json` elsewhere. Below systemd each line has its level in front, which journald takes off."},
        {"store", sets<&settings::store>(store()),
         "Where Cardea keeps agents of the management API, the last good card of each A2A agent, and push "
         "notifications until they are delivered: a SQLite file, memory, or a PostgreSQL database that [several "
         "replicas](operations/replicas.md) share. Default: `store.db` in systemd's `STATE_DIRECTORY`, else in "
         "`cardea` below `XDG_STATE_HOME` or `~/.local/state`, or memory if that is unusable. A file that is named "
         "here must be usable."},
        {"store_options.password_file", sets<&settings::store_options, &store_settings::password_file>(line("path", "a path")),
         "A file with the password of the database, which Cardea reads at each connection. Default: `PGPASSWORD`, or "
         "the file of `PGPASSFILE`."},
        {"store_options.timeout", sets<&settings::store_options, &store_settings::timeout>(duration_in(100ms, 1min)),
         "How long one operation on the database may take, with finding out whether a write was carried out."},
        {"store_options.poll", sets<&settings::store_options, &store_settings::poll>(duration_in(100ms, 1min)),
         "How often Cardea asks the database what other replicas have written."},
        {"store_options.notify", sets<&settings::store_options, &store_settings::notify>(on_or_off()),
         "Whether the database tells Cardea (`NOTIFY`) when other replicas have written, so that Cardea asks at once. "
         "PgBouncer in transaction mode passes no such message on."},
        {"replica.name", sets<&settings::replica, &replica_settings::name>(line("text", "a name")),
         "The name of this process among those that share a PostgreSQL database, in logs, the audit and lists. "
         "Default: the host name."},
        {"replica.url", sets<&settings::replica, &replica_settings::url>(origin()),
         "Where other replicas reach `listen` of this one, such as `http://10.0.0.7:4000`: they pass on requests of "
         "[sessions that live here](operations/replicas.md#sessions). Default: none, so that these requests get 404."},
        {"rate_limits.principal.rate",
         sets<&settings::rate_limits, &core::rate_limits::principal, &core::rate_limit::rate>(rate()),
         "Requests a second of one principal, to all agents together. More get 429. 0: any number. Requests on "
         "`admin` have no limits."},
        {"rate_limits.principal.burst",
         sets<&settings::rate_limits, &core::rate_limits::principal, &core::rate_limit::burst>(rate()),
         "How many of them may come at once after a pause. 0: as many as `rate`. It needs a `rate`."},
        {"rate_limits.agent.rate",
         sets<&settings::rate_limits, &core::rate_limits::agent, &core::rate_limit::rate>(rate()),
         "Requests a second to one agent, of all callers that may know of it together. More get 429. 0: any "
         "number."},
        {"rate_limits.agent.burst",
         sets<&settings::rate_limits, &core::rate_limits::agent, &core::rate_limit::burst>(rate()),
         "As `rate_limits.principal.burst`."},
        {"rate_limits.address.rate",
         sets<&settings::rate_limits, &core::rate_limits::address, &core::rate_limit::rate>(rate()),
         "Requests a second from one address, before anything else is looked at. More get 429. 0: any number. An "
         "IPv6 address counts with its /64; behind `trusted_proxies` it is the caller's."},
        {"rate_limits.address.burst",
         sets<&settings::rate_limits, &core::rate_limits::address, &core::rate_limit::burst>(rate()),
         "As `rate_limits.principal.burst`."},
        {"rate_limits.divide", sets<&settings::rate_limits, &core::rate_limits::divide>(on_or_off()),
         "Whether each of the [replicas](operations/replicas.md) that share a database admits only its part: `rate` and "
         "`burst` divided by the number of live replicas, rounded up. It is for load balancers that spread requests "
         "evenly."},
        {"audit", sets<&settings::audit>(audit()),
         "Where Cardea writes what happened to agents, cards, keys and denied callers, one JSON object a line, "
         "whatever `log.level` is. A file is opened again on SIGHUP."},
        {"trace.endpoint", sets<&settings::trace, &trace_settings::endpoint>(base_url()),
         "The address of an OpenTelemetry collector, such as `http://127.0.0.1:4318`. Cardea then joins "
         "[traces](operations/watch.md#traces), and sends its spans to `/v1/traces` there. Default: none; "
         "`traceparent` and `tracestate` pass unchanged."},
        {"trace.sample", sets<&settings::trace, &trace_settings::sample>(share_in(0, 1)),
         "How many of the traces that begin at Cardea are recorded. A trace that the caller has begun is recorded "
         "if the caller says so."},
        {"debug.core", sets<&settings::debug, &debug_settings::core>(on_or_off()),
         "Whether a crash may leave a core dump, and a debugger of the same user may attach. Both show every "
         "secret."},
        {"reload.watch", sets<&settings::reload, &reload_settings::watch>(on_or_off()),
         "Whether Cardea reads the configuration again when its file, or a file that it names (`bearer_file`), "
         "changes. If false: only on SIGHUP and `POST /reload`."},
        {"handover.timeout", sets<&settings::handover, &handover_settings::timeout>(timeout()),
         "How long a new process may say nothing during a [hand-over](operations/start.md#hand-over). Then Cardea "
         "kills it and goes on itself."},
        {"errors.a2x", sets<&settings::errors, &error_settings::a2x>(on_or_off()),
         "Whether JSON-RPC callers of A2A 0.3 who need a credential and send none get the error -32008 of A2X with "
         "the status 401. Other callers get only the status."},
        {"errors.profile", sets<&settings::errors, &error_settings::profile>(choice_of<core::error_edition>()),
         "Which edition of A2A 1.0 decides the HTTP status of Cardea's own and of translated errors for callers of "
         "HTTP+JSON. 1.0.1 changed some of them: [errors](protocol-profile.md#errors)."},
        {"cors.origins", sets<&settings::cors, &cors_settings::origins>(page_origins()),
         "Origins of web pages that may call `listen` and read its answers, besides the gateway's own. The port "
         "may be `*`, as in `http://localhost:*`. Default: none; on a loopback address the pages of this machine."},
        {"cors.credentials", sets<&settings::cors, &cors_settings::credentials>(on_or_off()),
         "Whether these pages may have the browser send cookies and client certificates."},
        {"cors.public", sets<&settings::cors, &cors_settings::documents>(choice_of<core::public_documents>()),
         "Which pages may read documents that everybody may read: cards of agents that anyone may discover, "
         "catalogs, metadata and keys. `auto`: `anyone` if callers need a credential, else `listed`, so that a "
         "page of a stranger cannot read them through the browser of somebody who reaches the gateway."},
        {"mcp.walk", sets<&settings::mcp, &mcp_settings::walk>(duration_in(0s, day)),
         "How often Cardea reads the lists of MCP servers with sessions again without a report of a change. 0: "
         "never. Servers without sessions (since 2026-07-28) say how long their lists are valid."},
        {"mcp.session_keys", sets<&settings::mcp, &mcp_settings::session_keys>(session_keys()),
         "Files with the keys of session ids, and of the addresses that agents notify: 32 bytes each, as hex or "
         "base64. The first one seals, all of them open. Gateways with the same keys serve each other's sessions. "
         "Without keys Cardea makes one and keeps it in its store."},
        {"mcp.origins", sets<&settings::mcp, &mcp_settings::origins>(page_origins()),
         "The previous name of `cors.origins`; both count."},
        {"mcp.replay_events", sets<&settings::mcp, &mcp_settings::replay_events>(count_in(1, 65536)),
         "How many events of a stream Cardea keeps for a client that [comes "
         "back](mcp.md#a-client-that-loses-its-connection). The oldest go first."},
        {"mcp.replay_stream", sets<&settings::mcp, &mcp_settings::replay_stream>(size_in(kib, gib)),
         "The same in bytes, with 128 bytes for each event."},
        {"mcp.replay_memory", sets<&settings::mcp, &mcp_settings::replay_memory>(size_in(0, 64 * gib)),
         "The same for all streams together. 0: no stream can be resumed."},
        {"mcp.replay_time", sets<&settings::mcp, &mcp_settings::replay_time>(duration_in(1s, day)),
         "How long Cardea keeps an event."},
        {"mcp.bundles", sets<&settings::mcp, &mcp_settings::bundles>(bundles()),
         "Several agents as one MCP server: [bundles](#bundles). That of the name `default` is at `/mcp`, any other at "
         "`/mcp/<name>`."},
        {"cards.ttl", sets<&settings::cards, &card_settings::ttl>(duration_in(1s, month)),
         "How long a card is fresh if the agent does not say."},
        {"cards.min_ttl", sets<&settings::cards, &card_settings::min_ttl>(duration_in(0s, month)),
         "The shortest freshness that an agent can ask for."},
        {"cards.max_ttl", sets<&settings::cards, &card_settings::max_ttl>(duration_in(1s, month)),
         "The longest freshness that an agent can ask for."},
        {"cards.stale_if_error", sets<&settings::cards, &card_settings::stale_if_error>(duration_in(0s, month)),
         "How much longer a card is served while the agent fails."},
        {"cards.negative_ttl", sets<&settings::cards, &card_settings::negative_ttl>(duration_in(0s, 1h)),
         "How long Cardea remembers a failed fetch of a card."},
        {"cards.shape", sets<&settings::cards, &card_settings::shape>(choice_of<core::card_shape>()),
         "The generation of the cards that callers get, whatever the agents write. `v1`: strictly A2A 1.0. `v0.3`: "
         "A2A 0.3. `hybrid`: both in one. `auto`: the one that the caller's `A2A-Version` names; without it "
         "`hybrid`, and for MCP servers and with `bridge: false` the agent's own."},
        {"cards.signatures", sets<&settings::cards, &card_settings::signatures>(choice_of<core::signature_policy>()),
         "What happens to the signatures of cards (A2A 1.0 section 8.4). The agents' own are always removed. "
         "`verify` refuses a fetched card that no trusted key has signed. `sign` signs cards of shape 1.0; the "
         "keys are at `/.well-known/jwks.json`."},
        {"cards.signing_key", sets<&settings::cards, &card_settings::signing_key>(file(file_kind::signing_key)),
         "The key for `sign`. The kind of the key selects the algorithm: ES256 for a key on P-256, and so on."},
        {"cards.retired_keys", sets<&settings::cards, &card_settings::retired_keys>(file(file_kind::key_set)),
         "Previous keys. They stay at `/.well-known/jwks.json` while cards that they signed are in use."},
        {"cards.trusted_keys", sets<&settings::cards, &card_settings::trusted_keys>(file(file_kind::key_set)),
         "The keys that `verify` trusts. Cardea reads the file again for each card, so a removed key is not "
         "trusted any more."},
        {"cards.key_set_origins", sets<&settings::cards, &card_settings::key_set_origins>(https_origins()),
         "Origins from which Cardea may fetch the key set that a signature names (`jku`). It then trusts the keys "
         "of this set."},
        {"cards.timeout", sets<&settings::cards, &card_settings::timeout>(duration_in(1ms, 5min)),
         "One whole fetch of a card, with all addresses that are tried."},
        {"cards.max_size", sets<&settings::cards, &card_settings::max_size>(size_in(kib, 16 * mib)),
         "The largest card that Cardea fetches, or makes from the lists of an MCP server."},
        {"cards.background", sets<&settings::cards, &card_settings::background>(count_in(0, 1000)),
         "Cardea fetches cards before a request needs them, and again before they are stale, while fewer fetches "
         "than this are running. 0: only on request."},
        as_of_agents<&settings::defaults,
        &agent_defaults::breaker,
        &core::breaker_settings::failures>( "breaker.failures" ),
        as_of_agents<&settings::defaults,
        &agent_defaults::breaker,
        &core::breaker_settings::ratio>("breaker.ratio"),
        as_of_agents<&settings::defaults,
        &agent_defaults::breaker,
        &core::breaker_settings::volume>("breaker.volume"),
        as_of_agents<&settings::defaults,
        &agent_defaults::breaker,
        &core::breaker_settings::window>("breaker.window"),
        as_of_agents<&settings::defaults,
        &agent_defaults::breaker,
        &core::breaker_settings::cooldown>( "breaker.cooldown" ),
        as_of_agents<&settings::defaults,
        &agent_defaults::breaker,
        &core::breaker_settings::max_cooldown>( "breaker.max_cooldown" ),
        as_of_agents<&settings::defaults,
        &agent_defaults::breaker,
        &core::breaker_settings::probe>("breaker.probe"),
        as_of_agents<&settings::defaults,
        &agent_defaults::endpoints,
        &core::endpoint_defaults::balance>("balance"),
        as_of_agents<&settings::defaults,
        &agent_defaults::endpoints,
        &core::endpoint_defaults::failback>("failback"),
        as_of_agents< &settings::defaults,
        &agent_defaults::endpoints,
        &core::endpoint_defaults::health,
        &core::health_settings::check>("health.check"),
        as_of_agents< &settings::defaults,
        &agent_defaults::endpoints,
        &core::endpoint_defaults::health,
        &core::health_settings::interval>("health.interval"),
        as_of_agents< &settings::defaults,
        &agent_defaults::endpoints,
        &core::endpoint_defaults::health,
        &core::health_settings::timeout>("health.timeout"),
        as_of_agents< &settings::defaults,
        &agent_defaults::endpoints,
        &core::endpoint_defaults::health,
        &core::health_settings::fail>("health.fail"),
        as_of_agents< &settings::defaults,
        &agent_defaults::endpoints,
        &core::endpoint_defaults::health,
        &core::health_settings::pass>("health.pass"),
        as_of_agents< &settings::defaults,
        &agent_defaults::endpoints,
        &core::endpoint_defaults::retry,
        &core::retry_settings::attempts>("retry.attempts"),
        as_of_agents< &settings::defaults,
        &agent_defaults::endpoints,
        &core::endpoint_defaults::retry,
        &core::retry_settings::budget>("retry.budget"),
        as_of_agents<&settings::defaults,
        &agent_defaults::calls,
        &core::call_limits::in_flight>("limits.in_flight"),
        as_of_agents<&settings::defaults,
        &agent_defaults::calls,
        &core::call_limits::queue>("limits.queue"),
        as_of_agents<&settings::defaults,
        &agent_defaults::calls,
        &core::call_limits::streams>("limits.streams"),
        as_of_agents<&settings::defaults,
        &agent_defaults::calls,
        &core::call_limits::wait>("timeouts.queue"),
        {"defaults.pin", sets<&settings::defaults, &agent_defaults::pin>(choice_of<core::pin_mode>()),
         "The mode of `pin` of an agent, for those that do not have it."},
        {"pins.file", sets<&settings::pins, &pin_file_settings::file>(line("path", "a path")),
         "A [lock file](operations/pins.md#the-lock-file) with the approved cards and tools. With it nothing else approves "
         "anything. Cardea reads it again when it changes. Default: none."},
        {"chains.in_flight", sets<&settings::chains, &chain_settings::in_flight>(count_in(0, 1'000'000)),
         "How many calls of one [chain](operations/chains.md), which is a trace that the caller began or a "
         "`contextId`, may be in flight. More get 508. 0: any number."},
        {"chains.calls", sets<&settings::chains, &chain_settings::calls>(count_in(0, 1'000'000'000)),
         "How many calls of one chain may begin within `chains.window`. More get 508. 0: any number."},
        {"chains.window", sets<&settings::chains, &chain_settings::window>(duration_in(1s, day)),
         "The time in which `chains.calls` counts."},
        {"deadlines.fields", sets<&settings::deadlines, &deadline_settings::fields>(header_names()),
         "Header fields in which callers say how long they wait, in milliseconds: 1 to 86400000. Cardea never "
         "waits longer for the head of the agent's answer, nor for what comes before it, and gives the agent what "
         "is left in the same field. Other values are dropped."},
        {"overload.lag", sets<&settings::overload, &overload_settings::lag>(duration_marks(1ms, 1h)),
         "How late every worker runs at levels 1, 2 and 3 of [overload](operations/failures.md#overload)."},
        {"overload.memory", sets<&settings::overload, &overload_settings::memory>(percent_marks()),
         "How many percent of its control group's memory are used at levels 1, 2 and 3 of "
         "[overload](operations/failures.md#overload)."},
        {"dns.refresh", sets<&settings::dns, &dns_settings::refresh>(duration_in(1s, day)),
         "How often Cardea looks up the names of agents, in the background, as long as they have connections or "
         "were called in the last `dns.stale`. Connections to an address that a name has lost are not used for "
         "further calls."},
        {"dns.stale", sets<&settings::dns, &dns_settings::stale>(duration_in(0s, day)),
         "How long the last addresses of a name stay valid while lookups fail. Then calls that need a connection "
         "get 502 `upstream_unresolved`."},
        {"timeouts.handshake", sets<&settings::timeouts, &timeout_settings::handshake>(timeout()),
         "The whole TLS handshake of a caller."},
        {"timeouts.header", sets<&settings::timeouts, &timeout_settings::header>(timeout()),
         "The whole head of a request."},
        {"timeouts.body", sets<&settings::timeouts, &timeout_settings::body>(timeout()),
         "The whole body of a request."},
        {"timeouts.body_grace", sets<&settings::timeouts, &timeout_settings::body_grace>(duration_in(0s, day)),
         "How far the body of a request may fall behind `limits.body_rate`."},
        {"timeouts.idle", sets<&settings::timeouts, &timeout_settings::idle>(timeout()),
         "How long a connection stays open between two requests."},
        {"timeouts.write", sets<&settings::timeouts, &timeout_settings::write>(timeout()),
         "How long a caller may accept nothing of its answer."},
        {"timeouts.connect", sets<&settings::timeouts, &timeout_settings::connect>(timeout()),
         "Name resolution, TCP and TLS to an agent."},
        {"timeouts.dns", sets<&settings::timeouts, &timeout_settings::dns>(timeout()),
         "How long a call waits for the addresses of a name that Cardea does not know. Then it gets 502."},
        {"timeouts.upstream_head", sets<&settings::timeouts, &timeout_settings::upstream_head>(timeout()),
         "As `timeout` of an agent, for those that do not have it. Agents that think need minutes."},
        {"timeouts.upstream_read", sets<&settings::timeouts, &timeout_settings::upstream_read>(timeout()),
         "As `timeouts.read` of an agent, for those that do not have it."},
        {"timeouts.upstream_idle", sets<&settings::timeouts, &timeout_settings::upstream_idle>(timeout()),
         "The longest pause between two pieces of an agent's answer."},
        {"timeouts.stream_keep_alive",
         sets<&settings::timeouts, &timeout_settings::stream_keep_alive>(duration_in(0s, day)),
         "A caller of an event stream that receives nothing for this long gets a comment, between two events. 0: "
         "never."},
        {"timeouts.upstream_keep", sets<&settings::timeouts, &timeout_settings::upstream_keep>(timeout()),
         "How long an unused connection to an agent stays open. If the agent announces less (`Keep-Alive: "
         "timeout=N`), it closes one second before that."},
        {"timeouts.upstream_max_age", sets<&settings::timeouts, &timeout_settings::upstream_max_age>(timeout()),
         "How long a connection to an agent is used for calls, minus up to 20 % at random. A call in flight ends "
         "first."},
        {"timeouts.http2_age", sets<&settings::timeouts, &timeout_settings::http2_age>(duration_in(0s, day)),
         "How long a caller's connection over HTTP/2 is used, minus up to 20 % at random. Then Cardea sends GOAWAY, and "
         "open streams end first. 0: any age."},
        {"timeouts.push", sets<&settings::timeouts, &timeout_settings::push>(timeout()),
         "One attempt to deliver a push notification."},
        {"timeouts.push_age", sets<&settings::timeouts, &timeout_settings::push_age>(duration_in(1s, month)),
         "How long Cardea tries to deliver a push notification. Then it drops it."},
        {"timeouts.linger", sets<&settings::timeouts, &timeout_settings::linger>(timeout()),
         "If Cardea answers before the whole request has arrived, how long it reads and drops the rest, so that "
         "the caller sees the answer. Half a second without a byte ends this too."},
        {"timeouts.drain_delay", sets<&settings::timeouts, &timeout_settings::drain_delay>(duration_in(0s, day)),
         "How long Cardea goes on accepting connections after it is told to stop, while `/readyz` answers 503 and "
         "every answer says `Connection: close`: a load balancer needs that time to look elsewhere. "
         "`timeouts.drain` and `timeouts.drain_streams` include it."},
        {"timeouts.drain_idle", sets<&settings::timeouts, &timeout_settings::drain_idle>(duration_in(0s, day)),
         "How long a connection without a request stays open after `timeouts.drain_delay`. A request that comes "
         "meanwhile is answered, with `Connection: close`. At most `timeouts.drain`."},
        {"timeouts.drain", sets<&settings::timeouts, &timeout_settings::drain>(duration_in(0s, day)),
         "How long calls in flight may take after Cardea is told to stop."},
        {"timeouts.drain_streams", sets<&settings::timeouts, &timeout_settings::drain_streams>(duration_in(0s, day)),
         "How long open streams may go on after Cardea is told to stop. Streams of MCP clients that are part of no "
         "call end when `timeouts.drain_delay` is over."},
        {"timeouts.task", sets<&settings::timeouts, &timeout_settings::task>(duration_in(1s, month)),
         "How long Cardea knows to whom a [task](security.md#tasks-of-other-principals) belongs, after a call "
         "named it or an answer showed it."},
        {"limits.body", sets<&settings::limits, &limit_settings::body>(size_in(kib, gib)),
         "The largest body of a request. A larger one gets 413."},
        {"limits.body_memory", sets<&settings::limits, &limit_settings::body_memory>(size_in(kib, 1024 * gib)),
         "All bodies that the process holds: of requests, and of answers that it edits. Bytes that have arrived "
         "count, not bytes that are announced, and not the room of buffers that grow, which may be twice as much. "
         "Beyond it: 503. One connection of HTTP/2 holds half of it at most, or 64 MiB if that is more."},
        {"limits.linger_bytes", sets<&settings::limits, &limit_settings::linger_bytes>(size_in(kib, gib)),
         "What Cardea reads and drops on a connection during `timeouts.linger`. Beyond it, the connection closes."},
        {"limits.lingering", sets<&settings::limits, &limit_settings::lingering>(count_in(0, 1'000'000)),
         "Connections at a time to which `timeouts.linger` applies. Others close at once."},
        {"limits.stream_body", sets<&settings::limits, &limit_settings::stream_body>(size_in(kib, 1024 * gib)),
         "The largest body of a request to one of an agent's `relay_paths`, which passes through as it arrives. A "
         "larger one gets 413."},
        {"limits.header", sets<&settings::limits, &limit_settings::header>(size_in(kib, mib)),
         "The largest head of a request. A larger one gets 431."},
        {"limits.header_fields", sets<&settings::limits, &limit_settings::header_fields>(count_in(10, 1000)),
         "The fields in the head of a request. More get 431."},
        {"limits.header_value", sets<&settings::limits, &limit_settings::header_value>(size_in(64, mib)),
         "The largest value of one field in the head of a request. A larger one gets 431."},
        {"limits.target", sets<&settings::limits, &limit_settings::target>(size_in(64, 64 * kib)),
         "The longest target of a request; less than `limits.header`. A longer one gets 414."},
        {"limits.sse_event", sets<&settings::limits, &limit_settings::sse_event>(size_in(kib, gib)),
         "The largest event of a stream that an agent answers with; a larger one cuts the stream. Also the largest "
         "answer that Cardea translates."},
        {"limits.upstream_header", sets<&settings::limits, &limit_settings::upstream_header>(size_in(kib, mib)),
         "The largest head of an agent's answer. A larger one gets 502."},
        {"limits.upstream_connections",
         sets<&settings::limits, &limit_settings::upstream_connections>(count_in(0, 65536)),
         "Idle connections that Cardea keeps, per origin and worker."},
        {"limits.upstream_requests",
         sets<&settings::limits, &limit_settings::upstream_requests>(count_in(1, 1'000'000'000)),
         "Calls on one connection to an agent. It closes after the last one."},
        {"limits.rpc_batch", sets<&settings::limits, &limit_settings::rpc_batch>(count_in(1, 1000)),
         "Calls in one management batch."},
        {"limits.rpc_body", sets<&settings::limits, &limit_settings::rpc_body>(size_in(kib, gib)),
         "The largest body of a request to `/rpc` on `listen`. A larger one gets 413. On `admin`, `limits.body` "
         "applies."},
        {"limits.rpc_answer", sets<&settings::limits, &limit_settings::rpc_answer>(size_in(kib, gib)),
         "The results of one management batch. A call whose result does not fit gets the error `too_large`. A page "
         "of a list ends before it is larger."},
        {"limits.rpc_memory", sets<&settings::limits, &limit_settings::rpc_memory>(size_in(kib, 64 * gib)),
         "All answers of `/rpc`, and all pages of the directory, that are being built or sent. Beyond it: 503. A "
         "quarter is reserved for `admin`."},
        {"limits.history_agents", sets<&settings::limits, &limit_settings::history_agents>(count_in(0, 100'000)),
         "Agents with a history of their calls (`agents/stats`), 2.7 KiB each. Of more, those not called for longest have "
         "none."},
        {"limits.body_rate", sets<&settings::limits, &limit_settings::body_rate>(size_in(0, gib)),
         "The least rate of a request's body, in bytes a second. A body that falls behind by `timeouts.body_grace` "
         "while Cardea waits for it gets 408. 0: any rate."},
        {"limits.read_ahead", sets<&settings::limits, &limit_settings::read_ahead>(size_in(kib, mib)),
         "What a caller may send behind a request that is being answered (pipelined requests). Cardea reads more "
         "only after the answer."},
        {"limits.requests", sets<&settings::limits, &limit_settings::requests>(count_in(1, 1'000'000'000)),
         "Requests on one connection. The answer to the last one closes it."},
        {"limits.http2_streams", sets<&settings::limits, &limit_settings::http2_streams>(count_in(1, 65536)),
         "Streams of one connection over HTTP/2 whose work has not ended. A stream that its caller reset counts until "
         "its exchange with the agent is over. More get REFUSED_STREAM."},
        {"limits.http2_resets", sets<&settings::limits, &limit_settings::http2_resets>(count_in(1, 1'000'000)),
         "Streams of one connection over HTTP/2 in a second that are reset before their answer ended, by the caller, or "
         "by Cardea for the caller's fault; ten times as many at once. Beyond it, the connection ends with GOAWAY "
         "ENHANCE_YOUR_CALM."},
        {"limits.http2_control", sets<&settings::limits, &limit_settings::http2_control>(count_in(1, 1'000'000)),
         "Frames without use of one connection over HTTP/2 in a second: PING, SETTINGS, PRIORITY, empty DATA, frames "
         "on closed streams, WINDOW_UPDATE beyond need; ten times as many at once. Beyond it, the same."},
        {"limits.upstream_http2_connections",
         sets<&settings::limits, &limit_settings::upstream_http2_connections>(count_in(1, 1024)),
         "Connections over HTTP/2 to one origin, per worker. Each carries as many calls at a time as the agent allows, "
         "at most 100. More calls wait for `timeouts.connect` at most, their callers in turns. Then they get 503."},
        {"limits.grpc_message", sets<&settings::limits, &limit_settings::grpc_message>(size_in(kib, gib)),
         "The largest message of a call by [gRPC](grpc.md), each way. A larger one gets RESOURCE_EXHAUSTED."},
        {"limits.streams", sets<&settings::limits, &limit_settings::streams>(count_in(1, 1'000'000)),
         "Open event streams per worker. Beyond it: 503."},
        {"limits.hops", sets<&settings::limits, &limit_settings::hops>(count_in(1, 100)),
         "How often `Via` may name `cardea`: the gateways that a request to an agent has come through. More get "
         "508."},
        {"limits.tasks", sets<&settings::limits, &limit_settings::tasks>(count_in(8, 1'000'000)),
         "Tasks of which Cardea knows to whom they [belong](security.md#tasks-of-other-principals). Beyond it, it "
         "forgets older ones."},
        {"limits.failed_credentials",
         sets<&settings::limits, &limit_settings::failed_credentials>(count_in(1, 1'000'000)),
         "Credentials from one address that may fail in a second on one listener. Beyond it: 429 for every "
         "credential of the address that is not known already. An IPv6 address counts with its /64."},
        {"limits.metrics_connections", sets<&settings::limits, &limit_settings::metrics_connections>(count_in(1, 1000)),
         "Open connections to `metrics`. Beyond it: 503, and the connection closes."},
        {"limits.push_config", sets<&settings::limits, &limit_settings::push_config>(size_in(64, 4 * kib)),
         "The URL, the token and the authentication of one push notification configuration. A larger one gets "
         "-32602. Agents send it back, sealed and a third longer, in a target, for which `limits.target` must have "
         "room."},
        {"limits.push_body", sets<&settings::limits, &limit_settings::push_body>(size_in(kib, 16 * mib)),
         "The largest push notification of an agent that Cardea delivers. A larger one gets 413."},
        {"limits.push_queue", sets<&settings::limits, &limit_settings::push_queue>(count_in(1, 1'000'000)),
         "Push notifications that wait to be delivered. Beyond it, an agent's gets 503."},
        {"limits.push_queue_agent", sets<&settings::limits, &limit_settings::push_queue_agent>(count_in(1, 1'000'000)),
         "The same for one agent."},
        {"limits.push_queue_bytes", sets<&settings::limits, &limit_settings::push_queue_bytes>(size_in(kib, 64 * gib)),
         "The same in bytes. One agent has half of them, or one notification. They are in the store, which may be "
         "memory."},
        {"limits.push_attempts", sets<&settings::limits, &limit_settings::push_attempts>(count_in(1, 1000)),
         "Attempts to deliver a push notification, counted again after a restart. After the last one Cardea drops "
         "it."},
        {"limits.connections", sets<&settings::limits, &limit_settings::connections>(count_in(0, 1'000'000)),
         "Open connections of callers. Beyond it: 503, and the connection closes. 0: 45 % of the descriptors that "
         "the process may have."},
        {"limits.program_starts", sets<&settings::limits, &limit_settings::program_starts>(count_in(0, 1000)),
         "Programs of MCP servers that start at the same time. The others wait until one answers or has had one "
         "second. 0: one per core."},
        // clang-format on
    };
}

// The number of insertions, removals, replacements and swaps of neighbours between two words.
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

constexpr auto replaced = std::to_array<replaced_key>({
    {"agents.ID.enabled", "agents.ID.disabled", "`disabled: true` turns an agent off"},
    {"base_url", "public_url", "write `public_url`"},
    {"log_format", "log.format", "write `format` below `log`"},
    {"log_level", "log.level", "write `level` below `log`"},
    {"port", "listen", "`listen` has the address and the port, such as 127.0.0.1:4000"},
});

}  // namespace

std::span<const setting> all_settings()
{
    static const auto table = make_table();
    return table;
}

const setting* find_setting(std::string_view path)
{
    const auto all = all_settings();
    const auto found = std::ranges::find(all, path, &setting::path);
    return found == all.end() ? nullptr : &*found;
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
        // A credential is for one place: whoever gives one elsewhere means another.
        if (s.path.ends_with(ending) && s.key->form().masked == masked_part::nothing) {
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

std::span<const replaced_key> replaced_keys()
{
    return replaced;
}

std::string replacement(std::string_view path)
{
    const auto* const found = std::ranges::find(replaced, path, &replaced_key::path);
    return found == replaced.end() ? std::string{} : "is not a known key; " + std::string{found->advice};
}

}  // namespace config
