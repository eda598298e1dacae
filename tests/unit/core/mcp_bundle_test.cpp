#include "core/mcp_bundle.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("core/mcp_bundle");

namespace {

using places = std::vector<core::bundle_place>;
using gaps = std::vector<std::pair<std::string, core::bundle_gap>>;

core::mcp_bundle bundle_of(std::vector<core::bundle_member> agents)
{
    core::mcp_bundle bundle;
    bundle.agents = std::move(agents);
    return bundle;
}

}  // namespace

TEST_CASE("a prefix is a letter and up to 31 letters, digits, hyphens and underscores that end no name early")
{
    for (const auto& fit : {std::string{"a"}, std::string{"A-1_b"}, std::string{"a-"}, std::string(32, 'a')}) {
        CAPTURE(fit);
        CHECK(core::valid_bundle_prefix(fit));
        CHECK(core::proposed_prefix(fit) == fit);
    }
    for (const auto& unfit :
         {std::string{},
          std::string{"1a"},
          std::string{"-a"},
          std::string{"_a"},
          std::string{"a_"},
          std::string{"a__b"},
          std::string{"a.b"},
          std::string{"a b"},
          std::string{"\xC3\xA9"},
          std::string(33, 'a')}) {
        CAPTURE(unfit);
        CHECK_FALSE(core::valid_bundle_prefix(unfit));
        CHECK(core::valid_bundle_prefix(core::proposed_prefix(unfit)));
    }
}

TEST_CASE("a proposed prefix reads like the id")
{
    CHECK(core::proposed_prefix("team.files") == "team-files");
    CHECK(core::proposed_prefix("a__b_") == "a_b");
    CHECK(core::proposed_prefix("7.wonders") == "wonders");
    CHECK(core::proposed_prefix("...") == "agent");
    CHECK(core::proposed_prefix("12") == "agent");
    CHECK(core::proposed_prefix(std::string(40, 'x')) == std::string(32, 'x'));
    CHECK(core::proposed_prefix(std::string(31, 'x') + "_y") == std::string(31, 'x'));
}

TEST_CASE("a scheme has small letters and no underscore")
{
    CHECK(core::bundle_scheme("My_Files-2") == "my-files-2");
    CHECK(core::bundle_scheme("").empty());
}

TEST_CASE("members stand in written order, and a pattern brings the agents that are not named, by id")
{
    const auto bundle = bundle_of({{"search"}, {"geo-*"}, {"team.files", "files"}, {"geo-b", "b"}, {"*"}, {"later"}});
    const auto found = core::places_of(bundle, {"aaa", "geo-a", "geo-b", "geo-c", "search", "team.files"});
    CHECK(
        found.members ==
        places{
            {"search", "search"},
            {"geo-a", "geo-a"},
            {"geo-c", "geo-c"},
            {"team.files", "files"},
            {"geo-b", "b"},
            {"aaa", "aaa"}
        }
    );
    CHECK(found.skipped.empty());
}

TEST_CASE("a pattern brings no agent whose id is no prefix or has the scheme of another member")
{
    using enum core::bundle_gap;
    const auto bundle = bundle_of({{"*"}, {"x", "a_b"}, {"y", ""}});
    const auto found = core::places_of(bundle, {"A-B", "Files", "a.c", "files", "x", "y"});
    CHECK(found.members == places{{"Files", "Files"}, {"x", "a_b"}, {"y", ""}});
    CHECK(found.skipped == gaps{{"A-B", taken}, {"a.c", unfit_id}, {"files", taken}});
    CHECK(core::name(taken) == "taken");
    CHECK(core::name(unfit_id) == "unfit_id");
    CHECK(core::name(full) == "full");
}

TEST_CASE("a pattern brings no agent whose id leaves no room for names")
{
    auto bundle = bundle_of({{"*"}});
    bundle.name_length = core::least_bundle_name;
    const std::string fit(12, 'a');
    const auto found = core::places_of(bundle, {fit, fit + "b"});
    CHECK(found.members == places{{fit, fit}});
    CHECK(found.skipped == gaps{{fit + "b", core::bundle_gap::unfit_id}});
}

TEST_CASE("a bundle has at most 64 agents, of which those that are named come before those that a pattern brings")
{
    std::vector<std::string> ids;
    for (int i = 100; i < 170; ++i) {
        ids.push_back("a" + std::to_string(i));
    }
    const auto found = core::places_of(bundle_of({{"*"}, {"a169"}}), ids);
    CHECK(found.members.size() == core::most_bundle_agents);
    CHECK(found.members.front().id == "a100");
    CHECK(found.members.back().id == "a169");
    CHECK(found.skipped.size() == 6);
    CHECK(found.skipped.front() == std::pair{std::string{"a163"}, core::bundle_gap::full});
}

TEST_SUITE_END();
