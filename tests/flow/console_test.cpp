// The console's page, and what pages of other sites are refused.
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/reload_fixture.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/console");

namespace {

using flow::check_refusal;
using flow::quick_settings;
using flow::running_gateway;
using test_support::field_list;
using test_support::request;

const field_list browser{{"Accept", "text/html,application/xhtml+xml"}};

bool names_console(std::uint16_t admin_port)
{
    const auto index = request(admin_port, "GET", "/").body;
    const bool page = index.find("/console/") != std::string::npos;
    CHECK(page == (index.find("/try/") != std::string::npos));
    CHECK(index.find("/events") != std::string::npos);
    return page;
}

}  // namespace

TEST_CASE("browsers get the page from the admin listener, and everybody else the index")
{
    const running_gateway gateway{quick_settings()};
    const auto port = gateway.admin_port();
    const auto led = request(port, "GET", "/", browser);
    CHECK(led.status == 303);
    CHECK(led.header("Location") == "console/");
    CHECK(names_console(port));
    const auto page = request(port, "GET", "/console/");
    CHECK(page.status == 200);
    CHECK(page.header("Content-Type") == "text/html; charset=utf-8");
    CHECK(page.header("Cache-Control") == "no-cache");
    CHECK(page.body.find("<!doctype html>") != std::string::npos);
    CHECK(page.header("Content-Length") == std::to_string(page.body.size()));
    CHECK(request(port, "GET", "/console/", {{"If-None-Match", page.header("ETag")}}).status == 304);
    CHECK(request(port, "GET", "/console/", {{"Accept-Encoding", "gzip"}}).header("Content-Encoding") == "gzip");
    CHECK(request(port, "GET", "/console").status == 303);
    test_support::http_client client{port};
    client.send(test_support::request_text("HEAD", "/console/vendor/preact.js"));
    const auto head = client.read_response(/*to_head=*/true);
    CHECK(head.status == 200);
    CHECK(head.header("Content-Type") == "text/javascript; charset=utf-8");
    CHECK(head.body.empty());
    check_refusal(request(port, "GET", "/console/nothing.js"), 404, "not_found", "");
    check_refusal(request(port, "POST", "/console/"), 405, "method_not_allowed", "");
    // Under no other name, and on no other listener.
    CHECK(request(port, "GET", "/console/", {{"Host", "evil.example"}}).status == 421);
    CHECK(request(port, "GET", "/", {{"Host", "evil.example"}, browser[0]}).status == 421);
    CHECK(request(gateway.port(), "GET", "/console/").status == 404);
}

TEST_CASE("with console: false there is neither page nor try, and a reload says so at once")
{
    const test_support::scratch_directory scratch;
    const auto file = scratch.file("c.yml");
    const auto agents = "agents:\n" + flow::inline_agent("a", "A");
    test_support::write_whole(file, agents);
    const flow::reloading_gateway gateway{file};
    const auto port = gateway.admin_port;
    const auto status = [&](std::string_view method, std::string_view path, const field_list& fields = {}) {
        return request(port, method, path, fields).status;
    };
    CHECK(names_console(port));
    CHECK(status("GET", "/console/") == 200);
    CHECK(status("GET", "/try/agents/a") == 405);
    test_support::write_whole(file, "console: false\n" + agents);
    CHECK(gateway.reloaded()["settings"] == core::json{"console"});
    CHECK_FALSE(names_console(port));
    CHECK(status("GET", "/", browser) == 200);
    for (const std::string path :
         {"/console", "/console/", "/console/main.js", "/try", "/try/agents/a", "/try/agents/a/mcp"}) {
        CAPTURE(path);
        CHECK(status("GET", path) == 404);
        CHECK(status("POST", path) == 404);
        CHECK(status("DELETE", path) == 404);
    }
    test_support::write_whole(file, agents);
    CHECK(gateway.reloaded()["settings"] == core::json{"console"});
    CHECK(status("GET", "/", browser) == 303);
    CHECK(status("GET", "/console/") == 200);
}

TEST_CASE("no page of another site changes anything at the admin listener")
{
    const running_gateway gateway{quick_settings()};
    const auto port = gateway.admin_port();
    const auto own = "http://127.0.0.1:" + std::to_string(port);
    const auto upsert = flow::managing("agents/upsert", R"({"id":"new","agent":{"url":"http://127.0.0.1:9/"}})");
    const auto count = [&] { return flow::manage(gateway, "agents/list", core::json::object())["agents"].size(); };
    const std::vector<field_list> foreign{
        {{"Origin", "http://evil.example"}},
        {{"Origin", "null"}},
        {{"Origin", own}, {"Sec-Fetch-Site", "cross-site"}},
        {{"Sec-Fetch-Site", "same-site"}},
    };
    for (auto fields : foreign) {
        for (const std::string type : {"application/json", "text/plain"}) {
            fields.emplace_back("Content-Type", type);
            for (const std::string path :
                 {"/rpc", "/reload", "/handover", "/agent/register", "/try/agents/a", "/console/", "/nothing"}) {
                CAPTURE(path);
                check_refusal(request(port, "POST", path, fields, upsert), 403, "origin_forbidden", "");
            }
            check_refusal(request(port, "DELETE", "/try/agents/a/mcp", fields), 403, "origin_forbidden", "");
            check_refusal(request(port, "GET", "/events", fields), 403, "origin_forbidden", "");
            fields.pop_back();
        }
        CHECK(request(port, "GET", "/healthz", fields).status == 200);
        CHECK(count() == 0);
    }
    // The listener's own page may.
    const field_list page{
        {"Host", own.substr(7)},
        {"Origin", own},
        {"Sec-Fetch-Site", "same-origin"},
        {"Content-Type", "application/json"}
    };
    CHECK(request(port, "POST", "/rpc", page, upsert).status == 200);
    CHECK(count() == 1);
}
