// Exchanges whose request the system does not take, while nothing is wrong with the peer.
#include "tests/support/listening_socket.hpp"
#include "tests/support/scripted_agent.hpp"
#include "tests/unit/net/client/exchange_recorder.hpp"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

using namespace test_support;
using core::errc;

namespace {

// What sendmsg() does in this thread: agents write in theirs.
thread_local int taken_first = std::numeric_limits<int>::max();  // calls that are taken
thread_local int refusal = 0;                                    // of those behind them

struct refused_writes {
    refused_writes(int after, int error)
    {
        taken_first = after;
        refusal = error;
    }
    ~refused_writes() { taken_first = std::numeric_limits<int>::max(); }
    refused_writes(const refused_writes&) = delete;
    refused_writes& operator=(const refused_writes&) = delete;
};

net::exchange_request post(std::string url, std::size_t bytes)
{
    net::exchange_request made;
    made.url = std::move(url);
    made.method = "POST";
    made.body = std::make_shared<const std::string>(bytes, 'x');
    made.repeatable = false;
    return made;
}

core::result<> outcome(exchange_driver& driver, net::exchange_request request)
{
    exchange_recorder told;
    const auto running = driver.client->start(std::move(request), told);
    CHECK(told.ends.empty());
    driver.run_until([&] { return !told.ends.empty(); });
    return std::move(told.ends.front());
}

}  // namespace

// Before the C library's, for the whole program.
extern "C" ssize_t sendmsg(int socket, const msghdr* message, int flags)
{
    if (taken_first <= 0) {
        errno = refusal;
        return -1;
    }
    --taken_first;
    return ::syscall(SYS_sendmsg, socket, message, flags);
}

TEST_CASE("an exchange whose request the system does not take ends at once, and says why")
{
    constexpr std::size_t several_writes = 16 * 1024 * 1024;
    struct row {
        bool reused;
        int taken_first;
        std::size_t bytes;
    };
    for (const auto& [reused, taken, bytes] : {row{false, 0, 10}, row{true, 0, 10}, row{false, 1, several_writes}}) {
        CAPTURE(reused);
        CAPTURE(taken);
        scripted_agent agent{[](const recorded_request&) { return answer_json("{}"); }};
        exchange_driver driver;
        if (reused) {
            REQUIRE(outcome(driver, post(agent.url(), 10)).has_value());
        }
        const refused_writes none{taken, ENOBUFS};
        const auto how = outcome(driver, post(agent.url(), bytes));
        REQUIRE(how.has_error());
        CHECK(core::name(how.error().code) == core::name(errc::upstream_reset));
        CHECK(how.error().detail.find("No buffer space available") != std::string::npos);
        CHECK(agent.request_count() == (reused ? 1 : 0));
    }
}

TEST_CASE("an exchange that cannot write because its peer is gone tells what the peer has said before")
{
    for (const int gone : {EPIPE, ECONNRESET}) {
        CAPTURE(gone);
        const listening_socket peer;
        const refused_writes none{0, gone};
        exchange_driver driver;
        exchange_recorder told;
        const auto running = driver.client->start(post("http://127.0.0.1:" + peer.port_text(), 10), told);
        const core::descriptor its{::accept(peer.number(), nullptr, nullptr)};
        driver.run_for(std::chrono::milliseconds{20});
        CHECK(told.ends.empty());
        const std::string_view said = "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        REQUIRE(::send(its.number(), said.data(), said.size(), 0) == static_cast<ssize_t>(said.size()));
        driver.run_until([&] { return !told.ends.empty(); });
        CHECK(told.ends.front().has_value());
        REQUIRE(told.head);
        CHECK(told.head->status == 413);
    }
}
