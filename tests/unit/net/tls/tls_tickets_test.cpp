#include "net/tls/tls_tickets.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>

TEST_SUITE_BEGIN("net/tls/tls_tickets");

TEST_CASE("Ticket keys that are passed are those of the process that passed them, and no other text is any")
{
    const auto now = core::steady_time{} + std::chrono::hours{5};
    net::ticket_keys old{now - std::chrono::hours{2}};
    old.rotate(now - std::chrono::minutes{1});
    const auto passed = old.pass(now);
    net::ticket_keys next{now, passed};
    CHECK(next.pass(now) == passed);
    next.rotate(now);  // not yet: the latest key has not sealed for a period
    CHECK(next.pass(now) == passed);
    next.rotate(now + net::ticket_keys::period);
    CHECK(next.pass(now + net::ticket_keys::period) != passed);
    for (const auto& text : {std::string{}, passed.substr(1), passed + passed, std::string(8, 'x')}) {
        net::ticket_keys made{now, text};
        CHECK(made.pass(now).size() == 8 + 80);
    }
}

TEST_SUITE_END();
