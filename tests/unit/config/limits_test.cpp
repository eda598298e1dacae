#include "config/schema.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <set>
#include <string>
#include <string_view>

using namespace config::testing;

TEST_SUITE_BEGIN("config/limits");

namespace {

// `path: value` as nested maps, with what else is needed for it not to contradict the defaults.
std::string with(std::string_view path, const std::string& value)
{
    std::string others;
    if (path == "limits.header" || path == "limits.target") {
        others = path == "limits.header" ? ", target: 64" : ", header: 1MiB";
    } else if (path == "cards.max_ttl" || path == "cards.min_ttl") {
        others = path == "cards.max_ttl" ? ", min_ttl: 0" : ", max_ttl: 30d";
    }
    if (path.ends_with(".burst")) {
        others = ", rate: 1";
    }
    const auto dot = path.find('.');
    if (dot != path.rfind('.')) {
        return std::string{path.substr(0, dot)} + ": {" + std::string{path.substr(dot + 1, path.rfind('.') - dot - 1)} +
               ": {" + std::string{path.substr(path.rfind('.') + 1)} + ": " + value + others + "}}";
    }
    return dot == path.npos ? std::string{path} + ": " + value
                            : std::string{path.substr(0, dot)} + ": {" + std::string{path.substr(dot + 1)} + ": " +
                                  value + others + "}";
}

struct row {
    const char* path;
    const char* below;  // null: there is nothing below
    const char* least;
    const char* most;
    const char* above;
    const char* meant;
};

constexpr row rows[] = {
    {"workers", nullptr, "0", "256", "257", "a whole number, 0 to 256"},
    {"metrics_agents", nullptr, "0", "100000", "100001", "a whole number, 0 to 100000"},
    {"cards.ttl", "999ms", "1s", "30d", "30d1ms", "1s to 30d"},
    {"cards.min_ttl", nullptr, "0", "30d", "30d1ms", "0 to 30d"},
    {"cards.max_ttl", "999ms", "1s", "30d", "30d1ms", "1s to 30d"},
    {"cards.stale_if_error", nullptr, "0", "30d", "30d1ms", "0 to 30d"},
    {"cards.negative_ttl", nullptr, "0", "1h", "1h1ms", "0 to 1h"},
    {"cards.timeout", "0", "1ms", "5m", "5m1ms", "1ms to 5m"},
    {"cards.max_size", "1023", "1KiB", "16MiB", "16777217", "1KiB to 16MiB"},
    {"cards.background", nullptr, "0", "1000", "1001", "a whole number, 0 to 1000"},
    {"timeouts.handshake", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"timeouts.header", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"timeouts.body", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"timeouts.body_grace", nullptr, "0", "24h", "24h1ms", "0 to 1d"},
    {"timeouts.idle", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"timeouts.write", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"dns.refresh", "999ms", "1s", "24h", "24h1ms", "1s to 1d"},
    {"dns.stale", nullptr, "0", "24h", "24h1ms", "0 to 1d"},
    {"timeouts.dns", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"timeouts.upstream_max_age", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"limits.upstream_requests", "0", "1", "1000000000", "1000000001", "a whole number, 1 to 1000000000"},
    {"timeouts.connect", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"timeouts.upstream_head", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"timeouts.upstream_read", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"timeouts.upstream_idle", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"store_options.timeout", "99ms", "100ms", "1m", "1m1ms", "100ms to 1m"},
    {"store_options.poll", "99ms", "100ms", "1m", "1m1ms", "100ms to 1m"},
    {"mcp.walk", nullptr, "0", "24h", "24h1ms", "0 to 1d"},
    {"mcp.replay_events", "0", "1", "65536", "65537", "a whole number, 1 to 65536"},
    {"mcp.replay_stream", "1023", "1KiB", "1GiB", "1073741825", "1KiB to 1GiB"},
    {"mcp.replay_memory", nullptr, "0", "64GiB", "68719476737", "0 to 64GiB"},
    {"mcp.replay_time", "999ms", "1s", "24h", "24h1ms", "1s to 1d"},
    {"timeouts.stream_keep_alive", nullptr, "0", "24h", "24h1ms", "0 to 1d"},
    {"timeouts.upstream_keep", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"timeouts.push", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"timeouts.push_age", "999ms", "1s", "30d", "30d1ms", "1s to 30d"},
    {"timeouts.linger", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"handover.timeout", "0s", "1ms", "24h", "24h1ms", "1ms to 1d"},
    {"timeouts.drain_delay", nullptr, "0", "24h", "24h1ms", "0 to 1d"},
    {"timeouts.drain_idle", nullptr, "0", "24h", "24h1ms", "0 to 1d"},
    {"timeouts.drain", nullptr, "0", "24h", "24h1ms", "0 to 1d"},
    {"timeouts.drain_streams", nullptr, "0", "24h", "24h1ms", "0 to 1d"},
    {"timeouts.task", "999ms", "1s", "30d", "30d1ms", "1s to 30d"},
    {"limits.tasks", "7", "8", "1000000", "1000001", "a whole number, 8 to 1000000"},
    {"limits.body", "1023", "1KiB", "1GiB", "1073741825", "1KiB to 1GiB"},
    {"limits.body_memory", "1023", "1KiB", "1024GiB", "1099511627777", "1KiB to 1024GiB"},
    {"limits.linger_bytes", "1023", "1KiB", "1GiB", "1073741825", "1KiB to 1GiB"},
    {"limits.lingering", nullptr, "0", "1000000", "1000001", "a whole number, 0 to 1000000"},
    {"limits.stream_body", "1023", "1KiB", "1024GiB", "1099511627777", "1KiB to 1024GiB"},
    {"limits.header", "1023", "1KiB", "1MiB", "1048577", "1KiB to 1MiB"},
    {"limits.header_fields", "9", "10", "1000", "1001", "a whole number, 10 to 1000"},
    {"limits.header_value", "63", "64", "1MiB", "1048577", "64B to 1MiB"},
    {"limits.body_rate", nullptr, "0", "1GiB", "1073741825", "0 to 1GiB"},
    {"limits.read_ahead", "1023", "1KiB", "1MiB", "1048577", "1KiB to 1MiB"},
    {"limits.requests", "0", "1", "1000000000", "1000000001", "a whole number, 1 to 1000000000"},
    {"limits.streams", "0", "1", "1000000", "1000001", "a whole number, 1 to 1000000"},
    {"limits.hops", "0", "1", "100", "101", "a whole number, 1 to 100"},
    {"chains.in_flight", nullptr, "0", "1000000", "1000001", "a whole number, 0 to 1000000"},
    {"chains.calls", nullptr, "0", "1000000000", "1000000001", "a whole number, 0 to 1000000000"},
    {"chains.window", "999ms", "1s", "24h", "24h1ms", "1s to 1d"},
    {"limits.metrics_connections", "0", "1", "1000", "1001", "a whole number, 1 to 1000"},
    {"limits.connections", nullptr, "0", "1000000", "1000001", "a whole number, 0 to 1000000"},
    {"limits.push_config", "63", "64", "4KiB", "4097", "64B to 4KiB"},
    {"limits.push_body", "1023", "1KiB", "16MiB", "16777217", "1KiB to 16MiB"},
    {"limits.push_queue", "0", "1", "1000000", "1000001", "a whole number, 1 to 1000000"},
    {"limits.push_queue_agent", "0", "1", "1000000", "1000001", "a whole number, 1 to 1000000"},
    {"limits.push_queue_bytes", "1023", "1KiB", "64GiB", "68719476737", "1KiB to 64GiB"},
    {"limits.push_attempts", "0", "1", "1000", "1001", "a whole number, 1 to 1000"},
    {"limits.failed_credentials", "0", "1", "1000000", "1000001", "a whole number, 1 to 1000000"},
    {"limits.program_starts", nullptr, "0", "1000", "1001", "a whole number, 0 to 1000"},
    {"rate_limits.principal.rate", nullptr, "0", "1000000", "1000001", "a whole number, 0 to 1000000"},
    {"rate_limits.principal.burst", nullptr, "0", "1000000", "1000001", "a whole number, 0 to 1000000"},
    {"rate_limits.agent.rate", nullptr, "0", "1000000", "1000001", "a whole number, 0 to 1000000"},
    {"rate_limits.agent.burst", nullptr, "0", "1000000", "1000001", "a whole number, 0 to 1000000"},
    {"rate_limits.address.rate", nullptr, "0", "1000000", "1000001", "a whole number, 0 to 1000000"},
    {"rate_limits.address.burst", nullptr, "0", "1000000", "1000001", "a whole number, 0 to 1000000"},
    {"defaults.breaker.failures", "0", "1", "1000000", "1000001", "a whole number, 1 to 1000000"},
    {"defaults.breaker.ratio", "0.009", "0.01", "1", "1.001", "a number, 0.01 to 1"},
    {"trace.sample", nullptr, "0", "1", "1.001", "a number, 0 to 1"},
    {"defaults.breaker.volume", "0", "1", "1000000", "1000001", "a whole number, 1 to 1000000"},
    {"defaults.breaker.window", "999ms", "1s", "1h", "1h1ms", "1s to 1h"},
    {"defaults.breaker.cooldown", "99ms", "100ms", "1h", "1h1ms", "100ms to 1h"},
    {"defaults.breaker.max_cooldown", "99ms", "100ms", "24h", "24h1ms", "100ms to 1d"},
    {"defaults.breaker.probe", "99ms", "100ms", "1h", "1h1ms", "100ms to 1h"},
    {"defaults.failback", nullptr, "0", "24h", "24h1ms", "0 to 1d"},
    {"defaults.health.interval", "99ms", "100ms", "1h", "1h1ms", "100ms to 1h"},
    {"defaults.health.timeout", "0", "1ms", "1m", "1m1ms", "1ms to 1m"},
    {"defaults.health.fail", "0", "1", "1000", "1001", "a whole number, 1 to 1000"},
    {"defaults.health.pass", "0", "1", "1000", "1001", "a whole number, 1 to 1000"},
    {"defaults.retry.attempts", "0", "1", "10", "11", "a whole number, 1 to 10"},
    {"defaults.retry.budget", nullptr, "0", "1", "1.001", "a number, 0 to 1"},
    {"defaults.limits.in_flight", "0", "1", "1000000", "1000001", "a whole number, 1 to 1000000"},
    {"defaults.limits.queue", nullptr, "0", "1000000", "1000001", "a whole number, 0 to 1000000"},
    {"defaults.limits.streams", "0", "1", "1000000", "1000001", "a whole number, 1 to 1000000"},
    {"defaults.timeouts.queue", "0s", "1ms", "1h", "1h1ms", "1ms to 1h"},
    {"limits.target", "63", "64", "64KiB", "65537", "64B to 64KiB"},
    {"limits.sse_event", "1023", "1KiB", "1GiB", "1073741825", "1KiB to 1GiB"},
    {"limits.upstream_header", "1023", "1KiB", "1MiB", "1048577", "1KiB to 1MiB"},
    {"limits.upstream_connections", nullptr, "0", "65536", "65537", "a whole number, 0 to 65536"},
    {"limits.rpc_body", "1023", "1KiB", "1GiB", "1073741825", "1KiB to 1GiB"},
    {"limits.rpc_answer", "1023", "1KiB", "1GiB", "1073741825", "1KiB to 1GiB"},
    {"limits.rpc_memory", "1023", "1KiB", "64GiB", "68719476737", "1KiB to 64GiB"},
    {"timeouts.http2_age", nullptr, "0", "24h", "24h1ms", "0 to 1d"},
    {"limits.http2_streams", "0", "1", "65536", "65537", "a whole number, 1 to 65536"},
    {"limits.http2_resets", "0", "1", "1000000", "1000001", "a whole number, 1 to 1000000"},
    {"limits.http2_control", "0", "1", "1000000", "1000001", "a whole number, 1 to 1000000"},
    {"limits.upstream_http2_connections", "0", "1", "1024", "1025", "a whole number, 1 to 1024"},
    {"limits.grpc_message", "1023", "1KiB", "1GiB", "1073741825", "1KiB to 1GiB"},
    {"limits.history_agents", nullptr, "0", "100000", "100001", "a whole number, 0 to 100000"},
    {"limits.rpc_batch", "0", "1", "1000", "1001", "a whole number, 1 to 1000"},
};

}  // namespace

TEST_CASE("each number is taken at its limits and refused one step beyond")
{
    for (const auto& r : rows) {
        CAPTURE(r.path);
        CHECK(problems_of(with(r.path, r.least)) == "");
        CHECK(problems_of(with(r.path, r.most)) == "");
        for (const auto* beyond : {r.below, r.above}) {
            if (beyond == nullptr) {
                continue;
            }
            const auto text = with(r.path, beyond);
            const auto column = std::to_string(text.find(": " + std::string{beyond}) + 3);
            CHECK(
                problems_of(text) ==
                "c.yml:1:" + column + ": " + r.path + ": \"" + beyond + "\" is out of range; expected " + r.meant + "\n"
            );
        }
    }
}

TEST_CASE("the table of limits above has every number of the schema")
{
    std::set<std::string_view> numbers;
    for (const auto& s : config::all_settings()) {
        const std::string_view form = s.key->form().described;
        if (form.starts_with("a duration") || form.starts_with("a size") || form.starts_with("a whole number") ||
            form.starts_with("a number")) {
            numbers.insert(s.path);
        }
    }
    std::set<std::string_view> tested;
    for (const auto& r : rows) {
        tested.insert(r.path);
    }
    CHECK(tested == numbers);
}

TEST_CASE("an agent's own timeout has the limits of the others")
{
    const auto with_timeout = [](const std::string& value) {
        return problems_of("agents: {a: {url: \"http://h\", timeout: " + value + "}}");
    };
    CHECK(with_timeout("1ms") == "");
    CHECK(with_timeout("24h") == "");
    CHECK(with_timeout("0") == "c.yml:1:40: agents.a.timeout: \"0\" is out of range; expected 1ms to 1d\n");
    CHECK(with_timeout("24h1ms") == "c.yml:1:40: agents.a.timeout: \"24h1ms\" is out of range; expected 1ms to 1d\n");
}

TEST_SUITE_END();
