#include "mcp/calls/shared_subscriptions.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("mcp/calls/shared_subscriptions");

namespace {

using core::errc;
using mcp::shared_subscriptions;

// What a step asks, answers with {} and answers as the server did: "+x" subscribes, "-x" unsubscribes.
std::string shown(const shared_subscriptions::outcome& step)
{
    std::string out;
    if (step.ask) {
        out += (step.ask->subscribes ? "+" : "-") + step.ask->uri + " ";
    }
    for (const auto each : step.done) {
        out += "done" + std::to_string(each) + " ";
    }
    if (step.carried) {
        out += "same" + std::to_string(*step.carried) + " ";
    }
    return out.empty() ? out : out.substr(0, out.size() - 1);
}

class rig {
public:
    std::string subscribe(std::uint64_t client, std::string_view uri, std::uint64_t request = 0)
    {
        const auto step = all.subscribe({client, principal}, uri, request);
        return step ? shown(*step) : std::string{core::name(step.error().code)};
    }
    std::string unsubscribe(std::uint64_t client, std::string_view uri, std::uint64_t request = 0)
    {
        return shown(all.unsubscribe({client, principal}, uri, request));
    }
    std::string answered(std::string_view uri, bool success = true) { return shown(all.answered(uri, success)); }
    std::string leave(std::uint64_t client)
    {
        std::string out;
        for (const auto& each : all.leave(client)) {
            out += shown(each) + ";";
        }
        return out;
    }
    std::string told(std::string_view updated) const
    {
        std::string out;
        all.each_subscriber(updated, [&](std::uint64_t client, const std::string& uri) {
            out += std::to_string(client) + uri + " ";
        });
        return out;
    }

    std::string principal;  // of those who ask
    shared_subscriptions all;
};

}  // namespace

TEST_CASE("The first subscription goes up, those behind it wait for it, and the last one ends it")
{
    rig x;
    CHECK(x.subscribe(1, "x", 11) == "+x");
    CHECK(x.subscribe(2, "x", 12).empty());
    CHECK(x.told("x").empty());
    CHECK(x.answered("x") == "done12 same11");
    CHECK(x.subscribe(3, "x", 13) == "done13");
    CHECK(x.subscribe(3, "x", 14) == "done14");
    CHECK(x.told("x") == "1x 2x 3x ");
    CHECK(x.unsubscribe(1, "x", 15) == "done15");
    CHECK(x.unsubscribe(1, "x", 16) == "done16");
    CHECK(x.leave(2) == ";");
    CHECK(x.unsubscribe(3, "x", 17) == "-x");
    CHECK(x.subscribe(1, "x", 18).empty());
    CHECK(x.answered("x") == "+x same17");
    CHECK(x.answered("x") == "same18");
    CHECK(x.told("x") == "1x ");
    CHECK(x.leave(1) == "-x;");
    CHECK(x.answered("x").empty());
    CHECK(x.all.size() == 0);
    CHECK(x.unsubscribe(1, "y", 19) == "done19");
}

TEST_CASE("A refused subscription is refused to whoever asked for it, and the next one asks for itself")
{
    rig x;
    CHECK(x.subscribe(1, "x", 11) == "+x");
    CHECK(x.subscribe(2, "x", 12).empty());
    CHECK(x.answered("x", false) == "+x same11");
    CHECK(x.answered("x") == "same12");
    CHECK(x.told("x") == "2x ");
    CHECK(x.answered("x").empty());
    CHECK(x.answered("y").empty());
}

TEST_CASE("A client that leaves before its subscription is made leaves none behind")
{
    rig x;
    CHECK(x.subscribe(1, "x", 11) == "+x");
    CHECK(x.leave(1) == ";");
    CHECK(x.answered("x") == "-x");
    CHECK(x.answered("x").empty());
    CHECK(x.subscribe(1, "x", 12) == "+x");
    CHECK(x.subscribe(2, "x", 13).empty());
    CHECK(x.leave(1) == ";");
    CHECK(x.leave(2) == ";");
    CHECK(x.answered("x") == "-x");
    CHECK(x.all.size() == 0);
}

TEST_CASE("What the server has lost is subscribed to again, and what it then refuses is over")
{
    rig x;
    for (const auto* uri : {"x", "y", "z"}) {
        x.subscribe(1, uri);
        x.answered(uri);
    }
    x.subscribe(2, "x", 21);
    CHECK(x.subscribe(2, "w", 22) == "+w");
    CHECK(x.unsubscribe(1, "z", 23) == "-z");
    CHECK(x.all.lose() == std::vector<std::uint64_t>{22, 23});
    CHECK(x.answered("w").empty());
    CHECK(x.told("w").empty());
    const auto first = x.all.restore();
    REQUIRE(first);
    CHECK(first->subscribes);
    CHECK(first->uri == "x");
    x.all.keep_lapsed("x");
    REQUIRE(x.all.restore());
    CHECK(x.answered("x").empty());
    CHECK(x.all.restore()->uri == "y");
    CHECK(x.answered("y", false).empty());
    CHECK(x.all.restore()->uri == "z");
    CHECK_FALSE(x.all.restore());
    CHECK(x.told("x") == "1x 2x ");
    CHECK(x.told("y").empty());
    // Nobody's any more when it is made again.
    CHECK(x.leave(1) == ";;");
    CHECK(x.answered("z") == "-z");
}

TEST_CASE("A client that unsubscribes from what is lost need not wait for the server, one that subscribes does")
{
    rig x;
    x.subscribe(1, "x");
    x.answered("x");
    x.all.lose();
    CHECK(x.subscribe(2, "x", 21) == "+x");
    CHECK(x.answered("x", false) == "same21");
    CHECK(x.all.restore()->uri == "x");
    CHECK(x.answered("x").empty());
    x.all.lose();
    CHECK(x.unsubscribe(1, "x", 22) == "done22");
    CHECK_FALSE(x.all.restore());
    CHECK(x.all.size() == 0);
}

TEST_CASE("A part of a resource is updated for those subscribed to the whole, once")
{
    rig x;
    for (const auto& [client, uri] : std::vector<std::pair<std::uint64_t, std::string>>{
             {1, "file:///a"},
             {2, "file:///a/"},
             {3, "file:///a/b"},
             {3, "file:///a"},
             {4, "file:///ab"}
         }) {
        x.subscribe(client, uri);
        x.answered(uri);
    }
    CHECK(x.told("file:///a/b#c") == "3file:///a/b 2file:///a/ 1file:///a ");
    CHECK(x.told("file:///abc").empty());
    CHECK(x.told("").empty());
    CHECK(x.told("/").empty());
}

TEST_CASE("A client has 1,000 subscriptions and no more, all have 10,000, and a URI has 4,096 bytes")
{
    rig x;
    const auto uri = [](std::uint64_t number) { return "r:" + std::to_string(number); };
    for (std::uint64_t i = 0; i < shared_subscriptions::most_of_one; ++i) {
        REQUIRE(x.subscribe(1, uri(i)) == "+" + uri(i));
    }
    CHECK(x.subscribe(1, "r:more") == "overloaded");
    CHECK(x.answered(uri(0)) == "same0");
    CHECK(x.subscribe(1, uri(0), 5) == "done5");
    for (std::uint64_t client = 2; client <= 10; ++client) {
        for (std::uint64_t i = 0; i < shared_subscriptions::most_of_one; ++i) {
            x.subscribe(client, uri(i));
        }
    }
    CHECK(x.all.size() == shared_subscriptions::most);
    CHECK(x.subscribe(11, "r:more") == "overloaded");
    x.leave(2);
    CHECK(x.subscribe(11, "r:more") == "+r:more");
    CHECK(x.subscribe(11, std::string(shared_subscriptions::longest_uri, 'u')).size() > 4096);
    CHECK(x.subscribe(11, std::string(shared_subscriptions::longest_uri + 1, 'u')) == "invalid_params");
    CHECK(x.subscribe(11, "") == "invalid_params");
}

TEST_CASE("Clients of a principal have 5,000 subscriptions and no more, and what one of them ends another may have")
{
    rig x;
    x.principal = "p";
    const auto uri = [](std::uint64_t number) { return "r:" + std::to_string(number); };
    for (std::uint64_t i = 0; i < shared_subscriptions::most_of_principal; ++i) {
        REQUIRE(x.subscribe(1 + i / shared_subscriptions::most_of_one, uri(i)) == "+" + uri(i));
    }
    CHECK(x.subscribe(6, "r:more") == "overloaded");
    // What it has already, and what it gives up.
    CHECK(x.subscribe(1, uri(0)).empty());
    CHECK(x.unsubscribe(6, uri(1)).empty());
    x.principal = "q";
    CHECK(x.subscribe(7, "r:more") == "+r:more");
    x.principal.clear();
    CHECK(x.subscribe(8, "r:other") == "+r:other");
    x.principal = "p";
    CHECK(x.subscribe(6, "r:new") == "overloaded");
    x.leave(6);
    CHECK(x.subscribe(6, "r:new") == "overloaded");
    x.leave(5);
    CHECK(x.subscribe(6, "r:new") == "+r:new");
    for (const auto client : {1U, 2U, 3U, 4U, 6U, 7U, 8U}) {
        x.leave(client);
    }
    CHECK(x.all.lose().empty());
    CHECK(x.all.size() == 0);
}

TEST_SUITE_END();
