#include "mcp/bundle/listen_split.hpp"

#include "mcp/translation/list_subscription.hpp"
#include "tests/unit/mcp/bundle/bundle_example.hpp"

#include <doctest/doctest.h>

TEST_SUITE_BEGIN("mcp/bundle/listen_split");

using resources = std::map<std::string, std::string, std::less<>>;
using mcp::split_listen;

namespace {

const mcp::bundle_sight everything;

std::shared_ptr<const mcp::member_catalog> files(std::string as)
{
    mcp::server_lists lists;
    tests::add_resource(lists, "file:///same");
    tests::add_resource(lists, "file:///of-" + as);
    return tests::catalog_of(std::move(as), lists);
}

}  // namespace

TEST_CASE("subscriptions are split by member, with the member's own URIs")
{
    const mcp::bundle_catalog bundle{{files("a"), files("b")}};
    const auto split = split_listen(
        R"({"toolsListChanged":true,"promptsListChanged":false,"resourceSubscriptions":["b+file:///same","file:///of-a","file:///same","B+file:///same","none:x","a+file:///same"]})",
        bundle,
        everything
    );
    REQUIRE(split.has_value());
    CHECK(split->lists[mcp::index_of(mcp::list_kind::tools)]);
    CHECK(split->lists.count() == 1);
    REQUIRE(split->members.size() == 2);
    CHECK(split->members[0].member == 0);
    CHECK(
        split->members[0].resources == resources{{"file:///of-a", "file:///of-a"}, {"file:///same", "a+file:///same"}}
    );
    CHECK(split->members[1].resources == resources{{"file:///same", "b+file:///same"}});
    CHECK(split->unknown == std::vector<std::string>{"file:///same", "none:x"});
    CHECK(
        mcp::listen_params(split->members[0]) ==
        R"({"notifications":{"resourceSubscriptions":["file:///of-a","file:///same"]}})"
    );
    const auto none = split_listen("{}", bundle, everything);
    REQUIRE(none.has_value());
    CHECK(none->members.empty());
}

TEST_CASE("subscriptions that cannot be read are refused")
{
    const mcp::bundle_catalog bundle{{files("a")}};
    std::string many = R"({"resourceSubscriptions":["a:0")";
    for (std::size_t i = 0; i < mcp::most_listened_resources; ++i) {
        many += R"(,"a:1")";
    }
    for (const auto& bad :
         {std::string{"[]"},
          std::string{},
          std::string{R"({"resourceSubscriptions":"a:1"})"},
          std::string{R"({"resourceSubscriptions":["a:1",2]})"},
          std::string{R"({"ResourceSubscriptions":["a:1"]})"},
          std::string{R"({"resourceSubscriptions":[],"resourceSubscriptions":[]})"},
          many + "]}"}) {
        const auto split = split_listen(bad, bundle, everything);
        REQUIRE_FALSE(split.has_value());
        CHECK(split.error().code == core::errc::invalid_params);
    }
}

TEST_CASE("an update has the URI that the client has asked for")
{
    const mcp::listened_member member{0, {{"file:///d", "file:///d"}, {"x:1", "A+x:1"}, {"y://d/", "a+y://d/"}}};
    CHECK(mcp::asked_uri(member, "x:1", "a+x:1") == "A+x:1");
    CHECK(mcp::asked_uri(member, "file:///d", "a+file:///d") == "file:///d");
    CHECK(mcp::asked_uri(member, "file:///d/e", "a+file:///d/e") == "file:///d/e");
    CHECK(mcp::asked_uri(member, "file:///de", "a+file:///de") == "a+file:///de");
    CHECK(mcp::asked_uri(member, "y://d/e", "a+y://d/e") == "a+y://d/e");
}

TEST_CASE("the acknowledgement names lists and resources")
{
    mcp::list_set lists;
    lists[mcp::index_of(mcp::list_kind::tools)] = true;
    const auto text = mcp::acknowledged_text("7", lists, {"a+x:1"});
    CHECK(
        text.find(R"("notifications":{"toolsListChanged":true,"resourceSubscriptions":["a+x:1"]})") != std::string::npos
    );
}

TEST_SUITE_END();
