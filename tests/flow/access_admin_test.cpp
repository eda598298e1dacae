// Who may use the admin listener: `admin_access`.
#include "tests/flow/access_fixture.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("flow/access of admin");

namespace {

using namespace flow;

const field_list registrant = bearer("register-token-0123456789");
const field_list prometheus = bearer("prometheus-token-0123456789");
const field_list writer = bearer("writer-token-0123456789");

config::settings with_scopes(const std::string& url)
{
    auto settings = guarded(url);
    settings.admin_access = core::admin_access::scopes;
    settings.registration.token = core::secret{"register-token-0123456789"};
    settings.access.providers.push_back(token("prometheus", "prometheus-token-0123456789", {core::scope_metrics}));
    settings.access.providers.push_back(token("writer", "writer-token-0123456789", {core::scope_write}));
    return settings;
}

// A request of the admin listener, and what each caller gets.
struct row {
    std::string method;
    std::string target;
    unsigned anonymous;
    unsigned mallory;
    unsigned prometheus;
    unsigned writer;  // without cardea:read
    unsigned reader;
    unsigned operators;
    unsigned registrant;
};

const std::vector<row> rows{
    {"GET", "/healthz", 200, 200, 200, 200, 200, 200, 200},
    {"GET", "/readyz", 200, 200, 200, 200, 200, 200, 200},
    {"HEAD", "/readyz", 200, 200, 200, 200, 200, 200, 200},
    {"GET", "/metrics", 401, 403, 200, 403, 200, 200, 401},
    {"HEAD", "/metrics", 401, 403, 200, 403, 200, 200, 401},
    {"POST", "/rpc", 401, 403, 403, 403, 200, 200, 401},
    {"GET", "/rpc", 401, 403, 403, 403, 405, 405, 401},
    {"POST", "/reload", 401, 403, 403, 403, 403, 200, 401},
    {"GET", "/reload", 401, 403, 403, 403, 403, 405, 401},
    {"GET", "/handover", 401, 403, 403, 403, 403, 405, 401},
    {"DELETE", "/handover", 401, 403, 403, 403, 403, 405, 401},
    // In a test there is no program to hand over to.
    {"POST", "/handover", 401, 403, 403, 403, 403, 409, 401},
    // The body is no registration.
    {"POST", "/agent/register", 401, 403, 403, 403, 403, 400, 400},
    {"GET", "/console/", 200, 200, 200, 200, 200, 200, 200},
    {"HEAD", "/events", 401, 403, 403, 403, 200, 200, 401},
    {"POST", "/events", 401, 403, 403, 403, 405, 405, 401},
    // The operator's credential is not for the agent.
    {"POST", "/try/agents/nobody", 401, 403, 403, 403, 403, 401, 401},
    {"DELETE", "/try/agents/nobody/mcp", 401, 403, 403, 403, 403, 401, 401},
    {"GET", "/try/agents/nobody", 401, 403, 403, 403, 403, 405, 401},
    {"GET", "/", 401, 403, 403, 403, 200, 200, 401},
    {"HEAD", "/", 401, 403, 403, 403, 200, 200, 401},
    {"POST", "/", 401, 403, 403, 403, 405, 405, 401},
    {"GET", "/agents", 401, 404, 404, 404, 404, 404, 401},
};

http_response ask(std::uint16_t port, const row& asked, field_list headers)
{
    const bool posts = asked.method == "POST";
    if (posts) {
        headers.emplace_back("Content-Type", "application/json");
    }
    const auto* body = R"({"jsonrpc":"2.0","id":1,"method":"agents/list","params":{}})";
    test_support::http_client client{port};
    client.send(test_support::request_text(asked.method, asked.target, headers, posts ? body : ""));
    return client.read_response(asked.method == "HEAD");
}

}  // namespace

TEST_CASE("every route of the admin listener answers every caller as its scopes say")
{
    test_support::scripted_agent agent{answer_of_agent};
    const running_gateway gateway{with_scopes(agent.url("/rpc"))};
    const auto port = gateway.admin_port();
    for (const auto& each : rows) {
        CAPTURE(each.method);
        CAPTURE(each.target);
        const auto anonymous = ask(port, each, nobody);
        CHECK(anonymous.status == each.anonymous);
        CHECK((anonymous.count("WWW-Authenticate") > 0) == (each.anonymous == 401));
        CHECK(ask(port, each, mallory).status == each.mallory);
        CHECK(ask(port, each, prometheus).status == each.prometheus);
        CHECK(ask(port, each, writer).status == each.writer);
        CHECK(ask(port, each, reader).status == each.reader);
        CHECK(ask(port, each, operators).status == each.operators);
        CHECK(ask(port, each, registrant).status == each.registrant);
        const bool open = each.anonymous == 200;
        for (const auto& bad : {unknown, expired}) {
            CHECK(ask(port, each, bad).status == (open ? 200 : 401));
        }
        auto two = ci;
        two.push_back(operators.front());
        CHECK(ask(port, each, two).status == (open ? 200 : 400));
    }
}

TEST_CASE("with cardea:read on the admin listener agents are read, and a write is denied, counted and noted")
{
    test_support::scripted_agent agent{answer_of_agent};
    const test_support::scratch_directory scratch;
    auto settings = with_scopes(agent.url("/rpc"));
    settings.audit = "file:" + scratch.file("audit");
    const auto upsert = R"({"id":"new","agent":{"url":"http://127.0.0.1:9/"}})";
    {
        const running_gateway gateway{settings};
        const auto port = gateway.admin_port();
        CHECK(rpc(port, reader, "agents/get", R"({"id":"secret"})").body.find("127.0.0.1") != std::string::npos);
        CHECK(parsed(rpc(port, reader, "agents/upsert", upsert).body)["error"]["data"]["code"] == "admin_only");
        CHECK(parsed(rpc(port, operators, "agents/upsert", upsert).body).contains("result"));
        const auto changes = parsed(rpc(port, operators, "agents/changes", "{}").body)["result"]["changes"];
        REQUIRE(changes.size() == 1);
        CHECK(changes[0]["by"] == "admin operator operator");
        CHECK(request(port, "GET", "/metrics", mallory).status == 403);
        const auto page = request(port, "GET", "/metrics", prometheus).body;
        CHECK(page.find("\ncardea_denied_total{reason=\"forbidden\"} 2\n") != std::string::npos);
        CHECK(page.find("\ncardea_access_total{provider=\"mallory\",outcome=\"accepted\"} 1\n") != std::string::npos);
    }
    const auto audit = test_support::read_whole(scratch.file("audit"));
    CHECK(audit.find(R"("principal":"reader")") != std::string::npos);
    CHECK(audit.find(R"("principal":"mallory")") != std::string::npos);
    CHECK(audit.find("mallory-token") == std::string::npos);
}

TEST_CASE("credentials that fail count for all routes of a listener, and do not lock operators out of the other")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = with_scopes(agent.url("/rpc"));
    settings.limits.failed_credentials = 3;
    settings.trusted_proxies = {"127.0.0.1"};
    const running_gateway gateway{settings};
    const auto status = [&](bool admin, bool registers, const field_list& headers) {
        const auto port = admin ? gateway.admin_port() : gateway.port();
        return registers ? request(port, "POST", "/agent/register", headers).status
                         : request(port, "GET", admin ? "/metrics" : "/agents", headers).status;
    };
    int address = 0;
    for (const bool admin : {false, true}) {
        for (const bool registers : {false, true}) {
            CAPTURE(admin);
            CAPTURE(registers);
            bool limited = false;
            // Another second may begin in between, but hardly each time.
            for (int i = 0; i < 20 && !limited; ++i) {
                auto headers = unknown;
                headers.emplace_back("X-Forwarded-For", "192.0.2." + std::to_string(++address));
                for (int other = 0; other < 3; ++other) {
                    status(admin, !registers, headers);
                }
                limited = status(admin, registers, headers) == 429;
                CHECK(status(!admin, registers, headers) == 401);
            }
            CHECK(limited);
        }
    }
}

TEST_CASE("the audit names the caller behind a trusted proxy, also of what the admin listener refuses by its body")
{
    test_support::scripted_agent agent{answer_of_agent};
    const test_support::scratch_directory scratch;
    auto settings = with_scopes(agent.url("/rpc"));
    settings.audit = "file:" + scratch.file("audit");
    settings.trusted_proxies = {"127.0.0.1"};
    settings.access.providers.push_back(token("scoped", "scoped-token-0123456789", {core::scope_register}));
    const auto from = [](field_list headers, const std::string& address) {
        headers.emplace_back("X-Forwarded-For", address);
        return headers;
    };
    {
        const running_gateway gateway{settings};
        const auto port = gateway.admin_port();
        const auto upsert = R"({"id":"new","agent":{"url":"http://127.0.0.1:9/"}})";
        rpc(port, operators, "agents/upsert", upsert);
        rpc(port, from(reader, "192.0.2.1"), "agents/upsert", upsert);
        auto registering = from(bearer("scoped-token-0123456789"), "192.0.2.2");
        registering.emplace_back("Content-Type", "application/json");
        const auto* body = R"({"agent_url":"http://192.0.2.9/","name":"new","version":"1"})";
        CHECK(request(port, "POST", "/agent/register", registering, body).status == 403);
        CHECK(request(port, "GET", "/metrics", from(mallory, "192.0.2.3")).status == 403);
    }
    const auto audit = test_support::read_whole(scratch.file("audit"));
    CHECK(audit.find(R"("address":"127.0.0.1")") == std::string::npos);
    for (const auto* each : {R"("address":"192.0.2.1")", R"("address":"192.0.2.2")", R"("address":"192.0.2.3")"}) {
        CHECK(audit.find(each) != std::string::npos);
    }
}

TEST_CASE("a key that is used on the admin listener alone has a time of its last use")
{
    test_support::scripted_agent agent{answer_of_agent};
    const running_gateway gateway{with_scopes(agent.url("/rpc"))};
    const auto port = gateway.admin_port();
    const auto used = [&] {
        const auto page = request(port, "GET", "/metrics", reader).body;
        return page.find("\ncardea_access_key_last_used_timestamp_seconds{provider=\"keys\",key=\"ci\"} ") !=
               std::string::npos;
    };
    CHECK_FALSE(used());
    CHECK(request(port, "GET", "/metrics", ci).status == 403);
    CHECK(used());
}

TEST_CASE("credentials that fail on the admin listener are limited by address")
{
    test_support::scripted_agent agent{answer_of_agent};
    auto settings = with_scopes(agent.url("/rpc"));
    settings.limits.failed_credentials = 3;
    const running_gateway gateway{settings};
    CHECK(request(gateway.admin_port(), "GET", "/metrics", prometheus).status == 200);
    unsigned limited = 0;
    for (int i = 0; i < 20; ++i) {
        limited += request(gateway.admin_port(), "GET", "/metrics", unknown).status == 429 ? 1 : 0;
    }
    CHECK(limited > 0);
    CHECK(request(gateway.admin_port(), "GET", "/metrics", prometheus).status == 200);
}

TEST_SUITE_END();
