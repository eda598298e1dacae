#include "core/agent.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("core/agent");

TEST_CASE("an id is one path segment that no normalisation changes")
{
    for (const auto* id : {"a", "weather", "A-1_b.c", "well-known", ".well-knowns", "..." /* has ".." */}) {
        CAPTURE(id);
        CHECK(core::valid_agent_id(id) == (std::string{id} != "..."));
    }
    for (const auto* id : {"", ".", "..", "a/b", "a..b", "a b", "a%2fb", "a;b", "a\\b", "\xC3\xA9", ".well-known"}) {
        CAPTURE(id);
        CHECK_FALSE(core::valid_agent_id(id));
    }
}

TEST_CASE("an id has at most 128 characters")
{
    CHECK(core::valid_agent_id(std::string(127, 'a')));
    CHECK(core::valid_agent_id(std::string(128, 'a')));
    CHECK_FALSE(core::valid_agent_id(std::string(129, 'a')));
}

TEST_SUITE_END();
