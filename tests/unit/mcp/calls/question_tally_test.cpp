#include "mcp/calls/exchange_book.hpp"
#include "mcp/calls/server_questions.hpp"
#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <memory>

TEST_SUITE_BEGIN("mcp/calls/question_tally");

using namespace mcp_test;

TEST_CASE("What a server asks is counted by method, and by whether the client gets it")
{
    mcp::book_settings settings;
    settings.declared = {"roots"};
    settings.tally = std::make_shared<mcp::question_tally>();
    mcp::exchange_book book{settings};
    REQUIRE(book.begin(call("1")).has_value());
    book.take(question("5", "roots/list"));
    book.take(question("6", "elicitation/create"));
    book.take(question("7", "ping"));
    book.take(question("8", "made/up"));
    using counts = std::array<std::uint64_t, mcp::question_tally::ends>;
    CHECK(settings.tally->counts[0] == counts{0, 0});
    CHECK(settings.tally->counts[1] == counts{0, 1});
    CHECK(settings.tally->counts[2] == counts{1, 0});
    CHECK(settings.tally->counts[3] == counts{1, 0});
    CHECK(settings.tally->counts[4] == counts{1, 0});
    settings.shared = true;
    mcp::exchange_book shared{settings};
    REQUIRE(shared.begin(call("1")).has_value());
    shared.take(question("5", "roots/list"));
    CHECK(settings.tally->counts[2] == counts{1, 1});
}

TEST_SUITE_END();
