#include "gateway/management/management.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("gateway/management");

using gateway::management::management;

TEST_CASE("the methods have two spellings each, and everything else is other")
{
    CHECK(management::method_name("agents/list") == "agents/list");
    CHECK(management::method_name("agents.list") == "agents/list");
    CHECK(management::method_name("agents/get") == "agents/get");
    CHECK(management::method_name("agents.get") == "agents/get");
    CHECK(management::method_name("agents/refreshCard") == "agents/refreshCard");
    CHECK(management::method_name("agents.refreshCard") == "agents/refreshCard");
    for (const auto* name : {"health", "stats", "card", "history", "upsert", "delete", "reset", "changes"}) {
        CHECK(management::method_name("agents/" + std::string{name}) == "agents/" + std::string{name});
        CHECK(management::method_name("agents." + std::string{name}) == "agents/" + std::string{name});
    }
    for (const auto* name :
         {"", "agents", "agents/", "agents/List", "agents/refreshcard", "agents/list ", "agents_get"}) {
        CAPTURE(name);
        CHECK(management::method_name(name) == "other");
    }
}

TEST_SUITE_END();
