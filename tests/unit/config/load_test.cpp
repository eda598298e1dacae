// over 600 lines: a row or two for each key.
#include "config/load.hpp"

#include "config/agent_table.hpp"
#include "config/file.hpp"
#include "config/schema.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>

using namespace config::testing;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("config/load");

namespace {

std::string full_text()
{
    const auto text = config::read_file(CARDEA_TEST_DATA "/config/full.yml");
    REQUIRE(text.has_value());
    return *text;
}

core::result<std::string> secrets(const std::string& path)
{
    if (path == "/run/secrets/inline") {
        return std::string{"file-token"};
    }
    if (path.ends_with(".key") || path.ends_with(".proxy")) {
        return file_text(path, "");
    }
    if (path == "/run/secrets/deploy") {
        return std::string{"token-in-a-file-1"};
    }
    return "OF=" + path + "\nDEBUG=replaced";
}

config::settings full()
{
    auto result = config::load(full_text(), "full.yml", variables, secrets);
    REQUIRE(lines(result.problems) == "");
    return std::move(result.value);
}

}  // namespace

TEST_CASE("every setting is read into its member")
{
    const auto s = full();
    CHECK(s.listen == config::endpoint{"0.0.0.0", 5000});
    CHECK(s.admin == config::endpoint{"::1", 5001});
    CHECK(s.admin_programs);
    CHECK_FALSE(s.console);
    CHECK_FALSE(s.http2);
    CHECK(s.grpc.public_address == "grpc.example.com:8443");
    CHECK(s.grpc.default_agent == "weather.v1_A-b");
    CHECK(
        s.tls ==
        std::vector<config::certificate_files>{
            {"/etc/cardea/a.pem", "/etc/cardea/a.key", {}},
            {"/etc/cardea/b.pem", "/etc/cardea/b.key", {"b.example.com", "*.c.example.com"}}
        }
    );
    CHECK(
        s.admin_tls == std::vector<config::certificate_files>{{"/etc/cardea/admin.pem", "/etc/cardea/admin.key", {}}}
    );
    CHECK(s.metrics == config::endpoint{"0.0.0.0", 5002});
    CHECK(
        s.metrics_tls ==
        std::vector<config::certificate_files>{{"/etc/cardea/metrics.pem", "/etc/cardea/metrics.key", {}}}
    );
    CHECK(s.metrics_agents == 1001);
    CHECK(s.public_url == "https://agents.example.com/base");
    CHECK(s.hosts == std::vector<std::string>{"agents.example.com", "10.0.0.1"});
    CHECK(s.agent_hosts == "{id}.agents.example.com");
    CHECK(s.workers == 3);
    CHECK(s.push == core::push_mode::mediate);
    CHECK(s.push_sign);
    CHECK(s.push_allow == std::vector<std::string>{"10.0.0.0/8", "fd00::/8"});
    CHECK(s.log_level == core::log_level::warn);
    CHECK(s.log_format == core::log_format::text);
    CHECK(s.store == "sqlite:/var/lib/cardea/store.db");
    CHECK(s.audit == "file:/var/log/cardea/audit.ndjson");
    CHECK(s.store_options.password_file == "/run/secrets/database");
    CHECK(s.store_options.timeout == 4s);
    CHECK(s.store_options.poll == 900ms);
    CHECK_FALSE(s.store_options.notify);
    CHECK(s.replica.name == "cardea-0");
    CHECK(s.replica.url == "http://10.0.0.7:4000");
    CHECK(
        s.rate_limits ==
        core::rate_limits{.principal = {50, 100}, .agent = {500, 501}, .address = {101, 102}, .divide = true}
    );
    CHECK(
        s.defaults.breaker ==
        core::breaker_settings{
            .failures = 6,
            .ratio = 0.25,
            .volume = 21,
            .window = 31s,
            .cooldown = 29s,
            .max_cooldown = 6min,
            .probe = 2s
        }
    );
    CHECK(s.defaults.endpoints.balance == core::balancing::spread);
    CHECK(s.defaults.endpoints.failback == 4min);
    CHECK(
        s.defaults.endpoints.health ==
        core::health_settings{.check = core::health_check::tcp, .interval = 11s, .timeout = 3s, .fail = 4, .pass = 3}
    );
    CHECK(s.defaults.endpoints.retry == core::retry_settings{.attempts = 3, .budget = 0.125});
    CHECK(s.defaults.calls == core::call_limits{.in_flight = 255, .queue = 511, .streams = 999, .wait = 2s});
    CHECK(s.defaults.pin == core::pin_mode::enforce);
    CHECK(s.pins.file == "/etc/cardea/pins.json");
    CHECK(s.chains.in_flight == 251);
    CHECK(s.chains.calls == 1001);
    CHECK(s.chains.window == 11min);
    CHECK(s.deadlines.fields == std::vector<std::string>{"X-Timeout-Ms"});
    CHECK(s.overload.lag == std::array<core::duration, 3>{51ms, 201ms, 501ms});
    CHECK(s.overload.memory == std::array<std::uint64_t, 3>{84, 91, 94});
    CHECK(s.debug.core);
    CHECK(s.trace.endpoint == "https://collector.example.com:4318/otel");
    CHECK(s.trace.sample == 0.25);
    CHECK_FALSE(s.reload.watch);
    CHECK(s.handover.timeout == 50s);
    CHECK(s.errors.a2x);
    CHECK(s.errors.profile == core::error_edition::v1_0_0);
    CHECK(s.admin_access == core::admin_access::scopes);
    CHECK(s.registration.token.reveal() == "token-in-a-file-1");
    CHECK(s.registration.allow == std::vector<std::string>{"10.0.0.0/8", "fd00::/8"});
    CHECK(s.cors.origins == std::vector<std::string>{"https://app.example.com", "http://localhost:*"});
    CHECK(s.cors.credentials);
    CHECK(s.cors.documents == core::public_documents::listed);
    CHECK(s.mcp.walk == 4min);
    CHECK(s.mcp.session_keys.at(0).reveal() == session_key);
    CHECK(s.mcp.origins == std::vector<std::string>{"https://app.example.com"});
    CHECK(s.mcp.replay_events == 105);
    CHECK(s.mcp.replay_stream == 106 * 1024);
    CHECK(s.mcp.replay_memory == 107 * 1024);
    CHECK(s.mcp.replay_time == 270s);
    CHECK(s.cards.ttl == 7min);
    CHECK(s.cards.min_ttl == 11s);
    CHECK(s.cards.max_ttl == 23h);
    CHECK(s.cards.stale_if_error == 2h);
    CHECK(s.cards.negative_ttl == 6s);
    CHECK(s.cards.timeout == 4s);
    CHECK(s.cards.max_size == 2 * 1024 * 1024);
    CHECK(s.cards.background == 7);
    CHECK(s.cards.shape == core::card_shape::v1);
    CHECK(s.cards.signatures == core::signature_policy::verify_and_sign);
    CHECK(s.cards.signing_key == "/etc/cardea/card.key");
    CHECK(s.cards.retired_keys == "/etc/cardea/retired.json");
    CHECK(s.cards.trusted_keys == "/etc/cardea/trusted.json");
    CHECK(s.cards.key_set_origins == std::vector<std::string>{"https://keys.example.com", "https://[::1]:8443"});
    CHECK(s.timeouts.handshake == 12s);
    CHECK(s.timeouts.header == 11s);
    CHECK(s.timeouts.body == 61s);
    CHECK(s.timeouts.body_grace == 9s);
    CHECK(s.timeouts.idle == 76s);
    CHECK(s.timeouts.write == 31s);
    CHECK(s.timeouts.connect == 4s);
    CHECK(s.timeouts.upstream_head == 32s);
    CHECK(s.timeouts.upstream_read == 28s);
    CHECK(s.timeouts.upstream_idle == 6min);
    CHECK(s.timeouts.stream_keep_alive == 16s);
    CHECK(s.timeouts.upstream_keep == 62s);
    CHECK(s.timeouts.push == 9s);
    CHECK(s.timeouts.push_age == 23h);
    CHECK(s.timeouts.linger == 3s);
    CHECK(s.timeouts.drain_delay == 4s);
    CHECK(s.timeouts.drain == 33s);
    CHECK(s.timeouts.drain_idle == 1s);
    CHECK(s.timeouts.drain_streams == 7s);
    CHECK(s.timeouts.task == 25h);
    CHECK(s.timeouts.http2_age == 61min);
    CHECK(s.limits.body == 2 * 1024 * 1024);
    CHECK(s.limits.body_memory == 257 * 1024 * 1024);
    CHECK(s.limits.linger_bytes == 17 * 1024 * 1024);
    CHECK(s.limits.lingering == 255);
    CHECK(s.limits.metrics_connections == 65);
    CHECK(s.limits.stream_body == 65 * 1024 * 1024);
    CHECK(s.limits.header == 33 * 1024);
    CHECK(s.limits.header_fields == 101);
    CHECK(s.limits.target == 9 * 1024);
    CHECK(s.limits.sse_event == 3 * 1024 * 1024);
    CHECK(s.limits.upstream_header == 65 * 1024);
    CHECK(s.limits.upstream_connections == 257);
    CHECK(s.limits.upstream_requests == 9999);
    CHECK(s.timeouts.dns == 3s);
    CHECK(s.timeouts.upstream_max_age == 11min);
    CHECK(s.dns.refresh == 29s);
    CHECK(s.dns.stale == 6min);
    CHECK(s.limits.rpc_batch == 51);
    CHECK(s.limits.rpc_body == 65 * 1024);
    CHECK(s.limits.rpc_answer == 5 * 1024 * 1024);
    CHECK(s.limits.rpc_memory == 65 * 1024 * 1024);
    CHECK(s.limits.history_agents == 2001);
    CHECK(s.limits.http2_streams == 257);
    CHECK(s.limits.http2_resets == 101);
    CHECK(s.limits.http2_control == 51);
    CHECK(s.limits.upstream_http2_connections == 9);
    CHECK(s.limits.grpc_message == 5 * 1024 * 1024);
    CHECK(s.limits.header_value == 4 * 1024);
    CHECK(s.limits.body_rate == 2000);
    CHECK(s.limits.read_ahead == 17 * 1024);
    CHECK(s.limits.requests == 1001);
    CHECK(s.limits.tasks == 106);
    CHECK(s.limits.streams == 102);
    CHECK(s.limits.hops == 5);
    CHECK(s.limits.connections == 103);
    CHECK(s.limits.program_starts == 104);
    CHECK(s.limits.failed_credentials == 105);
    CHECK(s.limits.push_config == 1024);
    CHECK(s.limits.push_body == 2 * 1024 * 1024);
    CHECK(s.limits.push_queue == 106);
    CHECK(s.limits.push_queue_agent == 107);
    CHECK(s.limits.push_queue_bytes == 65 * 1024 * 1024);
    CHECK(s.limits.push_attempts == 29);
    CHECK(s.access.open);
    CHECK(s.access.providers.size() == 13);
    CHECK(s.access.rules.size() == 2);
    CHECK(s.trusted_proxies == std::vector<std::string>{"10.0.0.0/8", "::1"});
    CHECK(s.proxy.reveal() == proxy_text);
    CHECK(s.no_proxy == std::vector<std::string>{".internal.example.com", "10.0.0.0/8", "[fd00::1]:8080"});
}

TEST_CASE("every agent is read into its members, in the order of the file")
{
    const auto s = full();
    core::agent weather;
    weather.id = "weather.v1_A-b";
    weather.url = "http://10.0.0.7:9000/a2a/";
    weather.card_url = "https://10.0.0.7:9000/card.json?x=1";
    weather.trust = core::card_trust::never;
    weather.dialects = {core::a2a_dialect::v1_rest, core::a2a_dialect::v03_jsonrpc};
    weather.bridge = false;
    weather.as_tools = core::tool_form::skills;
    weather.tool_wait = 30s;
    weather.push = core::push_mode::passthrough;
    weather.extended_card = core::extended_card_access::managed;
    weather.skills = {
        {"gold-free", core::skill_visibility::everyone, {}},
        {"gold-*", core::skill_visibility::extended, {"gold", "paid"}}
    };
    auto& overlay = weather.overlays.emplace_back();
    overlay.when.any_of.emplace_back().claims = {{"plan", "gold"}};
    overlay.card = R"({"documentationUrl":"https://docs.example/gold","name":null})";
    weather.patch = core::card_patch{
        .description = "Better words",
        .documentation_url = "https://docs.example/",
        .provider_organization = "Example",
        .provider_url = "https://example.com",
        .skills = {{"*", {"weather"}}}
    };
    weather.card_headers = {
        {"X-Api-Key", core::secret{"s3cr3t-token"}},
        {"Accept-Language", core::secret{"de, en;q=0.5"}}
    };
    weather.bearer = core::secret{"s3cr3t-token"};
    weather.proxy = core::secret{proxy_text};
    weather.timeout = 90s;
    weather.relay_paths = {"/v1/*", "/files/**"};
    weather.grpc_url = "grpcs://10.0.0.7:9443";
    weather.relay_services = {"grpc.reflection.v1.ServerReflection"};
    weather.http = core::http_version::v2;
    weather.hosts = {"weather.example.com", "w.example.org"};
    weather.extensions_of_03 = true;
    auto& may_discover = weather.discover.emplace().any_of.emplace_back();
    may_discover.scopes = {"words:call"};
    may_discover.claims = {{"plan", "gold"}, {"plan", "silver"}};
    weather.call.emplace();
    weather.pin = {core::pin_mode::warn, {"table_*", "tmp"}};
    weather.acts_as = {{"certs", "spiffe://example/weather"}, {"keys", "ci"}};
    weather.shape = core::card_shape::v03;
    weather.signatures = core::signature_policy::verify;
    weather.trusted_keys = "/etc/cardea/weather.json";
    weather.key_set_origins = {"https://weather.example.com"};
    weather.ca_file = "/etc/cardea/ca.pem";
    weather.cert_file = "/etc/cardea/client.pem";
    weather.key_file = "/etc/cardea/client.key";
    weather.disabled = true;
    weather.version = "1.0";
    weather.protocol_version = "0.3.0";
    weather.metadata = R"({"team":"forecast","owners":["a","b"]})";
    core::agent inline_card;
    inline_card.id = "inline";
    inline_card.url = "https://inline.example.com";
    inline_card.trust = core::card_trust::same_origin;
    inline_card.bearer = core::secret{"file-token"};
    inline_card.protocol_version = "1.0";
    inline_card.card = R"({"name":"Inline","skills":[]})";
    core::agent files;
    files.id = "files";
    files.speaks = core::protocol::mcp;
    files.metadata =
        R"({"transport":{"type":"stdio","command":"npx","args":["-y","server-filesystem"],"env":{"DEBUG":"********"},)"
        R"("cwd":"/srv/files"}})";
    files.mcp = core::mcp_server{
        .transport = core::mcp_transport::stdio,
        .command = "npx",
        .arguments = {"-y", "server-filesystem"},
        .environment = {{"OF", core::secret{"/run/secrets/files.env"}}, {"DEBUG", core::secret{"true"}}},
        .directory = "/srv/files",
        .start = core::mcp_start::lazy,
        .era = core::mcp_era::legacy,
        .initialize_timeout = 61s,
        .request_timeout = 31s,
        .ping_interval = 29s,
        .walk = 3min,
        .backoff = 400ms,
        .max_backoff = 59s,
        .max_message = 9 * 1024 * 1024,
        .stale_if_error = true,
        .sessions = core::mcp_sessions::shared,
        .sessionless = core::mcp_sessionless::refuse,
        .on_lost = core::mcp_loss::tell,
        .overlap = true,
        .warm = 2,
        .max_sessions = 17,
        .call_timeout = 9min,
        .tools =
            {.allow = {"read_*", "list"},
             .deny = {"read_secret"},
             .names = {{"read_text_file", "read"}},
             .descriptions = {{"read", "Reads a text file"}}},
        .prompts = {.allow = {}, .deny = {"*"}, .names = {}, .descriptions = {}},
        .resources = {.allow = {"file:*"}, .deny = {}, .names = {}, .descriptions = {}},
        .forward_headers = {},
        .bind = false
    };
    core::agent events;
    events.id = "events";
    events.speaks = core::protocol::mcp;
    events.url = "https://events.example.com/sse";
    events.mcp = core::mcp_server{};
    events.mcp->transport = core::mcp_transport::sse;
    core::agent search;
    search.id = "search";
    search.speaks = core::protocol::mcp;
    search.url = "https://search.example.com/mcp";
    search.mcp = core::mcp_server{};
    search.mcp->forward_headers = {"X-Tenant"};
    search.headers = {{"Authorization", core::secret{"Bearer s3cr3t-token"}}};
    search.metadata = R"({"transport":{"type":"streamable-http","url":"https://search.example.com/mcp"}})";
    core::agent paid;
    paid.id = "paid";
    paid.url = "https://paid.example.com";
    paid.trust = core::card_trust::same_origin;
    paid.credentials = core::oauth_client{
        "https://login.example.com/token?tenant=t",
        "cardea",
        core::secret{"s3cr3t-token"},
        {"words:call", "words:read"},
        "paid",
        "https://paid.example.com",
        core::client_authentication::post,
        core::oauth_grant::token_exchange
    };
    paid.read_timeout = 7s;
    paid.proxy = core::secret{"environment"};
    paid.headers = {{"X-Team", core::secret{"words"}}};
    paid.of_callers.names = {"X-Api-Key"};
    paid.registered = true;
    paid.registered_by = "idp alice";
    paid.breaker_failures = 7;
    paid.breaker_ratio = 0.75;
    paid.breaker_volume = 22;
    paid.breaker_window = 1min;
    paid.breaker_cooldown = 10s;
    paid.breaker_max_cooldown = 1min;
    paid.breaker_probe = 500ms;
    paid.most_in_flight = 8;
    paid.most_queued = 16;
    paid.most_streams = 32;
    paid.queue_wait = 3s;
    core::agent replicas;
    replicas.id = "replicas";
    replicas.url = "https://a.example.com/a2a";
    replicas.trust = core::card_trust::same_origin;
    replicas.rules = core::endpoint_rules{
        .upstreams = {"https://a.example.com/a2a", "https://b.example.com/a2a/"},
        .balance = core::balancing::caller,
        .failback = 1min,
        .check = core::health_check::http,
        .health_path = "/healthz?deep=1",
        .health_interval = 5s,
        .health_timeout = 1s,
        .health_fail = 2,
        .health_pass = 1,
        .retry_attempts = 4,
        .retry_budget = 0.5
    };
    inline_card.breaker_failures = 8;
    inline_card.most_in_flight = 12;
    inline_card.breaker_window = 20s;
    inline_card.breaker_cooldown = 15s;
    REQUIRE(s.agents.size() == 10);
    CHECK(
        s.agents[7].mcp->environment ==
        decltype(files.mcp->environment
        ){{"OF", core::secret{"/run/secrets/notes.env"}}, {"DEBUG", core::secret{"replaced"}}}
    );
    CHECK(s.agents[8].url == "https://maps.example.com/mcp");
    CHECK(s.agents[9].url == "https://tasks.example.com/mcp");
    CHECK(s.agents[0] == weather);
    CHECK(s.agents[1] == inline_card);
    CHECK(s.agents[2] == files);
    CHECK(s.agents[3] == events);
    CHECK(s.agents[4] == search);
    CHECK(s.agents[5] == paid);
    CHECK(s.agents[6] == replicas);
}

TEST_CASE("the full example has every setting of the schema, and none with its default")
{
    const auto s = full();
    for (const auto& row : config::all_settings()) {
        CAPTURE(row.path);
        CHECK_FALSE(row.key->same(s, {}));
    }
    const auto text = full_text();
    for (const auto& row : config::all_agent_settings()) {
        const auto last = row.name.substr(row.name.rfind('.') + 1);
        CAPTURE(last);
        CHECK(
            (text.find(' ' + std::string{last} + ": ") != text.npos ||
             text.find(' ' + std::string{last} + ":\n") != text.npos)
        );
    }
}

TEST_CASE("A proxy is an http URL or a word, and hosts without one are names, addresses and blocks")
{
    const std::string expected =
        "; expected the URL of an HTTP proxy such as http://proxy:3128, environment, or none\n";
    for (const std::string key : {"proxy: ", "agents: {a: {url: \"http://h\", proxy: "}) {
        const std::string end = key == "proxy: " ? "" : "}}";
        const std::string name = key == "proxy: " ? "proxy" : "agents.a.proxy";
        const auto at = "c.yml:1:" + std::to_string(key.size() + 1) + ": " + name + ": ";
        CHECK(problems_of(key + "\"http://me:${TOKEN}@proxy:3128\"" + end) == "");
        CHECK(problems_of(key + "environment" + end) == "");
        CHECK(problems_of(key + "none" + end) == "");
        CHECK(problems_of(key + "\"socks5://u:s3cr3t@proxy\"" + end) == at + "is not an http URL" + expected);
        CHECK(
            problems_of(key + "\"https://u:s3cr3t@proxy\"" + end) ==
            at + "is an https URL, and proxies are spoken to without TLS" + expected
        );
        CHECK(problems_of(key + "\"\"" + end) == at + "is empty" + expected);
    }
    CHECK(
        lines(config::load("proxy: none\nproxy_file: /run/a.proxy\n", "c.yml", variables, secrets).problems) ==
        "c.yml:2:13: proxy_file: stands beside proxy; expected one of the two\n"
    );
    CHECK(
        lines(config::load("proxy_file: /run/secrets/inline\n", "c.yml", variables, secrets).problems) ==
        "c.yml:1:13: proxy_file: is a file whose text is not an http URL" + expected
    );
    CHECK(problems_of("no_proxy: [a.test, \".b.test:80\", 10.0.0.0/8, \"::1\", \"*\"]") == "");
    CHECK(
        problems_of("no_proxy: [\"http://a.test\", 10.0.0.1/8, \"\"]") ==
        "c.yml:1:12: no_proxy[0]: \"http://a.test\" is not a host; expected a name such as example.com, an address, a "
        "block such as 10.0.0.0/8, or *\n"
        "c.yml:1:29: no_proxy[1]: \"10.0.0.1/8\" is not a host; expected a name such as example.com, an address, a "
        "block such as 10.0.0.0/8, or *\n"
        "c.yml:1:41: no_proxy[2]: is empty; expected a name such as example.com, an address, a block such as "
        "10.0.0.0/8, or *\n"
    );
}

TEST_CASE("trusted_proxies are addresses and blocks")
{
    CHECK(problems_of("trusted_proxies: [10.0.0.0/8, \"2001:db8::/32\", 192.0.2.1, \"::1\"]") == "");
    CHECK(
        problems_of("trusted_proxies: [10.0.0.1/8, \"\", proxy]") ==
        "c.yml:1:19: trusted_proxies[0]: \"10.0.0.1/8\" is not an IP address or block; expected an address such as "
        "192.0.2.1 or "
        "2001:db8::1, or a block such as 10.0.0.0/8\n"
        "c.yml:1:31: trusted_proxies[1]: is empty; expected an address such as 192.0.2.1 or 2001:db8::1, or a block "
        "such as "
        "10.0.0.0/8\n"
        "c.yml:1:35: trusted_proxies[2]: \"proxy\" is not an IP address or block; expected an address such as "
        "192.0.2.1 or "
        "2001:db8::1, or a block such as 10.0.0.0/8\n"
    );
}

TEST_CASE("an IPv6 address of hosts is written with or without brackets, in any spelling")
{
    const auto loaded = right("hosts: [\"::1\", \"[2001:DB8::7]\", \"0:0::2\", gw.test]");
    CHECK(loaded.hosts == std::vector<std::string>{"::1", "2001:db8::7", "::2", "gw.test"});
    for (const std::string wrong : {"[::1", "::1]", "[::1]:80", "[10.0.0.1]", "[]", ":::", "[gw.test]"}) {
        CAPTURE(wrong);
        CHECK(problems_of("hosts: [\"" + wrong + "\"]").find("is not a host name") != std::string::npos);
    }
}

TEST_CASE("a card is trusted with the path of calls or not at all")
{
    CHECK(
        problems_of("agents: {a: {url: \"http://h\", trust_card_url: always}}") ==
        "c.yml:1:47: agents.a.trust_card_url: \"always\" is not one of the two; expected never or same-origin\n"
    );
    CHECK(problems_of("agents: {a: {url: \"http://h\", trust_card_url: never}}") == "");
}

TEST_CASE("where an extended card comes from is one of four")
{
    CHECK(
        problems_of("agents: {a: {url: \"http://h\", extended_card: yes}}") ==
        "c.yml:1:46: agents.a.extended_card: \"yes\" is not one of them; expected auto, off, proxy or managed\n"
    );
    using enum core::extended_card_access;
    for (const auto& [written, value] :
         {std::pair{"auto", automatic}, {"off", off}, {"proxy", proxy}, {"managed", managed}}) {
        CHECK(
            right("agents: {a: {url: \"http://h\", extended_card: " + std::string{written} + "}}")
                .agents[0]
                .extended_card == value
        );
    }
}

TEST_CASE("who delivers push notifications is one of two, for all agents and for one of A2A, and signing needs a key")
{
    CHECK(right("{}").push == core::push_mode::passthrough);
    const auto read =
        right("push: mediate\nagents: {a: {url: \"http://h\", push: passthrough}, b: {url: \"http://h\"}}");
    CHECK(read.push == core::push_mode::mediate);
    CHECK(read.agents.at(0).push == core::push_mode::passthrough);
    CHECK_FALSE(read.agents.at(1).push.has_value());
    CHECK(
        problems_of("push: gateway") ==
        "c.yml:1:7: push: \"gateway\" is not one of the two; expected passthrough or mediate\n"
    );
    CHECK(
        problems_of("agents: {a: {command: npx, push: mediate}}") ==
        "c.yml:1:34: agents.a.push: is for A2A agents; remove it\n"
    );
    CHECK(
        problems_of("push_sign: true") ==
        "c.yml:1:12: push_sign: true signs nothing without cards.signing_key; expected a key, or false\n"
    );
}

TEST_CASE("what an agent speaks is a list of dialects, each once, and only of A2A agents")
{
    using enum core::a2a_dialect;
    const auto agent =
        right("agents: {a: {url: \"http://h\", speaks: [0.3/jsonrpc, 0.3/rest, 1.0/grpc, 1.0/rest], bridge: false}}")
            .agents.at(0);
    CHECK(agent.dialects == std::vector{v03_jsonrpc, v03_rest, v1_grpc, v1_rest});
    CHECK_FALSE(agent.bridge);
    const auto usual = right("agents: {a: {url: \"http://h\"}}").agents.at(0);
    CHECK(usual.dialects.empty());
    CHECK(usual.bridge);
    CHECK(
        problems_of("agents: {a: {url: \"http://h\", speaks: [0.3, 1.0/rest, 1.0/rest]}}") ==
        "c.yml:1:40: agents.a.speaks[0]: \"0.3\" is not a dialect of A2A; expected 0.3/jsonrpc, 0.3/rest, 0.3/grpc, "
        "1.0/jsonrpc, 1.0/rest or 1.0/grpc\n"
        "c.yml:1:55: agents.a.speaks[2]: \"1.0/rest\" is given twice; expected 0.3/jsonrpc, 0.3/rest, 0.3/grpc, "
        "1.0/jsonrpc, 1.0/rest or 1.0/grpc, each once\n"
    );
    CHECK(
        problems_of("agents: {a: {command: npx, speaks: [1.0/rest]}}") ==
        "c.yml:1:36: agents.a.speaks: is for A2A agents; remove it\n"
    );
}

TEST_CASE("the edition that the statuses of errors follow is one of two")
{
    CHECK(right("errors: {profile: 1.0.0}").errors.profile == core::error_edition::v1_0_0);
    CHECK(right("{}").errors.profile == core::error_edition::v1_0_1);
    CHECK(
        problems_of("errors: {profile: \"1.0\"}") ==
        "c.yml:1:19: errors.profile: \"1.0\" is not one of the two; expected 1.0.0 or 1.0.1\n"
    );
}

TEST_CASE("a shape of cards is one of four, for all agents and for one")
{
    CHECK(
        problems_of("cards: {shape: v2}") ==
        "c.yml:1:16: cards.shape: \"v2\" is not a shape of cards; expected auto, v1, v0.3 or hybrid\n"
    );
    CHECK(
        problems_of("agents: {a: {url: \"http://h\", shape: \"\"}}") ==
        "c.yml:1:38: agents.a.shape: is empty; expected auto, v1, v0.3 or hybrid\n"
    );
}

TEST_CASE("pin is a mode, or a map with a mode and names that are left out")
{
    const auto of = [](std::string_view pin) {
        return config::load("agents: {a: {url: \"http://h\", pin: " + std::string{pin} + "}}", "c.yml", variables);
    };
    const auto pin_of = [&](std::string_view pin) { return of(pin).value.agents.at(0).pin; };
    CHECK(pin_of("off") == core::pin_settings{core::pin_mode::off, {}});
    CHECK(pin_of("warn") == core::pin_settings{core::pin_mode::warn, {}});
    CHECK(pin_of("enforce") == core::pin_settings{core::pin_mode::enforce, {}});
    CHECK(pin_of("{except: [\"a*\"]}") == core::pin_settings{std::nullopt, {"a*"}});
    CHECK(of("sometimes").problems.size() == 1);
    CHECK(of("{mode: sometimes}").problems.size() == 1);
    CHECK(of("{modes: warn}").problems.size() == 1);
    CHECK(of("[warn]").problems.size() == 1);
    CHECK_FALSE(problems_of("defaults: {pin: sometimes}").empty());
}

TEST_CASE("acts_as says what is wrong with each element")
{
    const auto of = [](const std::string& value) {
        return problems_of(
            "access: {providers: [{type: api_key, name: keys, keys: []}]}\n"
            "agents: {a: {url: \"http://h\", acts_as: " +
            value + "}}"
        );
    };
    CHECK(of("[{provider: keys, principal: a}, {provider: keys, principal: b}]").empty());
    CHECK(of("[]").empty());
    CHECK(
        of("[{provider: keys}]").find("agents.a.acts_as[0]: has no principal; expected provider and principal") !=
        std::string::npos
    );
    CHECK(
        of("[{principal: a}]").find("agents.a.acts_as[0]: has no provider; expected provider and principal") !=
        std::string::npos
    );
    CHECK(
        of("[{provider: keys, principal: a}, {provider: keys, principal: a}]")
            .find("agents.a.acts_as[1]: is in the list already; expected each principal once") != std::string::npos
    );
    CHECK(of("[{provider: nobody, principal: a}]").find("agents.a.acts_as") != std::string::npos);
    CHECK(of("[ann]").find("expected a map with provider and principal") != std::string::npos);
    CHECK_FALSE(of("[{provider: keys, principal: \"\"}]").empty());
}

TEST_CASE("hosts and relay_paths say what is wrong with each element")
{
    CHECK(
        problems_of("hosts: [a.example, \"b.example:80\", \"\", \"*\"]") ==
        "c.yml:1:20: hosts[1]: \"b.example:80\" is not a host name; expected a name or address without a port, or *\n"
        "c.yml:1:36: hosts[2]: is empty; expected a name or address without a port, or *\n"
    );
    CHECK(problems_of("hosts:\n  - a.example\n  -\n") == "c.yml:2:3: hosts[1]: has no value; expected a host name\n");
    CHECK(
        problems_of("hosts: gw") == "c.yml:1:8: hosts: is a single value; expected a list of host names or addresses\n"
    );
    CHECK(
        problems_of("agents: {a: {url: \"http://h\", relay_paths: [v1, /a/../b, \"/a?b\", /ok/**]}}") ==
        "c.yml:1:45: agents.a.relay_paths[0]: \"v1\" does not begin with '/'; expected a pattern such as /v1/* or /**\n"
        "c.yml:1:49: agents.a.relay_paths[1]: \"/a/../b\" is not a pattern of paths; expected a pattern such as /v1/* "
        "or /**\n"
        "c.yml:1:58: agents.a.relay_paths[2]: \"/a?b\" is not a pattern of paths; expected a pattern such as /v1/* or "
        "/**\n"
    );
}

TEST_CASE("what is not in the file keeps its default")
{
    for (const auto* text :
         {"{}", "cards:\ntimeouts:\nlog:\nagents:\n", "agents: {}", "--- {}\n...\n", "\xEF\xBB\xBF{}"}) {
        CAPTURE(text);
        const auto s = right(text);
        for (const auto& row : config::all_settings()) {
            CAPTURE(row.path);
            CHECK(row.key->same(s, {}));
        }
        CHECK(s.agents.empty());
    }
}

TEST_CASE("a file in JSON is read, with tabs and with its own escapes")
{
    const auto s = right(
        "{\n\t\"listen\":\"[::]:0\",\n\t\"cards\":{\"ttl\":\"1m\",\"max_size\":2048},\n\t\"agents\":{\"a\":{\n"
        "\t\t\"url\":\"http:\\/\\/h\\/\",\"disabled\":false,\"bearer\":\"${TOKEN}\",\n"
        "\t\t\"metadata\":{\"face\":\"\\uD83D\\uDE00\\u00e9\",\"kept\":\"\\\\uD83D\\\\uDE00\",\"n\":[1,-2,0.5,true,"
        "null]}}}}\n"
    );
    CHECK(s.listen == config::endpoint{"::", 0});
    CHECK(s.cards.ttl == 1min);
    CHECK(s.cards.max_size == 2048);
    REQUIRE(s.agents.size() == 1);
    CHECK(s.agents[0].url == "http://h/");
    CHECK(s.agents[0].bearer.reveal() == "s3cr3t-token");
    CHECK(
        s.agents[0].metadata ==
        "{\"face\":\"\xF0\x9F\x98\x80\xC3\xA9\",\"kept\":\"\\\\uD83D\\\\uDE00\",\"n\":[1,-2,0.5,true,null]}"
    );
}

TEST_CASE("settings that contradict each other are a problem, whichever of them is in the file")
{
    const std::pair<const char*, const char*> rows[] = {
        {"cards: {min_ttl: 2d}",
         "c.yml:1:18: cards.min_ttl: 2d is more than cards.max_ttl (1d); expected at most cards.max_ttl\n"},
        {"cards: {max_ttl: 9s}",
         "c.yml:1:18: cards.min_ttl: 10s is more than cards.max_ttl (9s); expected at most cards.max_ttl\n"},
        {"cards: {min_ttl: 1m, max_ttl: 1m}", ""},
        {"cards: {max_ttl: 59s, min_ttl: 1m}",
         "c.yml:1:32: cards.min_ttl: 1m is more than cards.max_ttl (59s); expected at most cards.max_ttl\n"},
        {"limits: {header: 8KiB}",
         "c.yml:1:18: limits.target: 8KiB is not less than limits.header (8KiB); expected a target that fits into the "
         "head\n"},
        {"limits: {header: 8193}", ""},
        {"limits: {target: 32KiB}",
         "c.yml:1:18: limits.target: 32KiB is not less than limits.header (32KiB); expected a target that fits into "
         "the head\n"},
        {"limits: {target: 32767}", ""},
        {"limits: {target: 20KiB, header: 1}",
         "c.yml:1:33: limits.header: \"1\" is out of range; expected 1KiB to 1MiB\n"},
        {"listen: 127.0.0.1:4001",
         "c.yml:1:9: admin: 127.0.0.1:4001 is the same address as listen (127.0.0.1:4001); expected an address of its "
         "own\n"},
        {"listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nmetrics: 127.0.0.1:0", ""},
        {"metrics: 127.0.0.1:4000",
         "c.yml:1:10: metrics: 127.0.0.1:4000 is the same address as listen (127.0.0.1:4000); expected an address of "
         "its own\n"},
        {"metrics: 127.0.0.1:4001",
         "c.yml:1:10: metrics: 127.0.0.1:4001 is the same address as admin (127.0.0.1:4001); expected an address of "
         "its own\n"},
        {"metrics: 0.0.0.0:4002", ""},
        {"admin_programs: true", ""},
        {"admin_programs: true\nadmin: localhost:1", ""},
        {"admin_programs: true\nadmin: \"[::1]:1\"", ""},
        {"admin_programs: true\nadmin: 127.9.9.9:1", ""},
        {"admin: 0.0.0.0:1\nadmin_programs: false", ""},
        {"admin: 0.0.0.0:1\nadmin_programs: true",
         "c.yml:2:17: admin_programs: true is for a loopback address alone, unlike admin (0.0.0.0:1); expected "
         "127.0.0.1 as its "
         "host, or false\n"},
        {"admin_programs: true\nadmin: \"[::]:1\"",
         "c.yml:1:17: admin_programs: true is for a loopback address alone, unlike admin ([::]:1); expected 127.0.0.1 "
         "as its "
         "host, or false\n"},
        {"admin_programs: true\nadmin: localhost.example:1",
         "c.yml:1:17: admin_programs: true is for a loopback address alone, unlike admin (localhost.example:1); "
         "expected 127.0.0.1 as its host, or false\n"},
        {"admin_programs: true\nhosts: [a.example, \"*\"]",
         "c.yml:1:17: admin_programs: true does not go with any name in hosts (a.example, *); expected the names "
         "alone, or "
         "false\n"},
    };
    for (const auto& [text, meant] : rows) {
        CAPTURE(text);
        CHECK(problems_of(text) == meant);
    }
}

TEST_CASE("all problems of a file are told, in its order")
{
    CHECK(
        problems_of(
            "workers: many\nlisten: nowhere\nagents:\n  a: {}\n  b: {url: ftp://h, timeout: 5}\nadmin: ${UNSET}\n"
        ) ==
        "c.yml:1:10: workers: \"many\" is not a whole number; expected a whole number, 0 to 256\n"
        "c.yml:2:9: listen: \"nowhere\" has no port; expected host:port such as 127.0.0.1:4000 or \"[::1]:4000\"\n"
        "c.yml:4:3: agents.a.url: is missing; expected an http or https URL such as http://10.0.0.7:9000/a2a\n"
        "c.yml:5:12: agents.b.url: is not an http or https URL; expected an http or https URL such as "
        "http://10.0.0.7:9000/a2a\n"
        "c.yml:5:30: agents.b.timeout: \"5\" has no unit; expected a duration such as 500ms, 5s, 5m or 1h\n"
        "c.yml:6:8: admin: the variable UNSET is not set; ${UNSET:-default} gives it a default\n"
    );
}

TEST_CASE("at most 50 problems of a file are told")
{
    const auto count = [](int n) {
        std::string text;
        for (int i = 0; i < n; ++i) {
            text += 'x' + std::to_string(i) + ": 1\n";
        }
        return config::load(text, "c.yml", variables).problems.size();
    };
    CHECK(count(49) == 49);
    CHECK(count(50) == 50);
    CHECK(count(51) == 50);
    CHECK(count(1000) == 50);
}

TEST_CASE("a problem without a key is about the file")
{
    CHECK(config::to_text({"a b.yml", 3, 7, "", "is wrong"}) == "a b.yml:3:7: is wrong");
    CHECK(config::to_text({"a", 1, 1, "x.y", "is wrong"}) == "a:1:1: x.y: is wrong");
}

TEST_SUITE_END();
