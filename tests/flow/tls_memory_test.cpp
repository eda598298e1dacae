// What a connection over TLS costs the gateway's process while nothing happens on it.
#include "tests/flow/child_process.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/test_ca.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <list>

using flow::call_body;
using flow::call_text;
using test_support::http_client;
using test_support::test_ca;

TEST_SUITE_BEGIN("flow/tls_memory");

TEST_CASE("an idle connection over TLS costs less than 17 kB, and one with a silent stream less than 40 kB")
{
    constexpr long warm = 20;
    constexpr long connections = 200;
    test_ca ca;
    const auto shown = ca.issue({"127.0.0.1"});
    for (const bool streaming : {false, true}) {
        CAPTURE(streaming);
        test_support::scripted_agent agent{[&](const auto&) {
            return streaming ? test_support::event_stream() : test_support::answer_json("{}");
        }};
        // A card fetched meanwhile would count: libcurl is made at the first fetch.
        const auto config = ca.file("cardea.yml");
        std::ofstream{config} << "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nworkers: 1\nstore: memory\ncards: "
                                 "{background: 0}\nlog: {level: warn}\ntls: {cert: "
                              << shown.cert_file << ", key: " << shown.key_file << "}\nagents: {a: {url: \""
                              << agent.url() << "\"}}\n";
        flow::child_process gateway{CARDEA_BIN, {"run", "-c", config}};
        const auto listening = gateway.wait_for_line([](auto line) { return line.find("listening") != line.npos; });
        REQUIRE(listening.has_value());
        std::list<http_client> callers;
        const auto open_until = [&](long count) {
            while (static_cast<long>(callers.size()) < count) {
                auto& caller = callers.emplace_back(
                    flow::listening_port(*listening, "traffic"),
                    test_support::tls_caller{ca.ca_file()},
                    test_support::patience
                );
                caller.send(call_text(call_body("1", streaming ? "message/stream" : "message/send")));
                CHECK(caller.read_head().status == 200);
            }
        };
        open_until(warm);
        // What else the process takes for itself meanwhile, it takes once.
        auto each = std::numeric_limits<std::uint64_t>::max();
        for (const int round : {1, 2}) {
            const auto before = gateway.private_memory();
            open_until(warm + round * connections);
            each = std::min(each, before ? (*gateway.private_memory() - *before) / connections : 0);
        }
        MESSAGE(each << " bytes for each connection" << (streaming ? " with a stream" : ""));
        CHECK(each < (streaming ? 40'000 : 17'000));
    }
}

TEST_SUITE_END();
