#include "tests/support/postgres_cluster.hpp"

#include "tests/support/fault_proxy.hpp"

#include <doctest/doctest.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <thread>

using namespace std::chrono_literals;
using namespace test_support;

namespace {

bool answers(const std::string& url)
{
    return PQping((url + (url.find('?') == std::string::npos ? "?" : "&") + "connect_timeout=2").c_str()) == PQPING_OK;
}

}  // namespace

TEST_CASE("A cluster has databases apart, and keeps them over a kill, a restart and a pause")
{
    postgres_cluster cluster;
    const auto one = cluster.make_database();
    const auto two = cluster.make_database();
    cluster.sql(one, "CREATE TABLE t (n int); INSERT INTO t VALUES (7)");
    CHECK(cluster.value(one, "SELECT n FROM t") == "7");
    CHECK_THROWS_WITH_AS(
        cluster.sql(two, "SELECT n FROM t"),
        doctest::Contains("\"t\" does not exist"),
        std::runtime_error
    );
    CHECK(answers(cluster.url(one)));
    CHECK(answers(cluster.socket_url(one)));

    cluster.freeze();
    CHECK_FALSE(answers(cluster.url(one)));
    cluster.thaw();
    CHECK(answers(cluster.url(one)));

    cluster.kill();
    CHECK_FALSE(answers(cluster.url(one)));
    cluster.start();
    CHECK(cluster.value(one, "SELECT n FROM t") == "7");
    cluster.restart();
    CHECK(cluster.value(one, "SELECT n FROM t") == "7");

    const postgres_pooler pooler{cluster};
    CHECK(answers(cluster.url(one, pooler.port())));
    const fault_proxy proxy{cluster.port()};
    CHECK(answers(cluster.url(one, proxy.port())));
}

TEST_CASE("A standby has what its primary wrote, and writes once it is promoted")
{
    const postgres_cluster primary;
    primary.sql("postgres", "CREATE TABLE t (n int)");
    const auto standby = postgres_cluster::standby_of(primary);
    CHECK_THROWS(standby->sql("postgres", "INSERT INTO t VALUES (1)"));
    standby->promote();
    standby->sql("postgres", "INSERT INTO t VALUES (1)");
    CHECK(standby->value("postgres", "SELECT count(*) FROM t") == "1");
    CHECK(primary.value("postgres", "SELECT count(*) FROM t") == "0");
}

TEST_CASE("A test that is killed leaves no server and no directory")
{
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    const auto child = ::fork();
    if (child == 0) {
        const postgres_cluster cluster;
        const postgres_pooler pooler{cluster};
        const auto told = cluster.directory() + "\n" + read_whole(cluster.directory() + "/data/postmaster.pid");
        static_cast<void>(::write(ends[1], told.data(), told.size()));
        ::pause();
    }
    std::array<char, 1000> block;
    const auto size = ::read(ends[0], block.data(), block.size());
    REQUIRE(size > 0);
    std::istringstream told{std::string(block.data(), static_cast<std::size_t>(size))};
    std::string directory;
    pid_t server = 0;
    told >> directory >> server;
    CHECK(::kill(server, 0) == 0);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    const auto until = std::chrono::steady_clock::now() + 10s;
    while (std::chrono::steady_clock::now() < until && (::kill(server, 0) == 0 || std::filesystem::exists(directory))) {
        std::this_thread::sleep_for(20ms);
    }
    CHECK(::kill(server, 0) != 0);
    CHECK_FALSE(std::filesystem::exists(directory));
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST_CASE("A user who needs a password is refused without it")
{
    postgres_cluster cluster;
    cluster.require_password("cardea", "hunter2");
    const auto status = [&](const std::string& url) {
        const std::unique_ptr<PGconn, decltype(&PQfinish)> connection{PQconnectdb(url.c_str()), &PQfinish};
        return PQstatus(connection.get());
    };
    CHECK(status(cluster.url("postgres")) == CONNECTION_BAD);
    CHECK(status(cluster.url("postgres") + "?password=hunter2") == CONNECTION_OK);
}
