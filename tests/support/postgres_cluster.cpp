#include "tests/support/postgres_cluster.hpp"

#include "core/descriptor.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <libpq-fe.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <functional>
#include <random>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>

namespace test_support {
namespace {

using namespace std::chrono_literals;

constexpr auto server_patience = 30s;
const std::string programs = "/usr/lib/postgresql/15/bin/";

// Waits for the end of the test's process, and ends the servers that it left.
constexpr auto watch = R"(
cat >/dev/null
number=$(head -n 1 "$1" 2>/dev/null) || number=
[ -n "$number" ] || number=$2
children=$(cat "/proc/$number/task/$number/children" 2>/dev/null)
kill -CONT $number $children 2>/dev/null
kill -QUIT $number 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do kill -0 $number 2>/dev/null || break; sleep 0.1; done
kill -KILL $number $children 2>/dev/null
rm -rf "$3"
)";

[[noreturn]] void fail(const std::string& what)
{
    throw std::runtime_error{"postgres_cluster: " + what};
}

// Neither program runs as root.
std::vector<std::string> as_nobody_special(std::vector<std::string> words)
{
    if (::geteuid() == 0) {
        const std::vector<std::string>
            other{"/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--"};
        words.insert(words.begin(), other.begin(), other.end());
    }
    return words;
}

void give_away(const std::filesystem::path& directory)
{
    if (::geteuid() != 0) {
        return;
    }
    const auto* user = ::getpwnam("postgres");
    if (user == nullptr || ::chown(directory.c_str(), user->pw_uid, user->pw_gid) != 0) {
        fail("the user postgres is missing");
    }
}

// In a session of its own, so that what ends the test's group leaves it to its watcher.
pid_t spawn(const std::vector<std::string>& words, int input, const std::string& output)
{
    std::vector<char*> pointers;
    for (const auto& each : words) {
        pointers.push_back(const_cast<char*>(each.c_str()));
    }
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    if (input >= 0) {
        posix_spawn_file_actions_adddup2(&files, input, 0);
    } else {
        posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    }
    posix_spawn_file_actions_addopen(&files, 1, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&files, 1, 2);
    posix_spawn_file_actions_addclosefrom_np(&files, 3);  // connections of the test would stay open with it
    posix_spawnattr_t how;
    posix_spawnattr_init(&how);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    pid_t number = 0;
    const int refused = ::posix_spawn(&number, pointers[0], &files, &how, pointers.data(), environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&how);
    if (refused != 0) {
        fail(words[0] + ": " + std::generic_category().message(refused));
    }
    return number;
}

void run(const std::vector<std::string>& words, const std::string& log)
{
    int status = 0;
    const auto number = spawn(words, -1, log);
    while (::waitpid(number, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0) {
        fail(words[0] + ":\n" + read_whole(log));
    }
}

void wait_for(const std::function<bool()>& there, const std::function<std::string()>& what)
{
    const auto until = std::chrono::steady_clock::now() + server_patience;
    while (!there()) {
        if (std::chrono::steady_clock::now() > until) {
            fail("too late:\n" + what());
        }
        std::this_thread::sleep_for(10ms);
    }
}

std::vector<pid_t> children_of(pid_t number)
{
    const auto name = std::to_string(number);
    std::ifstream file{"/proc/" + name + "/task/" + name + "/children"};
    return {std::istream_iterator<pid_t>{file}, std::istream_iterator<pid_t>{}};
}

// A process that has ended may be there as a zombie.
bool has_ended(pid_t number)
{
    const auto facts = read_whole("/proc/" + std::to_string(number) + "/stat");
    const auto name_end = facts.rfind(')');
    return name_end == std::string::npos || facts.substr(name_end, 3) == ") Z";
}

}  // namespace

std::uint16_t quiet_port()
{
    static std::mt19937 numbers{std::random_device{}()};
    for (int tries = 0; tries < 100; ++tries) {
        const auto port = std::uniform_int_distribution<std::uint16_t>{10'000, 30'000}(numbers);
        const core::descriptor socket{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
        sockaddr_in where{};
        where.sin_family = AF_INET;
        where.sin_port = htons(port);
        where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::bind(socket.number(), reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0) {
            return port;
        }
    }
    fail("no port is free");
}

test_server::test_server(std::vector<std::string> words, std::string log, std::string pid_file)
    : words_{as_nobody_special(std::move(words))},
      log_{std::move(log)},
      pid_file_{std::move(pid_file)}
{
    start();
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        fail("pipe");
    }
    const core::descriptor input{ends[0]};
    lifeline_ = ends[1];
    const auto home = std::filesystem::path{log_}.parent_path().string();
    watcher_ = spawn({"/bin/sh", "-c", watch, "watch", pid_file_, std::to_string(number_), home}, ends[0], "/dev/null");
}

test_server::~test_server()
{
    kill();
    ::kill(watcher_, SIGKILL);
    ::waitpid(watcher_, nullptr, 0);
    ::close(lifeline_);
}

void test_server::start()
{
    if (number_ == 0) {
        number_ = spawn(words_, -1, log_);
    }
}

bool test_server::runs()
{
    if (number_ != 0 && ::waitpid(number_, nullptr, WNOHANG) == number_) {
        number_ = 0;
    }
    return number_ != 0;
}

void test_server::signal_all(int signal) const
{
    if (number_ == 0) {
        return;
    }
    ::kill(number_, signal == SIGKILL ? SIGSTOP : signal);  // it may start no more children meanwhile
    for (const auto each : children_of(number_)) {
        ::kill(each, signal);
    }
    ::kill(number_, signal);
}

void test_server::freeze()
{
    signal_all(SIGSTOP);
}

void test_server::thaw()
{
    signal_all(SIGCONT);
}

void test_server::reap()
{
    while (number_ != 0 && ::waitpid(number_, nullptr, 0) < 0 && errno == EINTR) {
    }
    number_ = 0;
}

void test_server::kill()
{
    const auto children = children_of(number_);
    signal_all(SIGKILL);
    reap();
    for (const auto each : children) {
        wait_for([&] { return has_ended(each); }, [] { return "a child of a server that was killed"; });
    }
}

void test_server::stop(int signal)
{
    if (number_ == 0) {
        return;
    }
    thaw();
    ::kill(number_, signal);
    for (int i = 0; i < 1000 && runs(); ++i) {
        std::this_thread::sleep_for(10ms);
    }
    kill();
}

postgres_cluster::postgres_cluster(std::vector<std::string> settings)
    : home_{scratch_.path().string()},
      port_{quiet_port()}
{
    give_away(home_);
    run(as_nobody_special(
            {programs + "initdb",
             "--pgdata=" + home_ + "/data",
             "--username=cardea",
             "--auth=trust",
             "--encoding=UTF8",
             "--locale=C",
             "--no-sync",
             "--no-instructions"}
        ),
        home_ + "/log");
    make_server(settings);
}

postgres_cluster::postgres_cluster(as_standby, const postgres_cluster& primary, std::vector<std::string> settings)
    : home_{scratch_.path().string()},
      port_{quiet_port()}
{
    give_away(home_);
    const auto from =
        "host=" + primary.home_ + " port=" + std::to_string(primary.port_) + " user=cardea application_name=standby";
    run(as_nobody_special(
            {programs + "pg_basebackup",
             "--pgdata=" + home_ + "/data",
             "--dbname=" + from,
             "--checkpoint=fast",
             "--no-sync",
             "--write-recovery-conf"}
        ),
        home_ + "/log");
    make_server(settings);
}

std::unique_ptr<postgres_cluster>
postgres_cluster::standby_of(const postgres_cluster& primary, std::vector<std::string> settings)
{
    return std::unique_ptr<postgres_cluster>{new postgres_cluster{as_standby{}, primary, std::move(settings)}};
}

postgres_cluster::~postgres_cluster()
{
    stop();  // a kill would leave a segment of shared memory
}

void postgres_cluster::make_server(const std::vector<std::string>& settings)
{
    std::vector<std::string> words{programs + "postgres", "-D", home_ + "/data"};
    for (std::string each :
         {"listen_addresses=127.0.0.1",
          "fsync=off",
          "shared_buffers=32MB",
          "dynamic_shared_memory_type=mmap",
          "log_min_messages=error"}) {
        words.insert(words.end(), {"-c", std::move(each)});
    }
    words.insert(words.end(), {"-c", "port=" + std::to_string(port_), "-c", "unix_socket_directories=" + home_});
    for (const auto& each : settings) {
        words.insert(words.end(), {"-c", each});
    }
    server_ = std::make_unique<test_server>(std::move(words), home_ + "/log", home_ + "/data/postmaster.pid");
    start();
}

void postgres_cluster::start()
{
    server_->start();
    const auto where = "host=" + home_ + " port=" + std::to_string(port_) + " user=cardea dbname=postgres";
    wait_for(
        [&] {
            if (!server_->runs()) {
                fail("PostgreSQL has ended:\n" + read_whole(home_ + "/log"));
            }
            return PQping(where.c_str()) == PQPING_OK;
        },
        [&] { return read_whole(home_ + "/log"); }
    );
}

void postgres_cluster::stop()
{
    server_->stop(SIGQUIT);
}

void postgres_cluster::restart()
{
    stop();
    start();
}

void postgres_cluster::promote()
{
    sql("postgres", "SELECT pg_promote(true, 30)");
}

std::string postgres_cluster::url(std::string_view database) const
{
    return url(database, port_);
}

std::string postgres_cluster::url(std::string_view database, std::uint16_t port) const
{
    return "postgresql://cardea@127.0.0.1:" + std::to_string(port) + "/" + std::string{database};
}

std::string postgres_cluster::socket_url(std::string_view database) const
{
    return "postgresql://cardea@/" + std::string{database} + "?host=" + home_ + "&port=" + std::to_string(port_);
}

std::string postgres_cluster::make_database()
{
    auto name = "test" + std::to_string(++databases_);
    sql("postgres", "CREATE DATABASE " + name);
    return name;
}

std::vector<std::vector<std::string>> postgres_cluster::sql(std::string_view database, const std::string& statements)
    const
{
    const std::unique_ptr<PGconn, decltype(&PQfinish)> connection{PQconnectdb(socket_url(database).c_str()), &PQfinish};
    const std::unique_ptr<PGresult, decltype(&PQclear)> result{PQexec(connection.get(), statements.c_str()), &PQclear};
    const auto status = PQresultStatus(result.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
        fail(PQerrorMessage(connection.get()));
    }
    std::vector<std::vector<std::string>> rows(static_cast<std::size_t>(PQntuples(result.get())));
    for (std::size_t row = 0; row < rows.size(); ++row) {
        for (int column = 0; column < PQnfields(result.get()); ++column) {
            const auto at = static_cast<int>(row);
            rows[row].emplace_back(
                PQgetvalue(result.get(), at, column),
                static_cast<std::size_t>(PQgetlength(result.get(), at, column))
            );
        }
    }
    return rows;
}

std::string postgres_cluster::value(std::string_view database, const std::string& statements) const
{
    const auto rows = sql(database, statements);
    return rows.empty() || rows[0].empty() ? std::string{} : rows[0][0];
}

void postgres_cluster::require_password(std::string_view user, std::string_view password)
{
    const std::string name{user};
    sql("postgres",
        "SET password_encryption = 'scram-sha-256'; ALTER ROLE " + name + " PASSWORD '" + std::string{password} + "'");
    write_whole(
        home_ + "/data/pg_hba.conf",
        "local all all trust\nhost all " + name + " 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"
    );
    sql("postgres", "SELECT pg_reload_conf()");
    const auto without = "host=127.0.0.1 port=" + std::to_string(port_) + " user=" + name + " dbname=postgres";
    const auto refused = [&] {
        const std::unique_ptr<PGconn, decltype(&PQfinish)> connection{PQconnectdb(without.c_str()), &PQfinish};
        return PQconnectionNeedsPassword(connection.get()) == 1;
    };
    wait_for(refused, [&] { return without + " needs no password"; });
}

postgres_pooler::postgres_pooler(const postgres_cluster& behind)
    : port_{quiet_port()}
{
    const auto home = scratch_.path().string();
    give_away(home);
    write_whole(home + "/users", "\"cardea\" \"\"\n");
    std::ostringstream file;
    file << "[databases]\n* = host=" << behind.directory() << " port=" << behind.port() << "\n[pgbouncer]\n"
         << "listen_addr = 127.0.0.1\nlisten_port = " << port_ << "\nunix_socket_dir = " << home
         << "\nauth_type = trust\nauth_file = " << home << "/users\npool_mode = transaction\nmax_client_conn = 200\n"
         << "default_pool_size = 10\npidfile = " << home << "/pid\nserver_login_retry = 1\n";
    write_whole(home + "/ini", file.str());
    server_ = std::make_unique<test_server>(
        std::vector<std::string>{"/usr/sbin/pgbouncer", home + "/ini"},
        home + "/log",
        home + "/pid"
    );
    start();
}

postgres_pooler::~postgres_pooler()
{
    server_->stop(SIGTERM);
}

void postgres_pooler::start()
{
    server_->start();
    const auto where = "host=127.0.0.1 port=" + std::to_string(port_) + " user=cardea dbname=postgres";
    const auto log = scratch_.file("log");
    wait_for(
        [&] {
            if (!server_->runs()) {
                fail("PgBouncer has ended:\n" + read_whole(log));
            }
            return PQping(where.c_str()) == PQPING_OK;
        },
        [&] { return read_whole(log); }
    );
}

}  // namespace test_support
