#include "gateway/management/read_methods.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/record_page");

TEST_CASE("A page is an answer with the agents in their order, and with what follows")
{
    gateway::management::record_page empty{"1", 10, 1000};
    CHECK(empty.finish(false) == R"({"jsonrpc":"2.0","id":1,"result":{"agents":[]}})");
    gateway::management::record_page page{R"("x")", 10, 1000};
    CHECK(page.add("a", "{}"));
    CHECK(page.add("b", R"({"id":"b"})"));
    CHECK_FALSE(page.full());
    CHECK(
        page.finish(true, R"(,"summary":{})") ==
        R"({"jsonrpc":"2.0","id":"x","result":{"agents":[{},{"id":"b"}],"next":"b","summary":{}}})"
    );
}

TEST_CASE("A page takes as many agents as its limit says")
{
    gateway::management::record_page page{"1", 2, 1000};
    CHECK(page.add("a", "{}"));
    CHECK_FALSE(page.full());
    CHECK(page.add("b", "{}"));
    CHECK(page.full());
    CHECK_FALSE(page.cut());
    CHECK_FALSE(page.add("c", "{}"));
    CHECK_FALSE(page.cut());
    CHECK(page.finish(true).find(R"("next":"b")") != std::string::npos);
}

TEST_CASE("A page ends before it is larger than it may be, but has one agent whatever its size")
{
    const std::string record(1000, 'r');
    const auto two = [&](std::size_t most) {
        gateway::management::record_page page{"1", 10, most};
        REQUIRE(page.add("a", record));
        const bool both = page.add("b", record);
        CHECK(page.cut() != both);
        CHECK(page.full() != both);
        const auto text = page.finish(page.cut());
        CHECK((text.find(R"("next":"a")") != std::string::npos) != both);
        CHECK((both ? text.size() <= most : text.size() < 1200));
        return both;
    };
    // The frame, both records with a comma between them, and room for the end.
    constexpr std::size_t whole = 45 + 2001 + 256;
    std::size_t least = 0;
    for (std::size_t most = whole - 20; most < whole + 20 && least == 0; ++most) {
        least = two(most) ? most : 0;
    }
    REQUIRE(least != 0);
    CHECK_FALSE(two(least - 1));
    CHECK(two(least));
    CHECK(two(least + 1));
    CHECK_FALSE(two(0));
}

TEST_SUITE_END();
