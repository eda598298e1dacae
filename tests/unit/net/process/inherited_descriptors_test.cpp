#include "net/process/service_manager.hpp"
#include "tests/support/listening_socket.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <map>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("net/process/inherited_descriptors");

namespace {

using net::inherited_descriptor;
using test_support::listening_socket;
using test_support::socket_state;

using environment = std::map<std::string, std::string, std::less<>>;
using descriptors = std::vector<inherited_descriptor>;

constexpr pid_t self = 4711;

core::result<descriptors> found_in(const environment& all)
{
    const auto variables = [&](std::string_view name) -> std::optional<std::string> {
        const auto at = all.find(name);
        return at == all.end() ? std::nullopt : std::optional{at->second};
    };
    return net::inherited_descriptors(variables, self);
}

std::string problem_of(const environment& all)
{
    const auto found = found_in(all);
    return found ? "none" : found.error().detail;
}

std::string refusal_of(int number)
{
    const auto taken = net::take_listening_socket({number, "traffic"});
    return taken ? "none" : taken.error().detail;
}

std::string refusal(int number, const std::string& why)
{
    return "inherited socket traffic: descriptor " + std::to_string(number) + ' ' + why +
           "; expected a TCP socket that listens";
}

}  // namespace

TEST_CASE("Descriptors begin at 3 and have the names of LISTEN_FDNAMES, in its order")
{
    const auto one = found_in({{"LISTEN_PID", "4711"}, {"LISTEN_FDS", "1"}, {"LISTEN_FDNAMES", "traffic"}});
    REQUIRE(one.has_value());
    CHECK(*one == descriptors{{3, "traffic"}});
    const auto three =
        found_in({{"LISTEN_PID", "4711"}, {"LISTEN_FDS", "3"}, {"LISTEN_FDNAMES", "metrics:traffic:a.socket"}});
    REQUIRE(three.has_value());
    CHECK(*three == descriptors{{3, "metrics"}, {4, "traffic"}, {5, "a.socket"}});
}

TEST_CASE("Nothing is inherited without LISTEN_FDS, or if LISTEN_PID names another process")
{
    for (const auto& all : std::vector<environment>{
             {},
             {{"LISTEN_FDS", "1"}, {"LISTEN_FDNAMES", "traffic"}},
             {{"LISTEN_PID", "4711"}, {"LISTEN_FDNAMES", "traffic"}},
             {{"LISTEN_PID", "4712"}, {"LISTEN_FDS", "1"}, {"LISTEN_FDNAMES", "traffic"}},
             {{"LISTEN_PID", "47110"}, {"LISTEN_FDS", "nonsense"}},
             {{"LISTEN_PID", "self"}, {"LISTEN_FDS", "1"}, {"LISTEN_FDNAMES", "traffic"}},
             {{"LISTEN_PID", "4711"}, {"LISTEN_FDS", "0"}, {"LISTEN_FDNAMES", ""}},
             {{"LISTEN_PID", "4711"}, {"LISTEN_FDS", "0"}},
         }) {
        const auto found = found_in(all);
        REQUIRE(found.has_value());
        CHECK(found->empty());
    }
}

TEST_CASE("LISTEN_FDS has to be a number up to 1024, and each socket needs a name")
{
    for (const std::string number : {"", "x", "-1", "1025", "1 ", "99999999999"}) {
        CHECK(
            problem_of({{"LISTEN_PID", "4711"}, {"LISTEN_FDS", number}, {"LISTEN_FDNAMES", "traffic"}}) ==
            "LISTEN_FDS: expected a number of sockets, 0 to 1024, got '" + number + "'"
        );
    }
    const std::string names(1023, ':');
    const auto most = found_in({{"LISTEN_PID", "4711"}, {"LISTEN_FDS", "1024"}, {"LISTEN_FDNAMES", names}});
    REQUIRE(most.has_value());
    CHECK(most->size() == 1024);
    CHECK(most->back() == inherited_descriptor{1026, ""});
    const std::string begin = "LISTEN_FDNAMES: expected a name for each of the sockets of LISTEN_FDS (2), got ";
    CHECK(problem_of({{"LISTEN_PID", "4711"}, {"LISTEN_FDS", "2"}}) == begin + "0");
    CHECK(problem_of({{"LISTEN_PID", "4711"}, {"LISTEN_FDS", "2"}, {"LISTEN_FDNAMES", "a"}}) == begin + "1");
    CHECK(problem_of({{"LISTEN_PID", "4711"}, {"LISTEN_FDS", "2"}, {"LISTEN_FDNAMES", "a:b:c"}}) == begin + "3");
}

TEST_CASE("A socket that listens is taken with its address, and no other program gets it")
{
    listening_socket opened;
    REQUIRE(::fcntl(opened.number(), F_SETFD, 0) == 0);
    const auto number = opened.release();
    const auto taken = net::take_listening_socket({number, "traffic"});
    REQUIRE(taken.has_value());
    CHECK(taken->socket.number() == number);
    CHECK(taken->local.address().to_string() == "127.0.0.1");
    CHECK(taken->local.port() == opened.port());
    CHECK(::fcntl(number, F_GETFD) == FD_CLOEXEC);
}

TEST_CASE("A socket on every address of IPv6 has the address ::")
{
    core::descriptor opened{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in6 where{};
    where.sin6_family = AF_INET6;
    const auto* const generic = reinterpret_cast<const sockaddr*>(&where);
    if (::bind(opened.number(), generic, sizeof where) != 0 || ::listen(opened.number(), 1) != 0) {
        MESSAGE("no IPv6 here");
        return;
    }
    const auto taken = net::take_listening_socket({opened.release(), "traffic"});
    REQUIRE(taken.has_value());
    CHECK(taken->local.address().to_string() == "::");
    CHECK(taken->local.port() != 0);
}

TEST_CASE("What is no TCP socket that listens is refused with the reason, and stays as it is")
{
    const listening_socket bound{INADDR_LOOPBACK, socket_state::bound};
    CHECK(refusal_of(bound.number()) == refusal(bound.number(), "does not listen"));
    const listening_socket datagrams{INADDR_LOOPBACK, socket_state::bound, SOCK_DGRAM};
    CHECK(refusal_of(datagrams.number()) == refusal(datagrams.number(), "is not a TCP socket"));
    const core::descriptor local{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    CHECK(refusal_of(local.number()) == refusal(local.number(), "is a Unix-domain socket"));
    const core::descriptor file{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    CHECK(refusal_of(file.number()) == refusal(file.number(), "is not a socket"));
    CHECK(refusal_of(1'000'000) == refusal(1'000'000, "is not open"));
    for (const auto number : {bound.number(), datagrams.number(), local.number(), file.number()}) {
        CHECK(::fcntl(number, F_GETFD) != -1);
    }
}

TEST_SUITE_END();
