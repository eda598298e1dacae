// A start without the database that replicas share: the gateway's own binary waits, answers that it does, and then serves.
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/listening_socket.hpp"
#include "tests/support/manager_socket.hpp"
#include "tests/support/postgres_cluster.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/store_waiting");

namespace {

using namespace std::chrono_literals;
using flow::child_process;
using test_support::postgres_cluster;
using test_support::quiet_port;
using test_support::request;

constexpr std::string_view listening = R"("event":"listening")";
constexpr std::string_view waiting = R"("event":"store_waiting")";

postgres_cluster& cluster()
{
    static postgres_cluster one;
    return one;
}

// A gateway on ports that are known before it serves.
struct waiting_gateway {
    explicit waiting_gateway(
        const std::string& url,
        const std::string& configuration = {},
        const flow::handed_over& more = {},
        std::uint16_t listen = 0
    )
        : file{here.file("c.yml")},
          traffic{listen > 0 ? listen : quiet_port()}
    {
        test_support::write_whole(
            file,
            "reload: {watch: false}\nreplica: {name: r1}\nstore: \"" + url +
                "\"\nmetrics: 127.0.0.1:" + std::to_string(metrics) + "\n" + configuration
        );
        process.emplace(
            CARDEA_BIN,
            std::vector<std::string>{
                "run",
                "-c",
                file,
                "--listen",
                "127.0.0.1:" + std::to_string(traffic),
                "--admin",
                "127.0.0.1:" + std::to_string(admin)
            },
            more
        );
    }

    bool logs(std::string_view text)
    {
        return process->wait_for_line([text](auto line) { return line.find(text) != std::string_view::npos; }, 20s)
            .has_value();
    }

    // Until the waiting room answers.
    void wait_until_it_waits()
    {
        REQUIRE_MESSAGE(logs(waiting), process->err());
        const auto latest = std::chrono::steady_clock::now() + 5s;
        while (std::chrono::steady_clock::now() < latest) {
            try {
                const test_support::http_client one{metrics};
                return;
            } catch (const std::system_error&) {
                std::this_thread::sleep_for(5ms);
            }
        }
        FAIL("nothing listens");
    }

    std::size_t count(std::string_view text) const
    {
        std::size_t found = 0;
        for (auto at = process->err().find(text); at != std::string::npos; at = process->err().find(text, at + 1)) {
            ++found;
        }
        return found;
    }

    test_support::scratch_directory here;
    std::string file;
    std::uint16_t traffic;
    std::uint16_t admin = quiet_port();
    std::uint16_t metrics = quiet_port();
    std::optional<child_process> process;
};

void check_that_it_waits(const test_support::http_response& answer)
{
    CHECK(answer.status == 503);
    CHECK(answer.header("Cardea-Error") == "store_unreachable");
    CHECK(answer.header("Retry-After") == "1");
}

}  // namespace

TEST_CASE("A gateway whose database is away says so on all its addresses, and serves when it comes")
{
    const auto database = cluster().make_database();
    cluster().stop();
    waiting_gateway gateway{cluster().url(database), "agents: {a: {url: \"http://127.0.0.1:1/\"}}\n"};
    gateway.wait_until_it_waits();
    for (const auto port : {gateway.traffic, gateway.admin, gateway.metrics}) {
        CAPTURE(port);
        CHECK(request(port, "GET", "/healthz").status == 200);
        CHECK(request(port, "GET", "/healthz").body == "alive\n");
        CHECK(request(port, "HEAD", "/healthz?x").status == 200);
        check_that_it_waits(request(port, "GET", "/readyz"));
        check_that_it_waits(request(port, "GET", "/metrics"));
        check_that_it_waits(request(port, "POST", "/healthz"));
        check_that_it_waits(request(port, "POST", "/rpc", {{"Content-Type", "application/json"}}, "{}"));
        check_that_it_waits(request(port, "GET", "/agents/a/.well-known/agent-card.json"));
        if (!test_support::over_http2()) {  // which resets the stream
            CHECK(request(port, "GET", "/", {{"Bad Field", "x"}}).status == 400);
        }
    }
    CHECK(gateway.count(listening) == 0);

    // From here on nobody is refused, whichever of the two serves.
    std::atomic<bool> over = false;
    std::atomic<int> refused = 0;
    std::atomic<int> served = 0;
    std::thread callers{[&] {
        while (!over) {
            try {
                const auto status = request(gateway.admin, "GET", "/readyz").status;
                served += status == 200 ? 1 : 0;
                refused += status == 200 || status == 503 ? 0 : 1;
            } catch (const std::exception&) {
                ++refused;
            }
        }
    }};
    cluster().start();
    CHECK_MESSAGE(gateway.logs(listening), gateway.process->err());
    const auto latest = std::chrono::steady_clock::now() + 5s;
    while (served == 0 && std::chrono::steady_clock::now() < latest) {
        std::this_thread::sleep_for(5ms);
    }
    over = true;
    callers.join();
    CHECK(refused == 0);
    CHECK(served > 0);
    CHECK(request(gateway.metrics, "GET", "/readyz").status == 200);
    CHECK(request(gateway.traffic, "GET", "/readyz").status == 404);
    CHECK(request(gateway.metrics, "GET", "/metrics").status == 200);
    CHECK(gateway.count(R"("replica":"r1")") == gateway.count(R"("event":)"));
    gateway.process->signal(SIGTERM);
    CHECK(gateway.process->wait() == 0);
}

TEST_CASE("The log has each reason of the wait once, and the wait ends by itself when the last one is gone")
{
    cluster().stop();
    waiting_gateway gateway{cluster().url("later")};
    gateway.wait_until_it_waits();
    std::this_thread::sleep_for(1500ms);
    CHECK(gateway.count(waiting) == 1);
    cluster().start();
    CHECK_MESSAGE(gateway.logs("no_database"), gateway.process->err());
    cluster().sql("postgres", "CREATE DATABASE later OWNER cardea");
    CHECK_MESSAGE(gateway.logs(listening), gateway.process->err());
    CHECK(gateway.count("no_database") == 1);
}

TEST_CASE("A signal ends the wait with 0, also when the database is frozen")
{
    const auto database = cluster().make_database();
    SUBCASE("away")
    {
        waiting_gateway gateway{"postgresql://cardea@127.0.0.1:" + std::to_string(quiet_port()) + "/c"};
        gateway.wait_until_it_waits();
        gateway.process->signal(SIGHUP);
        CHECK(gateway.logs(R"("event":"signal","number":1)"));
        CHECK(request(gateway.metrics, "GET", "/healthz").status == 200);
        gateway.process->signal(SIGINT);
        CHECK(gateway.process->wait(3s) == 0);
        CHECK(gateway.count(R"("event":"stopped")") == 1);
    }
    SUBCASE("frozen")
    {
        cluster().freeze();
        waiting_gateway gateway{cluster().url(database), "store_options: {timeout: 1m}\n"};
        gateway.wait_until_it_waits();
        gateway.process->signal(SIGTERM);
        CHECK(gateway.process->wait(4s) == 0);
        CHECK(gateway.count(R"("event":"stopped")") == 1);
        cluster().thaw();
    }
}

TEST_CASE(
    "A start that a lock in the database holds up says so, ends with a signal, and else serves when the lock is gone"
)
{
    const auto database = cluster().make_database();
    child_process migrate{CARDEA_BIN, {"store", "migrate", "--store", cluster().url(database)}};
    REQUIRE(migrate.wait(20s) == 0);
    std::thread holder{[&] {
        cluster().sql(database, "BEGIN; LOCK TABLE cardea.agents IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep(8); COMMIT");
    }};
    const auto locked = [&] {
        return cluster().value(
                   database,
                   "SELECT count(*) FROM pg_locks WHERE mode = 'AccessExclusiveLock' AND relation = "
                   "'cardea.agents'::regclass"
               ) != "0";
    };
    while (!locked()) {
        std::this_thread::sleep_for(10ms);
    }
    {
        waiting_gateway told{cluster().url(database)};
        told.wait_until_it_waits();
        CHECK(told.count("is slow to answer, or locked") == 1);
        CHECK(request(told.metrics, "GET", "/healthz").status == 200);
        told.process->signal(SIGTERM);
        CHECK(told.process->wait(4s) == 0);
    }
    waiting_gateway gateway{cluster().url(database)};
    gateway.wait_until_it_waits();
    CHECK_MESSAGE(gateway.logs(listening), gateway.process->err());
    holder.join();
}

TEST_CASE("Callers over TLS are answered over TLS while the gateway waits")
{
    test_support::test_ca ca;
    const auto certificate = ca.issue({.names = {"127.0.0.1"}});
    const auto files = "{cert: " + certificate.cert_file + ", key: " + certificate.key_file + "}";
    waiting_gateway gateway{
        "postgresql://cardea@127.0.0.1:" + std::to_string(quiet_port()) + "/c",
        "tls: " + files + "\nadmin_tls: " + files + "\nmetrics_tls: " + files + "\n"
    };
    gateway.wait_until_it_waits();
    for (const auto port : {gateway.traffic, gateway.admin, gateway.metrics}) {
        test_support::http_client caller{port, {.ca_file = ca.ca_file()}};
        caller.send("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
        CHECK(caller.read_response().status == 200);
    }
}

TEST_CASE("Sockets of a service manager are served in the wait and after it, and the manager hears of both")
{
    const auto database = cluster().make_database();
    cluster().stop();
    const test_support::manager_socket manager;
    const test_support::listening_socket traffic;
    const test_support::listening_socket admin;
    waiting_gateway gateway{
        cluster().url(database),
        "agents: {}\n",
        {{"NOTIFY_SOCKET=" + manager.address(), "LISTEN_FDS=2", "LISTEN_FDNAMES=traffic:admin"},
         {traffic.number(), admin.number()}}
    };
    CHECK(manager.next() == "READY=1\nSTATUS=Waits for its store, and answers 503.\n");
    CHECK(request(traffic.port(), "GET", "/healthz").status == 200);
    check_that_it_waits(request(admin.port(), "GET", "/readyz"));
    cluster().start();
    CHECK_MESSAGE(gateway.logs(listening), gateway.process->err());
    CHECK(manager.next() == "READY=1\nSTATUS=Serves 0 agents.\n");
    CHECK(request(admin.port(), "GET", "/readyz").status == 200);
}

TEST_CASE("An address that is taken, or a certificate that cannot be read, ends the wait with 2")
{
    const auto away = "postgresql://cardea@127.0.0.1:" + std::to_string(quiet_port()) + "/c";
    SUBCASE("address")
    {
        const test_support::listening_socket taken;
        waiting_gateway gateway{away, {}, {}, taken.port()};
        CHECK(gateway.process->wait(10s) == 2);
        CHECK_MESSAGE(
            gateway.count("cannot listen on 127.0.0.1 port " + taken.port_text()) == 1,
            gateway.process->err()
        );
    }
    SUBCASE("certificate")
    {
        waiting_gateway gateway{away, "tls: {cert: /absent.pem, key: /absent.key}\n"};
        CHECK(gateway.process->wait(10s) == 2);
        CHECK_MESSAGE(gateway.count("/absent.pem") > 0, gateway.process->err());
    }
}

TEST_CASE("A role that may not make the schema ends the start with 2 and what to run, after which it serves")
{
    const auto database = cluster().make_database();
    cluster().sql(
        database,
        "CREATE ROLE serves LOGIN; GRANT CONNECT ON DATABASE " + database + " TO serves; REVOKE CREATE ON DATABASE " +
            database + " FROM PUBLIC"
    );
    auto url = cluster().url(database);
    url.replace(url.find("cardea@"), 7, "serves@");
    {
        waiting_gateway gateway{url};
        CHECK(gateway.process->wait(20s) == 2);
        CHECK_MESSAGE(gateway.count("cardea store migrate --store") == 1, gateway.process->err());
    }
    child_process migrate{CARDEA_BIN, {"store", "migrate", "--store", cluster().url(database)}};
    CHECK_MESSAGE(migrate.wait(20s) == 0, migrate.err());
    CHECK(migrate.out() == "The schema is up to date.\n");
    child_process again{CARDEA_BIN, {"store", "migrate", "--store", cluster().url(database)}};
    CHECK(again.wait(20s) == 0);
    // As docs/operations/replicas.md says.
    cluster().sql(
        database,
        "GRANT USAGE ON SCHEMA cardea TO serves; "
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA cardea TO serves"
    );
    waiting_gateway gateway{url};
    CHECK_MESSAGE(gateway.logs(listening), gateway.process->err());
    const auto call =
        R"({"jsonrpc":"2.0","id":1,"method":"agents/upsert","params":{"id":"a","agent":{"url":"http://127.0.0.1:1/"}}})";
    const auto wrote = request(gateway.admin, "POST", "/rpc", {{"Content-Type", "application/json"}}, call).body;
    CHECK_MESSAGE(wrote.find(R"("version":1)") != std::string::npos, wrote);
}

TEST_CASE("A store moves from a file to the database and back with its agents and versions")
{
    const auto url = cluster().url(cluster().make_database());
    const test_support::scratch_directory here;
    const auto file = "sqlite:" + here.file("s.db");
    const auto back = "sqlite:" + here.file("back.db");
    const auto copy = [](const std::string& from, const std::string& to) {
        child_process program{CARDEA_BIN, {"store", "copy", "--from", from, "--to", to}};
        const auto code = program.wait(20s);
        return std::to_string(code.value_or(-1)) + ' ' + program.out() + program.err();
    };
    const auto with_gateway = [&](const std::string& store, const std::string& method, const std::string& params) {
        waiting_gateway gateway{store};
        REQUIRE_MESSAGE(gateway.logs(listening), gateway.process->err());
        const auto call = R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + '}';
        auto body = request(gateway.admin, "POST", "/rpc", {{"Content-Type", "application/json"}}, call).body;
        gateway.process->signal(SIGTERM);
        CHECK(gateway.process->wait(20s) == 0);
        return body;
    };
    with_gateway(file, "agents/upsert", R"({"id":"b","agent":{"url":"http://127.0.0.1:1/"}})");
    with_gateway(file, "agents/upsert", R"({"id":"a","agent":{"url":"http://127.0.0.1:1/"}})");
    CHECK(copy(file, url) == "0 Copied 2 agents, 2 changes and 0 deliveries.\n");
    CHECK(copy(file, url).starts_with("2 cardea: "));  // it is not empty any more
    const auto trail = with_gateway(file, "agents/changes", "{}");
    CHECK(with_gateway(url, "agents/changes", "{}") == trail);
    const auto third = with_gateway(url, "agents/upsert", R"({"id":"c","agent":{"url":"http://127.0.0.1:1/"}})");
    CHECK_MESSAGE(third.find(R"("version":3)") != std::string::npos, third);
    CHECK(copy(url, back) == "0 Copied 3 agents, 3 changes and 0 deliveries.\n");
    CHECK(with_gateway(back, "agents/changes", "{}") == with_gateway(url, "agents/changes", "{}"));
    CHECK(copy("sqlite:" + here.file("absent.db"), url).starts_with("2 cardea: "));
    CHECK(copy("memory", url).starts_with("2 cardea: --from: keeps nothing"));
}

TEST_CASE("A libpq service in the environment does not decide where the store is")
{
    waiting_gateway gateway{cluster().url(cluster().make_database()), {}, {{"PGSERVICE=absent"}, {}}};
    CHECK_MESSAGE(gateway.logs(listening), gateway.process->err());
    CHECK(gateway.count(waiting) == 0);
}

TEST_CASE("A store that cannot be migrated says why")
{
    child_process nowhere{
        CARDEA_BIN,
        {"store", "migrate", "--store", "postgresql://cardea@127.0.0.1:" + std::to_string(quiet_port()) + "/c"}
    };
    CHECK(nowhere.wait(20s) == 1);
    CHECK(nowhere.err().find("refused") != std::string::npos);
    child_process file{CARDEA_BIN, {"store", "migrate", "--store", "sqlite:s.db"}};
    CHECK(file.wait() == 2);
    CHECK(file.err().find("--store: names no database") != std::string::npos);
    child_process secret{CARDEA_BIN, {"store", "migrate", "--store", "postgresql://cardea:s3cr3t@db/c"}};
    CHECK(secret.wait() == 2);
    CHECK(secret.err().find("s3cr3t") == std::string::npos);
    CHECK(secret.err().find("store_options.password_file") != std::string::npos);
}
