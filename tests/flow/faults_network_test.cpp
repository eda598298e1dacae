// Faults that only a network of the test's own can have: a DNS server that answers wrongly, and no port left. What the gateway looks
// names up with is the system's.
#include "tests/flow/own_faults_fixture.hpp"
#include "tests/support/name_server.hpp"
#include "tests/support/own_network.hpp"

#include <string>
#include <vector>

using namespace flow;
using namespace flow::own_faults;
using test_support::name_reply;
using test_support::own_network;

TEST_SUITE_BEGIN("flow/faults_network" * doctest::skip(!flow::system_can_fail));

namespace {

const std::string settings = quiet(", dns: 300ms") + "store: memory\nworkers: 1\n";

void check_ran(bool ran)
{
    if (!ran) {
        MESSAGE("not run: a network of its own is refused");
    }
}

test_support::script close_after(const test_support::recorded_request&)
{
    return test_support::answer_json(R"({"done":1})", {{"Connection", "close"}});
}

// A gateway in front of an agent at a name, both in the thread's own network.
struct named {
    explicit named(const std::string& dns)
        : agent{close_after},
          gateway{
              settings + "dns: " + dns + "\nagents: {a: {url: 'http://agent.example:" + std::to_string(agent.port()) +
              "/rpc'}}\n"
          }
    {
    }

    test_support::name_server names;
    scripted_agent agent;
    faulty_gateway gateway;
};

struct resolver_file {
    resolver_file() { test_support::write_whole(path(), "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"); }
    std::string path() const { return here.file("resolv.conf"); }
    test_support::scratch_directory here;
};

}  // namespace

TEST_CASE("Whatever is wrong with a DNS server's answers, a call gets 502 in time, and works within a second after it")
{
    const struct {
        std::string what;
        name_reply reply;
    } rows[] = {
        {"NXDOMAIN", name_reply::no_such_name},
        {"SERVFAIL", name_reply::failure},
        {"no answer", name_reply::silence},
        {"the answer to another question", name_reply::wrong_id},
        {"a truncated answer, and nothing over TCP", name_reply::truncated},
        {"a name that is another name of itself", name_reply::loop},
        {"no address", name_reply::empty},
    };
    const resolver_file file;
    check_ran(own_network::run(
        [&] {
            for (const auto& row : rows) {
                CAPTURE(row.what);
                named x{"{refresh: 1s, stale: 1s}"};
                x.names.reply(row.reply);
                for (int i = 0; i < 2; ++i) {
                    const auto begun = std::chrono::steady_clock::now();
                    flow::check_jsonrpc_error(x.gateway.call(), flow::unresolved, "1");
                    CHECK(std::chrono::steady_clock::now() - begun < 1s);
                }
                CHECK(x.names.questions() > 0);
                CHECK(x.agent.request_count() == 0);
                x.names.reply(name_reply::address);
                CHECK(faulty_gateway::time_until([&] { return x.gateway.call().status == 200; }) <= 1s);
                x.gateway.end();
            }
        },
        file.path()
    ));
}

TEST_CASE("An address that lives for no time is used until the next lookup, and a server that is gone costs no call")
{
    const resolver_file file;
    check_ran(own_network::run(
        [&] {
            named x{"{refresh: 1s, stale: 1m}"};
            x.names.live(0);
            CHECK(x.gateway.call().status == 200);
            const auto asked = x.names.questions();
            for (int i = 0; i < 50; ++i) {
                CHECK(x.gateway.call().status == 200);
            }
            CHECK(x.names.questions() - asked < 50);
            x.names.reply(name_reply::silence);
            REQUIRE(flow::becomes_true([&] { return x.gateway.metric("cardea_dns_failures_total") >= 1; }));
            for (int i = 0; i < 20; ++i) {
                CHECK(x.gateway.call().status == 200);
            }
            x.gateway.end();
        },
        file.path()
    ));
}

TEST_CASE("When the address of a name changes, its streams go on at the old one, and new calls go to the new one")
{
    const resolver_file file;
    check_ran(own_network::run(
        [] {
            named x{"{refresh: 1s, stale: 1m}"};
            scripted_agent after{
                [](const auto&) { return test_support::answer_json(R"({"after":1})"); },
                {.address = "127.0.0.2", .port = x.agent.port()}
            };
            x.agent.otherwise([](const auto& asked) {
                const bool stream = asked.body.find("message/stream") != std::string::npos;
                return stream ? test_support::event_stream() : test_support::answer_json(R"({"before":1})");
            });
            http_client stream{x.gateway.port()};
            stream.send(call_text(call_body("1", "message/stream")));
            REQUIRE(stream.read_head().status == 200);
            x.names.reply(name_reply::other);
            CHECK(flow::becomes_true([&] { return x.gateway.call().body == R"({"after":1})"; }));
            for (int i = 0; i < 20; ++i) {
                x.agent.send_event(std::to_string(i));
                CHECK(stream.read_until("data: " + std::to_string(i) + "\n\n").size() > 8);
                CHECK(x.gateway.call().body == R"({"after":1})");
            }
            x.agent.end_streams();
            x.gateway.end();
        },
        file.path()
    ));
}

TEST_CASE("While no port is left for connections to an agent its calls get 502, and succeed when one is free")
{
    check_ran(own_network::run([] {
        scripted_agent agent{[](const auto&) { return test_support::event_stream(); }};
        faulty_gateway gateway{settings + "agents: {a: {url: '" + agent.url("/rpc") + "'}}\n"};
        std::vector<http_client> callers;
        for (std::size_t i = 0; i < 9; ++i) {
            callers.emplace_back(gateway.port());
        }
        if (!own_network::limit_ports("40000 40006")) {
            MESSAGE("not run: the range of ports cannot be set");
            return;
        }
        std::size_t streams = 0;
        auto status = 200U;
        while (status == 200 && streams < callers.size()) {
            callers[streams].send(call_text(call_body("1", "message/stream")));
            status = callers[streams].read_head().status;
            streams += status == 200 ? 1 : 0;
        }
        CHECK(streams > 1);
        CHECK(streams <= 7);
        callers[8].send(call_text(call_body()));
        flow::check_jsonrpc_error(callers[8].read_response(), flow::refused, "1");
        agent.otherwise([](const auto&) { return test_support::answer_json("{}"); });
        agent.end_streams();
        CHECK(faulty_gateway::time_until([&] {
                  callers[8].send(call_text(call_body()));
                  return callers[8].read_response().status == 200;
              }) <= 1s);
        CHECK(own_network::limit_ports("30000 60000"));
        gateway.end();
    }));
}

TEST_SUITE_END();
