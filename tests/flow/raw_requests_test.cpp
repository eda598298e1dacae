// Raw bytes against the whole gateway: what must be refused reaches no agent, what may pass is passed with its framing
// made again. The cases and what each proves are in tests/data/http/raw_requests.json.
#include "core/json/json.hpp"
#include "net/upstream/via.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace std::chrono_literals;
using core::json;
using test_support::http_client;
using test_support::recorded_request;
using test_support::scripted_agent;

TEST_SUITE_BEGIN("flow/raw_requests");

namespace {

struct piece {
    std::string bytes;
    bool end = false;  // half-close after it
};

struct raw_case {
    std::string id;
    std::string expect;
    std::vector<unsigned> statuses;
    bool may_close = true;
    std::vector<piece> send;
};

// The file writes bytes as Latin-1 text.
std::string bytes_of(const std::string& utf8)
{
    std::string out;
    for (std::size_t i = 0; i < utf8.size(); ++i) {
        const auto first = static_cast<unsigned char>(utf8[i]);
        if (first < 0x80) {
            out += utf8[i];
        } else {
            const auto second = static_cast<unsigned char>(utf8[++i]);
            out += static_cast<char>(((first & 0x1FU) << 6U) | (second & 0x3FU));
        }
    }
    return out;
}

std::vector<raw_case> read_cases()
{
    std::ifstream file{CARDEA_TEST_DATA "/http/raw_requests.json"};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    const auto document = core::parse_json(text, {.bytes = 4 * 1024 * 1024, .depth = 16});
    REQUIRE(document.has_value());
    std::vector<raw_case> cases;
    for (const auto& each : document->at("cases")) {
        raw_case one;
        one.id = each.at("id").get<std::string>();
        one.expect = each.at("expect").get<std::string>();
        std::istringstream statuses{each.at("status").get<std::string>()};
        for (std::string status; std::getline(statuses, status, '/');) {
            if (status != "close") {
                one.statuses.push_back(static_cast<unsigned>(std::stoul(status)));
            }
        }
        for (const auto& part : each.at("send")) {
            piece p{bytes_of(part.at("bytes").get<std::string>()), false};
            if (p.bytes.ends_with("<FIN>")) {
                p.bytes.resize(p.bytes.size() - 5);
                p.end = true;
            }
            one.send.push_back(std::move(p));
        }
        cases.push_back(std::move(one));
    }
    return cases;
}

// What came back, message by message, until the gateway closed or had nothing more to say.
struct conversation {
    std::vector<unsigned> statuses;
    bool closed = false;
};

conversation play(http_client client, const raw_case& one)
{
    for (const auto& p : one.send) {
        if (!client.try_send(p.bytes)) {
            break;  // refused before everything was sent, which is as good
        }
        if (p.end) {
            client.half_close();
        }
    }
    conversation heard;
    const std::size_t most = 8;
    while (heard.statuses.size() < most) {
        if (client.closed_by_peer(heard.statuses.empty() ? 2500ms : 150ms)) {
            heard.closed = true;
            break;
        }
        try {
            heard.statuses.push_back(client.read_response().status);
        } catch (const std::runtime_error&) {
            break;  // nothing more in time, or bytes that are no answer: the checks below say what is missing
        }
    }
    return heard;
}

bool listed(const raw_case& one, unsigned status)
{
    return std::find(one.statuses.begin(), one.statuses.end(), status) != one.statuses.end();
}

// What no request may carry to an agent, whatever the caller wrote.
void check_passed_on(const recorded_request& seen)
{
    CHECK(seen.target.starts_with("/"));
    CHECK(seen.count("Content-Length") <= 1);
    CHECK(seen.count("Transfer-Encoding") == 0);
    CHECK(seen.count("Connection") == 0);
    CHECK(seen.count("Upgrade") == 0);
    CHECK(seen.count("HTTP2-Settings") == 0);
    CHECK(seen.count("Expect") == 0);
    CHECK(seen.count("Authorization") == 0);
    CHECK(seen.count("X-Forwarded-For") == 1);
    CHECK(seen.header("X-Forwarded-For") == "127.0.0.1");
    CHECK(seen.count("X-Secret") == 0);
    CHECK(seen.count("x_under") == 0);
    CHECK(seen.count("Trailer") == 0);
    CHECK(seen.count("Host") == 1);
    CHECK(seen.header("Host").starts_with("127.0.0.1:"));
    CHECK(seen.header("Via").ends_with(" " + std::string(net::own_pseudonym())));
}

// `ca` null: plain.
void play_all(test_support::test_ca* ca)
{
    const auto cases = read_cases();
    REQUIRE(cases.size() >= 143);
    const auto shown = ca == nullptr ? test_support::certificate{} : ca->issue({"127.0.0.1"});
    for (const auto& one : cases) {
        CAPTURE(one.id);
        CAPTURE(one.expect);
        scripted_agent agent{[](const auto&) { return test_support::answer(200, "ok"); }};
        auto settings = flow::quick_settings();
        settings.hosts = {"gw.test"};
        settings.http2 = false;  // one case is the preface of HTTP/2
        settings.timeouts.header = 1s;
        settings.timeouts.body = 1s;
        auto record = flow::a2a_agent("a", agent.url("/base"));
        record.relay_paths = {"/**"};
        settings.agents.push_back(std::move(record));
        if (ca != nullptr) {
            settings.tls = {{shown.cert_file, shown.key_file, {}}};
        }
        const flow::running_gateway gateway{std::move(settings)};

        // For an answer that has begun, or a second one.
        const auto patience = one.expect == "wait" ? std::chrono::milliseconds{3s} : 500ms;
        const auto heard = play(
            ca == nullptr ? http_client{gateway.port(), patience}
                          : http_client{gateway.port(), test_support::tls_caller{ca->ca_file()}, patience},
            one
        );

        const auto requests = agent.requests();
        for (const auto& seen : requests) {
            check_passed_on(seen);
        }
        if (one.expect == "reject") {
            CHECK(requests.empty());
            CHECK(agent.accepted_connections() == 0);
            CHECK(heard.closed);
            CHECK(heard.statuses.size() <= 1);
            for (const auto status : heard.statuses) {
                CAPTURE(status);
                CHECK(listed(one, status));
            }
        } else if (one.expect == "ok") {
            // Two cases of the file send a path that no agent has: what they show is that it is read as one request.
            const bool routed = one.send.front().bytes.find("/agents/a") != std::string::npos || one.send.size() > 8;
            CHECK(requests.size() == (routed && one.id != "F15" && one.id != "F16" ? 1 : 0));
            REQUIRE(heard.statuses.size() == 1);
            CHECK(heard.statuses.front() == (requests.size() == 1 ? 200 : 404));
        } else if (one.expect == "ok2") {
            CHECK(requests.size() >= 2);
            CHECK(heard.statuses.size() == requests.size());
        } else if (one.expect == "norm") {
            CHECK(requests.size() <= 1);
        } else {
            CHECK(one.expect == "wait");
            CHECK(requests.empty());
            REQUIRE(heard.statuses.size() == 1);
            CHECK(heard.statuses.front() == 408);
        }
    }
}

}  // namespace

TEST_CASE("every raw request is refused without a byte to the agent, or passed on in a form of our own")
{
    play_all(nullptr);
}

TEST_CASE("the same holds over TLS")
{
    test_support::test_ca ca;
    play_all(&ca);
}

TEST_SUITE_END();
