// What MCP servers over HTTP may answer instead of messages.
#include "tests/flow/hostile_fixture.hpp"
#include "tests/support/plain_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

TEST_SUITE_BEGIN("flow/mcp_http_abuse");

namespace {

using namespace std::chrono_literals;
using flow::hostile_gateway;
using test_support::plain_agent;
using test_support::plain_exchange;
using agents = hostile_gateway::agents;

constexpr std::uint64_t some_messages = 48 * 1024 * 1024;

std::string member(std::string_view text, std::string_view before, std::string_view end)
{
    const auto at = text.find(before);
    return at == text.npos
               ? ""
               : std::string{text.substr(at + before.size(), text.substr(at + before.size()).find_first_of(end))};
}

std::string with_length(std::string_view body, std::string_view more = "", std::size_t length = 0)
{
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + std::string{more} +
           "Content-Length: " + std::to_string(length == 0 ? body.size() : length) + "\r\n\r\n" + std::string{body};
}

constexpr std::string_view stream_head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
constexpr std::string_view not_allowed = "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n";

// As a good server answers a POST.
bool answer(const plain_exchange& asked)
{
    const auto id = member(asked.body, R"("id":)", ",}");
    const auto method = member(asked.body, R"("method":")", "\"");
    if (id.empty()) {
        return asked.write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
    }
    const std::string_view result =
        method == "initialize"
            ? R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"s","version":"1"}})"
        : method == "tools/list" ? R"({"tools":[{"name":"kept","inputSchema":{}}]})"
                                 : "{}";
    return asked.write(with_length(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + std::string{result} + "}"));
}

bool again_and_again(const plain_exchange& asked, std::string_view head, std::string_view piece)
{
    std::string block;
    while (block.size() < 16 * 1024) {
        block += piece;
    }
    for (bool taken = asked.write(head); taken;) {
        taken = asked.write(block);
    }
    return false;
}

bool slowly(const plain_exchange& asked, std::string_view bytes)
{
    for (const char each : bytes) {
        if (!asked.write({&each, 1})) {
            return false;
        }
        std::this_thread::sleep_for(20ms);
    }
    return true;
}

using habit = std::function<bool(const plain_exchange&)>;

// Each under its path; what is asked with GET has its own.
class hostile_site {
public:
    hostile_site(std::map<std::string, habit> posts, std::map<std::string, habit> gets)
        : posts_{std::move(posts)},
          gets_{std::move(gets)},
          agent_{[this](const plain_exchange& asked) { return serve(asked); }}
    {
    }

    std::string url(std::string_view path) const { return agent_.url("/" + std::string{path}); }
    std::string origin() const { return agent_.url(); }

    // The heads of all requests to this path.
    std::string heads(const std::string& path) const
    {
        const std::lock_guard guard{mutex_};
        const auto found = heads_.find(path);
        return found == heads_.end() ? "" : found->second;
    }

private:
    bool serve(const plain_exchange& asked)
    {
        const auto path = member(asked.head, "/", " ?");
        {
            const std::lock_guard guard{mutex_};
            heads_[path] += asked.head;
        }
        const bool gets = asked.head.starts_with("GET ");
        const auto& habits = gets ? gets_ : posts_;
        const auto found = habits.find(path);
        if (found != habits.end()) {
            return found->second(asked);
        }
        return gets ? asked.write(not_allowed) : answer(asked);
    }

    mutable std::mutex mutex_;
    std::map<std::string, std::string> heads_;
    std::map<std::string, habit> posts_;
    std::map<std::string, habit> gets_;
    plain_agent agent_;
};

std::string over_http(const std::string& url, std::string_view type = "streamable-http")
{
    return "transport: {type: " + std::string{type} + ", url: \"" + url +
           R"("}, era: legacy, max_message: 256KiB, bearer: s3cr3t, )"
           "timeouts: {initialize: 500ms, request: 500ms}, restart: {backoff: 50ms, max_backoff: 50ms}";
}

constexpr auto change = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";

}  // namespace

TEST_CASE("an answer that never comes, never ends, lies, is packed or leads away begins no session, and says why")
{
    std::atomic<int> visits{0};
    plain_agent watched{[&](const plain_exchange& asked) {
        ++visits;
        return answer(asked);
    }};
    const auto away =
        "HTTP/1.1 307 Temporary Redirect\r\nContent-Length: 0\r\nLocation: " + watched.url("/mcp") + "\r\n\r\n";
    const auto endless = std::string(1000, 'x');
    const hostile_site site{
        {
            {"slow_head",
             [](const auto& asked) { return slowly(asked, "HTTP/1.1 200 OK\r\nX: " + std::string(500, 'x')); }},
            {"slow_body",
             [](const auto& asked) {
                 return slowly(asked, "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + std::string(500, ' '));
             }},
            {"long_head",
             [&](const auto& asked) { return again_and_again(asked, "HTTP/1.1 200 OK\r\n", "X: " + endless + "\r\n"); }
            },
            {"long_body",
             [&](const auto& asked) {
                 return again_and_again(asked, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n", endless);
             }},
            {"lie", [](const auto& asked) { return asked.write(with_length("{}", "", 100)) && false; }},
            {"packed",
             [](const auto& asked) { return asked.write(with_length("\x1f\x8b\x08", "Content-Encoding: gzip\r\n")); }},
            {"away", [&](const auto& asked) { return asked.write(away); }},
            {"comments", [](const auto& asked) { return again_and_again(asked, stream_head, ": there\n\n"); }},
            {"event",
             [&](const auto& asked) { return again_and_again(asked, std::string{stream_head} + "data: ", endless); }},
            {"interim", [](const auto& asked) { return again_and_again(asked, "", "HTTP/1.1 103 Early Hints\r\n\r\n"); }
            },
        },
        {}
    };
    agents all;
    // "no answer to the handshake" or "to initialize": two deadlines end at the same time.
    const std::map<std::string, std::string> reasons{
        {"slow_head", "no answer to "},
        {"slow_body", "no answer to "},
        {"long_head", "upstream_protocol"},
        {"long_body", "message_too_large"},
        {"lie", "upstream_reset"},
        {"packed", "upstream_protocol"},
        {"away", "status 307"},
        {"comments", "no answer to "},
        {"event", "message_too_large"},
        {"interim", "upstream_"},
    };
    for (const auto& [path, reason] : reasons) {
        all.declare(path, over_http(site.url(path)));
    }
    hostile_gateway gateway{all};
    for (const auto& [path, reason] : reasons) {
        CAPTURE(path);
        CHECK(flow::becomes_true(gateway, [&] { return gateway.session(path).contains("reason"); }));
        const auto line = gateway.event("mcp_session", "\"agent\":\"" + path + '"', R"("reason":"handshake_)");
        REQUIRE(line.has_value());
        CHECK_MESSAGE(line->find(reason) != std::string::npos, *line);
        CHECK(gateway.card(path).status == 503);
    }
    gateway.served_within();
    CHECK(flow::facts_of(gateway.id()).peak_memory < 4 * some_messages);
    CHECK(visits == 0);
    CHECK(site.heads("away").find("s3cr3t") != std::string::npos);
}

TEST_CASE("an endpoint at another origin is never asked")
{
    std::atomic<int> visits{0};
    plain_agent watched{[&](const plain_exchange& asked) {
        ++visits;
        return answer(asked);
    }};
    const auto event = [&](const std::string& where) {
        return [=](const plain_exchange& asked) {
            return asked.write(std::string{stream_head} + "event: endpoint\ndata: " + where + "\n\n") &&
                   asked.wait_for_end().has_value();
        };
    };
    const auto port = ":" + std::to_string(watched.port());
    const std::map<std::string, std::string> endpoints{
        {"other", watched.url("/mcp")},
        {"relative", "//127.0.0.1" + port + "/mcp"},
        {"script", "javascript:alert(1)"},
        {"file", "file:///etc/passwd"},
        {"userinfo", "http://x@127.0.0.1" + port + "/mcp"},
        {"name", "http://localhost" + port + "/mcp"},
    };
    std::map<std::string, habit> gets;
    for (const auto& [path, where] : endpoints) {
        gets.emplace(path, event(where));
    }
    const hostile_site site{{}, gets};
    agents all;
    for (const auto& [path, where] : endpoints) {
        all.declare(path, over_http(site.url(path), "sse"));
    }
    hostile_gateway gateway{all};
    for (const auto& [path, where] : endpoints) {
        CAPTURE(path);
        CHECK(flow::becomes_true(gateway, [&] { return gateway.session(path).contains("reason"); }));
        CHECK(
            gateway.event("mcp_session", "\"agent\":\"" + path + '"', "no endpoint of the same origin was named first")
        );
    }
    CHECK(visits == 0);
    gateway.served_within();
}

TEST_CASE(
    "a stream of what a server says unasked may be endless, wrong or silent: the session stands, and nobody else "
    "notices"
)
{
    const auto endless = std::string(1000, 'x');
    const hostile_site site{
        {},
        {
            {"comments", [](const auto& asked) { return again_and_again(asked, stream_head, ": there\n\n"); }},
            {"changes",
             [](const auto& asked) {
                 return again_and_again(asked, stream_head, "data: " + std::string{change} + "\n\n");
             }},
            {"event",
             [&](const auto& asked) { return again_and_again(asked, std::string{stream_head} + "data: ", endless); }},
        }
    };
    for (const std::string path : {"comments", "changes", "event"}) {
        CAPTURE(path);
        hostile_gateway gateway{agents{}.declare(path, over_http(site.url(path)))};
        const auto before = flow::facts_of(gateway.id());
        REQUIRE(flow::becomes_true(gateway, [&] { return gateway.skills(path) == 1; }));
        std::this_thread::sleep_for(1500ms);
        const auto begun = std::chrono::steady_clock::now();
        const auto cpu = flow::facts_of(gateway.id()).cpu_seconds;
        std::chrono::milliseconds slowest{0};
        while (std::chrono::steady_clock::now() - begun < 1s) {
            slowest = std::max(slowest, gateway.served_within());
            std::this_thread::sleep_for(20ms);
        }
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
        const auto after = flow::facts_of(gateway.id());
        const auto part = (after.cpu_seconds - cpu) / took.count();
        MESSAGE(path << ": " << part << " of a core, slowest card " << slowest.count() << " ms");
        CHECK(part < 0.75);
        CHECK(slowest < 500ms);
        CHECK(after.peak_memory < before.peak_memory + some_messages);
        CHECK(gateway.skills(path) == 1);
    }
}

TEST_SUITE_END();
