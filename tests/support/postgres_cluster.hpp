// A PostgreSQL of a test's own below /tmp, and a PgBouncer before it. As root they run as the user `postgres`. Everything is gone with the
// object, or a moment after the test's process, however that ends.
#pragma once

#include "tests/support/scratch.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace test_support {

// A process with its children, and whoever ends it if the test cannot. One thread at a time, as all here.
class test_server {
public:
    // `words` begin with a program's path; its output is appended to `log`; it writes its number into `pid_file`.
    test_server(std::vector<std::string> words, std::string log, std::string pid_file);
    ~test_server();
    test_server(const test_server&) = delete;
    test_server& operator=(const test_server&) = delete;

    void start();
    bool runs();  // looks whether it has ended

    void freeze();  // SIGSTOP, its children too
    void thaw();
    void kill();            // SIGKILL, its children too; returns when it has ended
    void stop(int signal);  // SIGKILL after 10 s

    pid_t number() const noexcept { return number_; }

private:
    void signal_all(int signal) const;
    void reap();

    std::vector<std::string> words_;
    std::string log_;
    std::string pid_file_;
    pid_t number_ = 0;
    int lifeline_ = -1;  // whose other end the watcher reads
    pid_t watcher_ = 0;
};

class postgres_cluster {
public:
    // Runs when it returns. `settings` such as "max_connections=10" go before the cluster's own (fsync=off). Throws if PostgreSQL is
    // missing: a test without it fails.
    explicit postgres_cluster(std::vector<std::string> settings = {});

    // A standby of another one that runs, which follows it until promote(): made by pg_basebackup. Its name for
    // synchronous_standby_names is "standby".
    static std::unique_ptr<postgres_cluster>
    standby_of(const postgres_cluster& primary, std::vector<std::string> settings = {});

    ~postgres_cluster();

    std::uint16_t port() const noexcept { return port_; }            // of 127.0.0.1
    const std::string& directory() const noexcept { return home_; }  // with the Unix socket

    // For the user `cardea`, who owns everything and needs no password.
    std::string url(std::string_view database) const;
    std::string url(std::string_view database, std::uint16_t port) const;  // by a proxy or a pooler
    std::string socket_url(std::string_view database) const;

    std::string make_database();  // with a name of its own, which it returns

    // Rows of texts, of the last statement; NULL is empty. Throws what PostgreSQL says. By a connection of its own over the Unix socket.
    std::vector<std::vector<std::string>> sql(std::string_view database, const std::string& statements) const;
    std::string value(std::string_view database, const std::string& statements)
        const;  // of the first row; empty: there is none

    // From now on new connections of this user over TCP need this password.
    void require_password(std::string_view user, std::string_view password);

    void freeze() { server_->freeze(); }
    void thaw() { server_->thaw(); }
    void kill() { server_->kill(); }  // SIGKILL to all its processes
    void stop();                      // immediate
    void start();                     // after kill() or stop(); waits until it answers
    void restart();                   // stop() and start()
    void promote();                   // a standby; waits until it writes

private:
    struct as_standby {};
    postgres_cluster(as_standby, const postgres_cluster& primary, std::vector<std::string> settings);
    void make_server(const std::vector<std::string>& settings);

    scratch_directory scratch_{"/tmp"};
    std::string home_;
    std::uint16_t port_ = 0;
    std::unique_ptr<test_server> server_;
    int databases_ = 0;
};

// PgBouncer in transaction mode.
class postgres_pooler {
public:
    explicit postgres_pooler(const postgres_cluster& behind);
    ~postgres_pooler();

    std::uint16_t port() const noexcept { return port_; }

    void freeze() { server_->freeze(); }
    void thaw() { server_->thaw(); }
    void kill() { server_->kill(); }
    void start();  // after kill()

private:
    scratch_directory scratch_{"/tmp"};
    std::uint16_t port_ = 0;
    std::unique_ptr<test_server> server_;
};

// A port of 127.0.0.1 that nobody has, and that no connection gets by chance.
std::uint16_t quiet_port();

}  // namespace test_support
