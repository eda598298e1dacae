#include "tests/unit/mcp/bundle/bundle_example.hpp"

#include <doctest/doctest.h>

#include <chrono>

TEST_SUITE_BEGIN("mcp/bundle/bundle_catalog");

using mcp::bundle_catalog;
using mcp::list_kind;
using mcp::reach;
using tests::catalog_of;
using tests::tools_of;

namespace {

const mcp::bundle_sight everything;

std::string raw_of(const mcp::member_catalog& catalog, list_kind list)
{
    REQUIRE(catalog[list].size() == 1);
    const auto& entry = catalog[list].front();
    CHECK(entry.key.of(entry.raw) == '"' + entry.exposed + '"');
    return entry.raw;
}

}  // namespace

TEST_CASE("an entry of a bundle has the exposed name, and every other byte is the server's")
{
    mcp::server_lists lists;
    tests::add_item(lists, list_kind::tools, "a.b", R"({"x":1.50,"n\u0061me":"a.b","i":{"name":"a.b"}})");
    CHECK(raw_of(*catalog_of("m", lists), list_kind::tools) == R"({"x":1.50,"n\u0061me":"m__a_b","i":{"name":"a.b"}})");
    const auto catalog = catalog_of("", tools_of({"plain"}));
    CHECK(raw_of(*catalog, list_kind::tools) == R"({"name":"plain","x":1.50})");
}

TEST_CASE("the address of an app's page is exposed in each spelling")
{
    mcp::server_lists lists;
    tests::add_item(
        lists,
        list_kind::tools,
        "t",
        R"({"_meta":{"ui":{"resourceUri":"ui://v","x":"ui://v"},"ui/resourceUri":"ui://v","openai\/outputTemplate":"ui://v","u":"ui://v"},"name":"t"})"
    );
    CHECK(
        raw_of(*catalog_of("m", lists), list_kind::tools) ==
        R"({"_meta":{"ui":{"resourceUri":"ui://m+v","x":"ui://v"},"ui/resourceUri":"ui://m+v","openai\/outputTemplate":"ui://m+v","u":"ui://v"},"name":"m__t"})"
    );
}

TEST_CASE("the filters of the agent count first, those of the bundle by exposed name")
{
    tests::example_filters filters;
    filters.own.tools.deny = {"secret"};
    filters.own.tools.names = {{"old", "new"}};
    filters.own.tools.descriptions = {{"new", "Says"}};
    filters.bundle.tools.deny = {"*delete*", "m__old"};
    const auto catalog = catalog_of("m", tools_of({"secret", "old", "delete_all"}), filters);
    CHECK(raw_of(*catalog, list_kind::tools) == R"({"name":"m__new","description":"Says","x":1.50})");
    const auto& entry = (*catalog)[list_kind::tools].front();
    CHECK(entry.own == "new");
    CHECK(entry.original == "old");
    CHECK(catalog->place_of(list_kind::tools, "new") == 0U);
    CHECK_FALSE(catalog->place_of(list_kind::tools, "old"));
}

TEST_CASE("a member that is starting shows nothing")
{
    const mcp::member_catalog starting{
        nullptr,
        std::make_shared<mcp::name_filters>(),
        std::make_shared<mcp::name_filters>(),
        {"m"}
    };
    CHECK_FALSE(starting.known());
    CHECK(starting[list_kind::tools].empty());
    CHECK_FALSE(starting.place_of(list_kind::tools, "x"));
}

TEST_CASE("a name leads to its member, also without a prefix if one member alone has it")
{
    const bundle_catalog bundle{{catalog_of("a", tools_of({"x", "only"})), catalog_of("b", tools_of({"x"}))}};
    const auto full = bundle.find_named(list_kind::tools, "b__x", everything);
    CHECK(full.to == reach::one);
    CHECK(full.member == 1);
    CHECK(full.own == "x");
    CHECK(full.prefixed);
    const auto bare = bundle.find_named(list_kind::tools, "only", everything);
    CHECK(bare.to == reach::one);
    CHECK(bare.member == 0);
    CHECK_FALSE(bare.prefixed);
    const auto several = bundle.find_named(list_kind::tools, "x", everything);
    CHECK(several.to == reach::several);
    CHECK(several.full_forms == std::vector<std::string>{"a__x", "b__x"});
    CHECK(bundle.find_named(list_kind::tools, "c__x", everything).to == reach::none);
    CHECK(bundle.find_named(list_kind::prompts, "a__x", everything).to == reach::none);
    CHECK(bundle.find_named(list_kind::tools, "", everything).to == reach::none);
}

TEST_CASE("a caller finds only what it sees")
{
    const bundle_catalog bundle{{catalog_of("a", tools_of({"x", "y"})), catalog_of("b", tools_of({"x"}))}};
    const mcp::bundle_sight without_b{.member = [](std::size_t member, list_kind) { return member == 0; }};
    CHECK(bundle.find_named(list_kind::tools, "b__x", without_b).to == reach::none);
    CHECK(bundle.find_named(list_kind::tools, "x", without_b).member == 0);
    const mcp::bundle_sight without_y{.entry = [](std::size_t, list_kind, const mcp::shown_entry& entry) {
        return entry.own != "y";
    }};
    CHECK(bundle.find_named(list_kind::tools, "a__y", without_y).to == reach::none);
    CHECK(bundle.find_named(list_kind::tools, "y", without_y).to == reach::none);
    CHECK(bundle.digest(list_kind::tools, without_y) != bundle.digest(list_kind::tools, everything));
    std::vector<std::string> seen;
    bundle.each(list_kind::tools, without_y, [&seen](std::size_t, const mcp::shown_entry& entry) {
        seen.push_back(entry.exposed);
    });
    CHECK(seen == std::vector<std::string>{"a__x", "b__x"});
}

TEST_CASE("a member without a prefix is renamed where its name is another's, and a taken name is given to none")
{
    const std::vector<std::string> taken{"find_tools"};
    const bundle_catalog bundle{
        {catalog_of("", tools_of({"a__x", "find_tools", "y"})), catalog_of("a", tools_of({"x"}))},
        taken
    };
    CHECK(bundle.find_named(list_kind::tools, "a__x", everything).member == 1);
    const auto* const moved = bundle.at(0, list_kind::tools, 0);
    REQUIRE(moved != nullptr);
    CHECK(moved->exposed.starts_with("a__x_"));
    CHECK(moved->raw == R"({"name":")" + moved->exposed + R"(","x":1.50})");
    CHECK(bundle.find_named(list_kind::tools, moved->exposed, everything).own == "a__x");
    CHECK(bundle.at(0, list_kind::tools, 1)->exposed.starts_with("find_tools_"));
    CHECK(bundle.at(0, list_kind::tools, 2)->exposed == "y");
    CHECK(bundle.shown(list_kind::tools) == 4);
}

TEST_CASE("tools beyond the limit are left out, counted, and lead nowhere")
{
    const bundle_catalog bundle{{catalog_of("a", tools_of({"x", "y"})), catalog_of("b", tools_of({"x", "z"}))}, {}, 3};
    CHECK(bundle.shown(list_kind::tools) == 3);
    CHECK(bundle.left_out(list_kind::tools) == 1);
    CHECK(bundle.find_named(list_kind::tools, "b__z", everything).to == reach::none);
    CHECK(bundle.find_named(list_kind::tools, "z", everything).to == reach::none);
    CHECK(bundle.find_named(list_kind::tools, "b__x", everything).to == reach::one);
}

TEST_CASE("a URI leads to its member by prefix, by what one member has, and by a template")
{
    mcp::server_lists one;
    tests::add_resource(one, "file:///same");
    tests::add_resource(one, "x://a");
    mcp::server_lists two;
    tests::add_resource(two, "file:///same");
    tests::add_template(two, "t://{id}");
    const bundle_catalog bundle{{catalog_of("One_1", one), catalog_of("two", two)}};
    const auto full = bundle.find_uri("one-1+file:///same", everything);
    CHECK(full.to == reach::one);
    CHECK(full.member == 0);
    CHECK(full.own == "file:///same");
    REQUIRE(full.entry != nullptr);
    CHECK(full.entry->raw == R"({"uri":"one-1+file:///same","name":"r"})");
    // A link in a result need not be in a list.
    CHECK(bundle.find_uri("two+other://x", everything).member == 1);
    CHECK(bundle.find_uri("two+other://x", everything).entry == nullptr);
    const auto bare = bundle.find_uri("x://a", everything);
    CHECK(bare.to == reach::one);
    CHECK_FALSE(bare.prefixed);
    const auto expanded = bundle.find_uri("t://7", everything);
    CHECK(expanded.to == reach::one);
    CHECK(expanded.member == 1);
    CHECK(expanded.own == "t://7");
    CHECK_FALSE(expanded.prefixed);
    CHECK(bundle.find_uri("two+t://{id}", everything).own == "t://{id}");
    const auto several = bundle.find_uri("file:///same", everything);
    CHECK(several.to == reach::several);
    CHECK(several.full_forms == std::vector<std::string>{"one-1+file:///same", "two+file:///same"});
    CHECK(bundle.find_uri("none://x", everything).to == reach::none);
    CHECK(bundle.find_uri("", everything).to == reach::none);
}

TEST_CASE("a member without a prefix has what nobody else has, and does not hide others")
{
    mcp::server_lists bare;
    tests::add_resource(bare, "a+x://1");
    tests::add_resource(bare, "git+https://h/r");
    mcp::server_lists lists;
    tests::add_resource(lists, "x://1");
    const bundle_catalog bundle{{catalog_of("", bare), catalog_of("a", lists), catalog_of("git", lists)}};
    CHECK(bundle.find_uri("a+x://1", everything).member == 1);
    CHECK(bundle.at(0, list_kind::resources, 0) == nullptr);
    CHECK(bundle.left_out(list_kind::resources) == 1);
    // Listed counts before a prefix of what nothing lists.
    CHECK(bundle.find_uri("git+https://h/r", everything).member == 0);
    CHECK(bundle.find_uri("git+https://h/r", everything).prefixed);
    CHECK(bundle.find_uri("git+https://h/s", everything).member == 2);
    CHECK(bundle.find_uri("any://thing", everything).member == 0);
    CHECK(bundle.find_uri("any://thing", everything).prefixed);
}

TEST_CASE("the bundle's filters of resources hold for URIs that nothing lists, in other spellings too")
{
    tests::example_filters filters;
    filters.bundle.resources.deny = {"m+file:///etc/*", "m+file:///a%20b"};
    const bundle_catalog bundle{{catalog_of("m", {}, filters)}};
    CHECK(bundle.find_uri("m+file:///tmp/x", everything).to == reach::one);
    for (const std::string_view hidden :
         {"m+file:///etc/passwd",
          "M+file:///etc/passwd",
          "m+file:///tmp/../etc/passwd",
          "m+file:///%65tc/passwd",
          "m+FILE:///etc/passwd",
          "m+file://localhost/etc/passwd",
          "m+file:///a%20b"}) {
        CAPTURE(hidden);
        CHECK(bundle.find_uri(hidden, everything).to == reach::none);
    }
}

TEST_CASE("a bundle of 64 members with 5,000 tools is put together within 100 ms")
{
    bundle_catalog::member_list members;
    for (std::size_t member = 0; member < 64; ++member) {
        std::vector<std::string> names;
        for (std::size_t i = 0; i < 79; ++i) {
            names.push_back("tool_number_" + std::to_string(i));
        }
        members.push_back(catalog_of("member" + std::to_string(member), tools_of(names)));
    }
    const auto begin = std::chrono::steady_clock::now();
    const bundle_catalog bundle{members};
    const auto took = std::chrono::steady_clock::now() - begin;
    MESSAGE("put together in ", std::chrono::duration_cast<std::chrono::microseconds>(took).count(), " us");
    CHECK(took < std::chrono::milliseconds{100});
    CHECK(bundle.shown(list_kind::tools) == 5000);
    CHECK(bundle.left_out(list_kind::tools) == 56);
}

TEST_SUITE_END();
