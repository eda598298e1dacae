// What the answers of /rpc may be, and the memory that they may take.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scripted_agent.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>

#include <doctest/doctest.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <future>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/management_limits");

namespace {

using core::json;
using flow::managing;
using flow::post_json;
using flow::quick_settings;
using flow::running_gateway;

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = 1024 * kib;

core::agent agent_with_card(std::string id, std::size_t size)
{
    auto made = flow::a2a_agent(std::move(id), "http://127.0.0.1:1/");
    made.card = R"({"name":"A","url":"http://127.0.0.1:1/","version":"1","skills":[],"description":")" +
                std::string(size, 'x') + "\"}";
    return made;
}

std::string batch_of(std::size_t count, const std::string& method, const std::string& params)
{
    std::string body;
    for (std::size_t i = 0; i < count; ++i) {
        body += (i == 0 ? "[" : ",") + managing(method, params);
    }
    return body + "]";
}

config::settings settings_with_card(std::size_t size)
{
    auto settings = quick_settings();
    settings.cards.max_size = 2 * mib;
    settings.agents.push_back(agent_with_card("a", size));
    return settings;
}

json items_of(const test_support::http_response& answer)
{
    REQUIRE(answer.status == 200);
    auto items = core::parse_json(answer.body, {.bytes = 64 * mib});
    REQUIRE(items.has_value());
    return std::move(*items);
}

}  // namespace

TEST_CASE("agents/get shows a card of any size that is served, as it is served")
{
    const running_gateway gateway{settings_with_card(1'500'000)};
    const auto served = flow::get_card(gateway, "a");
    REQUIRE(served.status == 200);
    REQUIRE(served.body.size() > 1'500'000);
    for (const auto port : {gateway.port(), gateway.admin_port()}) {
        const auto answer = post_json(port, "/rpc", managing("agents/get", R"({"id":"a"})"));
        CHECK(answer.status == 200);
        CHECK(answer.body.ends_with(R"("card":)" + served.body + "}}"));
        CHECK(answer.body.starts_with(R"({"jsonrpc":"2.0","id":)"));
        const auto batch = post_json(port, "/rpc", batch_of(1, "agents/get", R"({"id":"a"})"));
        CHECK(batch.body.ends_with(R"("card":)" + served.body + "}}]"));
    }
}

TEST_CASE(
    "The results of a batch take limits.rpc_answer; one that does not fit is too_large, and those behind it are tried"
)
{
    std::size_t whole = 0;
    const auto body = batch_of(3, "agents/get", R"({"id":"a"})");
    {
        const running_gateway gateway{settings_with_card(100'000)};
        REQUIRE(flow::get_card(gateway, "a").status == 200);
        whole = post_json(gateway.port(), "/rpc", body).body.size();
        REQUIRE(whole > 300'000);
    }
    for (const auto limit : {whole - 1, whole, whole + 1}) {
        CAPTURE(limit);
        auto settings = settings_with_card(100'000);
        settings.limits.rpc_answer = limit;
        const running_gateway gateway{std::move(settings)};
        REQUIRE(flow::get_card(gateway, "a").status == 200);
        const auto answer = post_json(gateway.port(), "/rpc", body);
        const auto items = items_of(answer);
        REQUIRE(items.size() == 3);
        CHECK(items[0].contains("result"));
        CHECK(items[1].contains("result"));
        if (limit >= whole) {
            CHECK(items[2].contains("result"));
            CHECK(answer.body.size() == whole);
            continue;
        }
        CHECK(items[2]["error"]["code"] == -31413);
        CHECK(items[2]["error"]["data"] == json{{"code", "too_large"}});
        // A small one behind a large one fits.
        const auto mixed = "[" + managing("agents/get", R"({"id":"a"})") + "," +
                           managing("agents/get", R"({"id":"a"})") + "," + managing("agents/get", R"({"id":"a"})") +
                           "," + managing("agents/health", R"({"id":"a"})") + "]";
        const auto more = items_of(post_json(gateway.port(), "/rpc", mixed));
        REQUIRE(more.size() == 4);
        CHECK(more[2].contains("error"));
        CHECK(more[3].contains("result"));
    }
}

TEST_CASE("Fifty cards of a megabyte are not fifty megabytes")
{
    const running_gateway gateway{settings_with_card(1'000'000)};
    REQUIRE(flow::get_card(gateway, "a").status == 200);
    const auto answer = post_json(gateway.port(), "/rpc", batch_of(50, "agents/get", R"({"id":"a"})"));
    CHECK(answer.body.size() < 4 * mib + 50 * 200);
    const auto items = items_of(answer);
    REQUIRE(items.size() == 50);
    CHECK(items[3].contains("result"));
    CHECK(items[4]["error"]["data"]["code"] == "too_large");
}

TEST_CASE(
    "A page of agents ends before limits.rpc_answer, alone and in a batch, and the next one goes on where it ended"
)
{
    auto settings = quick_settings();
    settings.cards.background = 0;
    settings.limits.rpc_answer = 8 * kib;
    constexpr int many = 40;
    for (int i = 0; i < many; ++i) {
        settings.agents.push_back(flow::a2a_agent("a" + std::to_string(100 + i), "http://127.0.0.1:1/"));
        settings.agents.back().metadata = R"({"note":")" + std::string(1000, 'n') + "\"}";
    }
    settings.agents.push_back(flow::a2a_agent("large", "http://127.0.0.1:1/"));
    settings.agents.back().metadata = R"({"note":")" + std::string(20'000, 'n') + "\"}";
    const running_gateway gateway{std::move(settings)};
    std::vector<std::string> seen;
    std::string after;
    bool more = true;
    while (more && seen.size() <= many) {
        const auto answer =
            post_json(gateway.admin_port(), "/rpc", managing("agents/list", json{{"after", after}}.dump()));
        const auto result = flow::parsed(answer.body)["result"];
        REQUIRE(result["agents"].size() > 0);
        CHECK((answer.body.size() <= 8 * kib || result["agents"].size() == 1));
        for (const auto& each : result["agents"]) {
            CHECK(each["metadata"]["note"].get<std::string>().size() >= 1000);
            seen.push_back(each["id"].get<std::string>());
        }
        more = result.contains("next");
        after = more ? result["next"].get<std::string>() : after;
    }
    CHECK(seen.size() == many + 1);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    const auto items = items_of(post_json(gateway.admin_port(), "/rpc", batch_of(3, "agents/list", "{}")));
    REQUIRE(items.size() == 3);
    CHECK(items[0]["result"].contains("next"));
    CHECK(items[2]["error"]["data"]["code"] == "too_large");
}

TEST_CASE("Answers that nobody takes are bounded by limits.rpc_memory: then 503, but not for the admin listener")
{
    auto settings = settings_with_card(1'000'000);
    settings.limits.rpc_answer = 64 * mib;
    settings.limits.rpc_memory = 40 * mib;
    const running_gateway gateway{std::move(settings)};
    REQUIRE(flow::get_card(gateway, "a").status == 200);
    const auto large = batch_of(25, "agents/get", R"({"id":"a"})");
    const auto small = batch_of(8, "agents/get", R"({"id":"a"})");
    test_support::http_client slow{gateway.port()};
    slow.send(test_support::request_text("POST", "/rpc", {{"Content-Type", "application/json"}}, large));
    CHECK(slow.read_head().status == 200);
    // Of thirty megabytes for callers twenty-five are taken.
    const auto refused = post_json(gateway.port(), "/rpc", small);
    flow::check_refusal(refused, 503, "overloaded", "");
    CHECK_FALSE(refused.header("Retry-After").empty());
    CHECK(post_json(gateway.admin_port(), "/rpc", small).status == 200);
    CHECK(post_json(gateway.port(), "/rpc", managing("agents/get", R"({"id":"a"})")).status == 200);
    slow.reset();
    CHECK(flow::becomes_true([&] { return post_json(gateway.port(), "/rpc", small).status == 200; }));
}

TEST_CASE("What is left of a batch is not carried out when its caller has left")
{
    for (const bool admin : {false, true}) {
        CAPTURE(admin);
        std::promise<void> asked;
        std::promise<void> released;
        auto release = released.get_future().share();
        test_support::scripted_agent first{[&](const auto&) {
            asked.set_value();
            release.wait();
            return test_support::answer_json(R"({"name":"A"})");
        }};
        test_support::scripted_agent second{[](const auto&) { return test_support::answer_json(R"({"name":"B"})"); }};
        auto settings = quick_settings();
        settings.access.providers = {flow::token("reader", "reader-token-0123456789", {core::scope_read})};
        settings.cards.background = 0;
        settings.agents.push_back(flow::a2a_agent("a", first.url()));
        settings.agents.push_back(flow::a2a_agent("b", second.url()));
        const running_gateway gateway{std::move(settings)};
        const auto port = admin ? gateway.admin_port() : gateway.port();
        test_support::http_client caller{port};
        auto headers = flow::reader;
        headers.emplace_back("Content-Type", "application/json");
        const auto body = "[" + managing("agents/refreshCard", R"({"id":"a"})") + "," +
                          managing("agents/refreshCard", R"({"id":"b"})") + "]";
        caller.send(test_support::request_text("POST", "/rpc", headers, body));
        asked.get_future().wait();
        caller.reset();
        // The loop has acted upon whatever it heard before these.
        for (int i = 0; i < 20; ++i) {
            test_support::request(port, "GET", admin ? "/healthz" : "/agents/none");
        }
        released.set_value();
        CHECK(flow::becomes_true([&] {
            return flow::manage(gateway, "agents/get", {{"id", "a"}})["card_status"]["state"] == "fresh";
        }));
        CHECK(flow::manage(gateway, "agents/get", {{"id", "b"}})["card_status"]["state"] == "unknown");
        CHECK(second.request_count() == 0);
    }
}

TEST_CASE("What is left of a batch is not carried out for a caller that has closed its half for long")
{
    std::promise<void> asked;
    std::promise<void> released;
    auto release = released.get_future().share();
    test_support::scripted_agent first{[&](const auto&) {
        asked.set_value();
        release.wait();
        return test_support::answer_json(R"({"name":"A"})");
    }};
    test_support::scripted_agent second{[](const auto&) { return test_support::answer_json(R"({"name":"B"})"); }};
    auto settings = quick_settings();
    settings.cards.background = 0;
    settings.cards.timeout = test_support::patience;
    settings.timeouts.header = std::chrono::milliseconds{500};
    settings.agents.push_back(flow::a2a_agent("a", first.url()));
    settings.agents.push_back(flow::a2a_agent("b", second.url()));
    const running_gateway gateway{std::move(settings)};
    test_support::http_client caller{gateway.admin_port()};
    const auto body = "[" + managing("agents/refreshCard", R"({"id":"a"})") + "," +
                      managing("agents/refreshCard", R"({"id":"b"})") + "]";
    caller.send(test_support::request_text("POST", "/rpc", {{"Content-Type", "application/json"}}, body));
    asked.get_future().wait();
    caller.half_close();
    // The loop has acted upon whatever it heard before these.
    for (int i = 0; i < 20; ++i) {
        test_support::request(gateway.admin_port(), "GET", "/healthz");
    }
    // The grace of the first caller, 250 ms, began before the time of this head and is shorter.
    test_support::http_client late{gateway.admin_port()};
    late.send("GET");
    CHECK(late.read_response().status == 408);
    released.set_value();
    caller.read_until_closed();
    CHECK(flow::manage(gateway, "agents/get", {{"id", "a"}})["card_status"]["state"] == "fresh");
    CHECK(flow::manage(gateway, "agents/get", {{"id", "b"}})["card_status"]["state"] == "unknown");
    CHECK(second.request_count() == 0);
}

TEST_CASE(
    "A body of limits.rpc_body is read on the traffic listener, one byte more is refused; the admin listener takes more"
)
{
    auto settings = quick_settings();
    settings.limits.rpc_body = 512;
    settings.limits.body = 1024;
    const running_gateway gateway{std::move(settings)};
    const auto status_of = [&](std::uint16_t port, std::size_t size) {
        auto body = managing("agents/list", "{}");
        body += std::string(size - body.size(), ' ');
        return post_json(port, "/rpc", body).status;
    };
    CHECK(status_of(gateway.port(), 511) == 200);
    CHECK(status_of(gateway.port(), 512) == 200);
    CHECK(status_of(gateway.port(), 513) == 413);
    CHECK(status_of(gateway.admin_port(), 1024) == 200);
    CHECK(status_of(gateway.admin_port(), 1025) == 413);
}

TEST_CASE("The metrics of many agents come in pieces, with every series once, and whole to HTTP/1.0 as well")
{
    auto settings = quick_settings();
    settings.cards.background = 0;
    constexpr int many = 1'000;
    for (int i = 0; i < many; ++i) {
        settings.agents.push_back(agent_with_card("a" + std::to_string(1000 + i), 10));
    }
    const running_gateway gateway{std::move(settings)};
    for (int i = 0; i < many; ++i) {
        REQUIRE(flow::get_card(gateway, "a" + std::to_string(1000 + i)).status == 200);
    }
    const auto page = test_support::request(gateway.admin_port(), "GET", "/metrics");
    REQUIRE(page.status == 200);
    CHECK(page.header("Transfer-Encoding") == "chunked");
    for (int i = 0; i < many; ++i) {
        const auto series = "cardea_card_age_seconds{agent=\"a" + std::to_string(1000 + i) + "\"} ";
        const auto first = page.body.find(series);
        REQUIRE(first != std::string::npos);
        CHECK(page.body.find(series, first + 1) == std::string::npos);
    }
    CHECK(page.body.find("\ncardea_card_cache_total{agent=\"a1500\",result=\"hit\"} 1\n") != std::string::npos);
    test_support::http_client old{gateway.admin_port()};
    old.send("GET /metrics HTTP/1.0\r\n\r\n");
    const auto whole = old.read_response();
    CHECK(whole.count("Transfer-Encoding") == 0);
    CHECK(whole.body.find("{agent=\"a1999\"}") != std::string::npos);
    const auto head = test_support::request(gateway.admin_port(), "HEAD", "/metrics");
    CHECK(head.status == 200);
    CHECK(head.body.empty());
}

TEST_CASE("Metrics that are cut in the middle do not look complete, to a caller of HTTP/1.0 either")
{
    namespace asio = boost::asio;
    auto settings = quick_settings();
    settings.cards.background = 0;
    constexpr int many = 2'000;
    for (int i = 0; i < many; ++i) {
        settings.agents.push_back(agent_with_card("a" + std::to_string(1000 + i), 10));
    }
    for (const auto* version : {"1.0", "1.1"}) {
        CAPTURE(version);
        running_gateway gateway{settings};
        const auto whole = test_support::request(gateway.admin_port(), "GET", "/metrics").body.size();
        asio::io_context io;
        asio::ip::tcp::socket caller{io, asio::ip::tcp::v4()};
        // Little of the page is in the system's hands, and the rest of it still to be sent.
        caller.set_option(asio::socket_base::receive_buffer_size{4096});
        constexpr int segment = 500;
        REQUIRE(::setsockopt(caller.native_handle(), IPPROTO_TCP, TCP_MAXSEG, &segment, sizeof segment) == 0);
        caller.connect({asio::ip::address_v4::loopback(), gateway.admin_port()});
        const auto text = "GET /metrics HTTP/" + std::string{version} + "\r\nHost: localhost\r\n\r\n";
        asio::write(caller, asio::buffer(text));
        std::string got(1, ' ');
        asio::read(caller, asio::buffer(got));
        gateway.stop();
        gateway.stop();
        REQUIRE(gateway.wait_until_stopped());
        boost::system::error_code ended;
        while (!ended) {
            std::array<char, 4096> block{};
            got.append(block.data(), caller.read_some(asio::buffer(block), ended));
        }
        CHECK(got.starts_with("HTTP/1.1 200 OK\r\n"));
        CHECK(got.size() < whole);
        if (version == std::string_view{"1.0"}) {
            CHECK(ended == asio::error::connection_reset);
        } else {
            CHECK_FALSE(got.ends_with("\r\n0\r\n\r\n"));
        }
    }
}

TEST_SUITE_END();
