// Which bundles are built again for a change, and what they share.
#include "tests/unit/gateway/bundles/bundle_rig.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

TEST_SUITE_BEGIN("gateway/bundle_plane");

namespace {

using bundle_tests::bundle_of;
using bundle_tests::bundle_rig;
using names = std::vector<std::string>;

}  // namespace

TEST_CASE("A change builds the bundles again that it concerns, and leaves the others")
{
    bundle_rig x;
    x.configure({bundle_of("one", {{"a"}, {"files-*"}}), bundle_of("two", {{"b"}}), bundle_of("three", {{"a", "as"}})});
    x.add("a", {"echo"});
    x.add("b", {"echo"});
    const auto one = x.bundle("one");
    const auto two = x.bundle("two");
    const auto three = x.bundle("three");
    x.add("a", {"echo", "more"});
    CHECK(x.bundle("one") != one);
    CHECK(x.bundle("two") == two);
    CHECK(x.bundle("three") != three);
    CHECK(x.bundle("one")->catalog->shown(mcp::list_kind::tools) == 2);
    x.plane.lists_changed("b");
    CHECK(x.bundle("two") != two);
    const auto now = x.bundle("one");
    const auto published = x.published;
    x.add("stranger", {});
    CHECK(x.bundle("one") == now);
    CHECK(x.published == published);
}

TEST_CASE("Agents come to a pattern's place and go in any order")
{
    bundle_rig x;
    x.configure({bundle_of("default", {{"files-*"}, {"z"}, {"*"}})});
    for (const auto* const id : {"m", "files-b", "z", "files-a", "c"}) {
        x.add(id, {"t"});
    }
    CHECK(x.members("default") == names{"files-a", "files-b", "z", "c", "m"});
    x.remove("files-b");
    x.remove("c");
    x.remove("nobody");
    CHECK(x.members("default") == names{"files-a", "z", "m"});
    x.add("files-b", {"t"});
    CHECK(x.members("default") == names{"files-a", "files-b", "z", "m"});
}

TEST_CASE("Bundles that show the same of a member share its catalog")
{
    bundle_rig x;
    auto filtered = bundle_of("filtered", {{"a"}});
    filtered.tools.deny = {"a__echo"};
    auto shorter = bundle_of("shorter", {{"a"}});
    shorter.name_length = 32;
    x.configure({bundle_of("one", {{"a"}}), bundle_of("two", {{"a"}}), bundle_of("as", {{"a", "b"}}), filtered, shorter}
    );
    for (const names& tools : {names{"echo"}, names{"echo", "more"}}) {
        x.add("a", tools);
        const auto catalog = x.bundle("one")->catalog->members().front();
        CHECK(x.bundle("two")->catalog->members().front() == catalog);
        for (const auto* const other : {"as", "filtered", "shorter"}) {
            CHECK(x.bundle(other)->catalog->members().front() != catalog);
        }
        CHECK(x.bundle("filtered")->catalog->shown(mcp::list_kind::tools) == tools.size() - 1);
    }
}

TEST_CASE("A bundle stays as it is until its new settings are built, and goes with them")
{
    bundle_rig x;
    x.configure({bundle_of("one", {{"a"}}), bundle_of("two", {{"a"}})});
    x.add("a", {"echo"});
    const auto one = x.bundle("one");
    const auto two = x.bundle("two");
    auto changed = bundle_of("one", {{"a", "as"}});
    x.configure({changed, bundle_of("two", {{"a"}})});
    CHECK(x.plane.published()->find("one")->second == one);
    CHECK(x.bundle("one")->catalog->members().front()->as() == "as");
    CHECK(x.bundle("two") == two);
    x.configure({changed});
    CHECK(x.bundle("two") == nullptr);
    x.configure({});
    CHECK(x.bundle("one") == nullptr);
}

TEST_CASE("A contained agent is a member that is down, also one of which nothing was known before, and as it is now")
{
    bundle_rig x;
    x.configure({bundle_of("default", {{"a"}, {"b"}})});
    x.add("b", {"echo"});
    x.declare("a");
    x.plane.contain("a");
    REQUIRE(x.members("default") == names{"a", "b"});
    const auto member = x.bundle("default")->members[0];
    CHECK(member.state == gateway::model::member_state::down);
    CHECK(member.lists == nullptr);
    const auto changed = x.declare("a");
    x.plane.contain("a");
    CHECK(x.bundle("default")->members[0].agent == changed);
    x.plane.contain("b");
    CHECK(x.bundle("default")->members[1].state == gateway::model::member_state::down);
    CHECK(x.bundle("default")->members[1].lists != nullptr);
    x.plane.set_agent("b", x.declare("b"));
    CHECK(x.bundle("default")->members[1].state == gateway::model::member_state::known);
}

TEST_CASE("A bundle that comes while an agent is contained has it as a member that is down")
{
    bundle_rig x;
    x.add("a", {"echo"});
    x.plane.contain("a");
    x.configure({bundle_of("default", {{"a"}})});
    REQUIRE(x.members("default") == names{"a"});
    CHECK(x.bundle("default")->members[0].state == gateway::model::member_state::down);
}

TEST_CASE("The agents at the start are all there at once")
{
    bundle_rig x;
    std::vector<core::mcp_bundle> all;
    for (int i = 0; i < 32; ++i) {
        all.push_back(bundle_of("b" + std::to_string(i), {{"*"}}));
    }
    x.configure(all);
    x.add("a", {"echo"});
    x.settle();
    CHECK(x.plane.published()->size() == 32);
    for (const auto& [name, each] : *x.plane.published()) {
        CHECK(each->members.size() == 1);
    }
}

TEST_SUITE_END();
