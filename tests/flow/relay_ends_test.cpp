// What a caller still gets of an answer that is cut: all that came of it, whoever cuts it, and however late it reads.
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <charconv>

using namespace std::chrono_literals;
using flow::call_body;
using flow::call_text;
using flow::relayed;
using test_support::bytes;
using test_support::http_client;
using test_support::script;

TEST_SUITE_BEGIN("flow/relay");

namespace {

// As much as the sockets between a gateway and a caller that does not read take, and more than the caller's own does.
constexpr int events = 60;
constexpr std::size_t event_size = 2000;

std::string event(int number)
{
    auto text = "data: event-" + std::to_string(number) + ' ';
    return text.append(event_size - text.size() - 2, 'x') + "\n\n";
}

std::string all_events()
{
    std::string all;
    for (int i = 0; i < events; ++i) {
        all += event(i);
    }
    return all;
}

std::string chunk(const std::string& data)
{
    auto coded = flow::chunked(data, data.size());
    return coded.substr(0, coded.size() - std::string_view{"0\r\n\r\n"}.size());
}

const std::string stream_head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
const std::string chunked_head = stream_head + "Transfer-Encoding: chunked\r\n\r\n";

int count_events(const std::string& got)
{
    int count = 0;
    for (auto at = got.find("data: event-"); at != std::string::npos; at = got.find("data: event-", at + 1)) {
        ++count;
    }
    return count;
}

// What the access line says was sent.
std::size_t bytes_out(const std::string& line)
{
    constexpr std::string_view name = "\"bytes_out\":";
    const auto at = line.find(name);
    REQUIRE(at != std::string::npos);
    std::size_t value = 0;
    std::from_chars(line.data() + at + name.size(), line.data() + line.size(), value);
    return value;
}

struct cut {
    std::string name;
    script agent;
    std::string reason;  // upstream_errors
};

std::vector<cut> cuts()
{
    const auto chunks = chunked_head + chunk(all_events());
    const std::string sized = stream_head + "Content-Length: 1000000\r\n\r\n";
    const std::string too_large = "data: " + std::string(4000, 'y');
    return {
        {"the agent breaks off", {bytes{chunks}, test_support::close_now{}}, "upstream_reset"},
        {"the agent breaks off an answer with a length",
         {bytes{sized + all_events()}, test_support::close_now{}},
         "upstream_reset"},
        {"the agent falls silent", {bytes{chunks}, test_support::hold{}}, "upstream_timeout"},
        {"the agent's framing breaks", {bytes{chunks + "ZZ\r\n"}, test_support::hold{}}, "upstream_protocol"},
        {"an event is too large", {bytes{chunks}, bytes{chunk(too_large)}, test_support::hold{}}, "event_too_large"},
        {"an event that is too large comes with others",
         {bytes{chunked_head + chunk(all_events() + too_large)}, test_support::hold{}},
         "event_too_large"},
        {"an event that is too large comes with others in an answer with a length",
         {bytes{sized + all_events() + too_large}, test_support::hold{}},
         "event_too_large"},
    };
}

void impatient(config::settings& settings)
{
    settings.timeouts.upstream_idle = 300ms;
    settings.limits.sse_event = 3000;
}

}  // namespace

TEST_CASE("a caller that reads late gets every event that came before its stream was cut, and no end")
{
    for (const auto& each : cuts()) {
        CAPTURE(each.name);
        const relayed x{each.agent, impatient};
        http_client caller{x.port()};
        caller.send(call_text(call_body("1", "message/stream")));
        CHECK(x.gateway.wait_for_metric(R"(cardea_upstream_errors_total{agent="a",reason=")" + each.reason + "\"}", 1));
        const auto got = caller.read_until_closed();
        CHECK(count_events(got) == events);
        CHECK(got.find("data: event-59") != std::string::npos);
        CHECK_FALSE(got.ends_with("0\r\n\r\n"));
        const auto lines = flow::access_lines(x.gateway, 1);
        REQUIRE(lines.size() == 1);
        CHECK(got.size() == bytes_out(lines[0]));
    }
}

TEST_CASE("over TLS a caller that reads late gets every event too, and the end is not said in TLS")
{
    test_support::test_ca ca;
    const auto pair = ca.issue({"127.0.0.1"});
    for (const auto& each : cuts()) {
        CAPTURE(each.name);
        const relayed x{each.agent, [&](config::settings& s) {
                            impatient(s);
                            s.tls = {config::certificate_files{pair.cert_file, pair.key_file, {}}};
                        }};
        http_client caller{x.port(), test_support::tls_caller{ca.ca_file()}};
        caller.send(call_text(call_body("1", "message/stream")));
        CHECK(x.gateway.wait_for_metric(R"(cardea_upstream_errors_total{agent="a",reason=")" + each.reason + "\"}", 1));
        const auto got = caller.read_until_closed();
        CHECK(count_events(got) == events);
        CHECK_FALSE(got.ends_with("0\r\n\r\n"));
        CHECK_FALSE(caller.ended_in_order());
    }
}

TEST_CASE("a caller that reads late gets every byte that was sent when the gateway stopped")
{
    for (const bool takes_nothing : {false, true}) {
        CAPTURE(takes_nothing);
        relayed x{test_support::event_stream(), [](config::settings& s) {
                      s.timeouts.drain = 1h;
                      s.timeouts.drain_streams = 300ms;
                  }};
        http_client caller{x.port()};
        caller.send(call_text(call_body("1", "message/stream")));
        REQUIRE(x.agent.wait_for_streams(1));
        for (int i = 0; i < (takes_nothing ? 100 * events : events); ++i) {  // far more than the sockets hold, or less
            x.agent.send_stream(event(i));
        }
        x.gateway.stop();
        CHECK(x.gateway.wait_until_stopped(10s));
        const auto got = caller.read_until_closed();
        CHECK_FALSE(got.ends_with("0\r\n\r\n"));
        const auto lines = flow::access_lines(x.gateway, 1);
        REQUIRE(lines.size() == 1);
        CHECK(lines[0].find(R"("code":"draining")") != std::string::npos);
        CHECK(lines[0].find(R"("stream":"drain")") != std::string::npos);
        CHECK(bytes_out(lines[0]) > events * event_size / 2);
        CHECK(got.size() == bytes_out(lines[0]));
    }
}

TEST_SUITE_END();
