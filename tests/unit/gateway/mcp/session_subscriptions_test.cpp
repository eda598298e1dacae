#include "gateway/mcp/eras/session_subscriptions.hpp"

#include "tests/unit/gateway/mcp/translated_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/eras/session_subscriptions");

using namespace mcp_path_test;
using gateway::mcp::eras::session_subscriptions;

namespace {

class subscribing_rig : public translated_rig {
public:
    subscribing_rig()
    {
        listener = open(asked(program_act::listen, session));
        all(*listener);
    }

    std::unique_ptr<program_reader> subscribe(const std::string& uri, const std::string& id = "1")
    {
        return open(
            asked(program_act::request, session, message(id, "resources/subscribe", R"({"uri":")" + uri + "\"}"))
        );
    }

    std::string unsubscribe(const std::string& uri)
    {
        return all(
            asked(program_act::request, session, message("9", "resources/unsubscribe", R"({"uri":")" + uri + "\"}"))
        );
    }

    void acknowledge(const std::string& uris, std::size_t number = 0)
    {
        say(message(
                "",
                "notifications/subscriptions/acknowledged",
                R"({"notifications":{"resourceSubscriptions":)" + uris +
                    R"(},"_meta":{"io.modelcontextprotocol/subscriptionId":)" + id_of_listen(number) + "}}"
            ),
            number);
    }

    void update(const std::string& uri, const std::string& id)
    {
        say(message(
            "",
            "notifications/resources/updated",
            R"({"uri":")" + uri + R"(","_meta":{"io.modelcontextprotocol/subscriptionId":)" + id + R"(,"x":1.50}})"
        ));
    }

    std::string_view latest_listen(std::size_t number = 0) const
    {
        const auto& lines = programs.lines.at(number);
        const auto found = std::find_if(lines.rbegin(), lines.rend(), [](const std::string& each) {
            return each.find("subscriptions/listen") != std::string::npos;
        });
        return found == lines.rend() ? std::string_view{} : *found;
    }
    std::string id_of_listen(std::size_t number = 0) const
    {
        return std::string{mcp::members_of(latest_listen(number)).find("id")};
    }

    std::size_t listens() const
    {
        std::size_t count = 0;
        for (const auto& each : programs.messages) {
            count += each.method == "subscriptions/listen" ? 1 : 0;
        }
        return count;
    }

    // The server acknowledges whatever it is asked for, until it is asked for no more.
    void acknowledge_all()
    {
        for (std::string last; last != id_of_listen();) {
            last = id_of_listen();
            const auto params = mcp::members_of(mcp::members_of(latest_listen()).object("params"));
            const auto wishes = mcp::members_of(params.object("notifications"));
            acknowledge(std::string{wishes.find("resourceSubscriptions")});
        }
    }

    // Subscribed to, one after the other; what came of the last.
    std::string subscribe_all(const std::vector<std::string>& uris)
    {
        std::string last;
        for (const auto& each : uris) {
            const auto reader = subscribe(each);
            acknowledge_all();
            last = all(*reader);
        }
        return last;
    }

    // How late in the spread this session is.
    core::duration late() const
    {
        const auto place = static_cast<unsigned char>(session.front()) / 256.0;
        return std::chrono::duration_cast<core::duration>(session_subscriptions::spread * place);
    }

    std::string session = begin_session();
    std::unique_ptr<program_reader> listener;
};

const std::string subscribed = answer_text("1") + "\nover";

std::string updated(const std::string& uri)
{
    return message("", "notifications/resources/updated", R"({"uri":")" + uri + R"(","_meta":{"x":1.50}})");
}

}  // namespace

TEST_CASE("Subscriptions are one listen, which is made again when they change, and its end follows the next one's begin"
)
{
    subscribing_rig x;
    const auto first = x.subscribe("a:1");
    CHECK(x.line().find(R"("notifications":{"resourceSubscriptions":["a:1"]})") != std::string::npos);
    CHECK(x.all(*first).empty());
    x.acknowledge(R"(["a:1"])");
    CHECK(x.all(*first) == answer_text("1") + "\nover");
    const auto of_first = x.id_of_listen();
    x.update("a:1", of_first);
    CHECK(x.all(*x.listener) == updated("a:1") + "\n");

    const auto second = x.subscribe("a:2", "2");
    CHECK(x.line().find(R"("resourceSubscriptions":["a:1","a:2"])") != std::string::npos);
    x.update("a:1", of_first);
    CHECK(x.all(*x.listener) == updated("a:1") + "\n");
    x.acknowledge(R"(["a:1","a:2"])");
    CHECK(x.all(*second) == answer_text("2") + "\nover");
    CHECK(x.line().find("notifications/cancelled") != std::string::npos);
    CHECK(x.line().find(R"("requestId":)" + of_first) != std::string::npos);

    CHECK(x.unsubscribe("a:1") == answer_text("9") + "\nover");
    CHECK(x.line().find(R"("resourceSubscriptions":["a:2"])") != std::string::npos);
    x.acknowledge(R"(["a:2"])");
    CHECK(x.unsubscribe("a:2") == answer_text("9") + "\nover");
    CHECK(x.line().find("notifications/cancelled") != std::string::npos);
    CHECK(x.listens() == 3);
    CHECK(x.unsubscribe("a:3") == answer_text("9") + "\nover");
    CHECK(x.listens() == 3);
}

TEST_CASE("A resource of which the server does not tell is refused, and the others stay")
{
    subscribing_rig x;
    const auto reader = x.subscribe("a:1");
    x.acknowledge("[]");
    CHECK(x.all(*reader).find(R"("code":-32602)") != std::string::npos);
    CHECK(x.all(*x.subscribe("")).find(R"("code":-32602)") != std::string::npos);
    CHECK(
        x.all(*x.subscribe(std::string(session_subscriptions::longest_uri + 1, 'a'))).find(R"("code":-32602)") !=
        std::string::npos
    );
}

TEST_CASE("A server that refuses to tell of changes is heard by the client")
{
    subscribing_rig x;
    const auto reader = x.subscribe("a:1", R"("s")");
    x.say(
        R"({"jsonrpc":"2.0","id":)" + x.id_of_listen() + R"(,"error":{"code":-32601,"message":"what?","data":1.50}})"
    );
    CHECK(
        x.all(*reader) == R"({"jsonrpc":"2.0","id":"s","error":{"code":-32601,"message":"what?","data":1.50}})"
                          "\nover"
    );
    x.pass(1min);
    CHECK(x.listens() == 1);
}

TEST_CASE("A subscription that nobody acknowledges fails after timeouts.request")
{
    subscribing_rig x;
    const auto reader = x.subscribe("a:1");
    x.pass(x.server.request_timeout - 1ms);
    CHECK(x.all(*reader).empty());
    x.pass(1ms);
    CHECK(x.all(*reader) == "upstream_timeout");
}

TEST_CASE("A subscription whose program ends is made again, later each time, and what was missed is told")
{
    subscribing_rig x;
    const auto reader = x.subscribe("a:1");
    x.acknowledge(R"(["a:1"])");
    x.all(*reader);
    x.programs.die();
    x.poll();
    x.pass(session_subscriptions::shortest_pause + x.late() - 1ms);
    CHECK(x.listens() == 1);
    x.pass(1ms);
    CHECK(x.listens() == 2);
    x.programs.die(1);
    x.poll();
    x.pass(2 * session_subscriptions::shortest_pause + x.late() - 1ms);
    CHECK(x.listens() == 2);
    x.pass(1ms);
    REQUIRE(x.listens() == 3);
    CHECK(x.all(*x.listener).empty());
    x.acknowledge(R"(["a:1"])", 2);
    CHECK(x.all(*x.listener) == message("", "notifications/resources/updated", R"({"uri":"a:1"})") + "\n");
}

TEST_CASE("A subscription that ends soon after it was acknowledged is not made again sooner, and one that has lived is")
{
    subscribing_rig x;
    CHECK(x.subscribe_all({"a:1"}) == subscribed);
    x.programs.die();
    x.poll();
    x.pass(session_subscriptions::shortest_pause + x.late());
    REQUIRE(x.listens() == 2);
    x.acknowledge(R"(["a:1"])", 1);
    SUBCASE("soon")
    {
        x.pass(session_subscriptions::longest_pause - 1ms);
        x.programs.die(1);
        x.poll();
        x.pass(2 * session_subscriptions::shortest_pause + x.late() - 1ms);
        CHECK(x.listens() == 2);
    }
    SUBCASE("it has lived")
    {
        x.pass(session_subscriptions::longest_pause);
        x.programs.die(1);
        x.poll();
        x.pass(session_subscriptions::shortest_pause + x.late());
        CHECK(x.listens() == 3);
    }
}

TEST_CASE("Sessions that lose their subscriptions at once do not make them again at once")
{
    subscribing_rig x;
    constexpr std::size_t sessions = 64;
    for (std::size_t i = 0; i < sessions; ++i) {
        x.session = x.begin_session();
        CHECK(x.subscribe_all({"a:1"}) == subscribed);
    }
    x.programs.die();
    x.poll();
    x.pass(session_subscriptions::shortest_pause + session_subscriptions::spread / 2);
    CHECK(x.listens() > sessions);
    CHECK(x.listens() < 2 * sessions);
    x.pass(session_subscriptions::spread / 2);
    CHECK(x.listens() == 2 * sessions);
}

TEST_CASE("What is subscribed to while a listen is not acknowledged waits for that, and goes up together")
{
    subscribing_rig x;
    const auto first = x.subscribe("a:1");
    const auto second = x.subscribe("a:2", "2");
    const auto third = x.subscribe("a:3", "3");
    const auto again = x.subscribe("a:1", "4");
    CHECK(x.listens() == 1);
    x.acknowledge(R"(["a:1"])");
    CHECK(x.all(*first) == subscribed);
    CHECK(x.all(*again) == answer_text("4") + "\nover");
    CHECK(x.all(*second).empty());
    REQUIRE(x.listens() == 2);
    x.acknowledge(R"(["a:1","a:3"])");
    CHECK(x.all(*second).find(R"("id":2,"error":{"code":-32602)") != std::string::npos);
    CHECK(x.all(*third) == answer_text("3") + "\nover");
    CHECK(x.all(*x.subscribe("a:3")) == subscribed);
    CHECK(x.listens() == 2);
}

TEST_CASE("A client that goes on subscribing does not keep a silent server from being given up")
{
    subscribing_rig x;
    const auto first = x.subscribe("a:1");
    x.pass(x.server.request_timeout - 1ms);
    const auto second = x.subscribe("a:2");
    x.pass(1ms);
    CHECK(x.all(*first) == "upstream_timeout");
    CHECK(x.all(*second) == "upstream_timeout");
}

TEST_CASE("A resource that is unsubscribed before it was acknowledged has both requests answered")
{
    subscribing_rig x;
    const auto reader = x.subscribe("a:1");
    SUBCASE("the only one, whose listen ends")
    {
        CHECK(x.unsubscribe("a:1") == answer_text("9") + "\nover");
        CHECK(x.line().find("notifications/cancelled") != std::string::npos);
        CHECK(x.listens() == 1);
    }
    SUBCASE("one of two, without which the next listen is")
    {
        const auto other = x.subscribe("a:2", "2");
        CHECK(x.unsubscribe("a:1") == answer_text("9") + "\nover");
        x.acknowledge(R"(["a:1"])");
        CHECK(x.line().find(R"("resourceSubscriptions":["a:2"])") != std::string::npos);
        x.acknowledge(R"(["a:2"])");
        CHECK(x.all(*other) == answer_text("2") + "\nover");
    }
    CHECK(x.all(*reader) == subscribed);
}

TEST_CASE(
    "A refusal of a further resource leaves those that were acknowledged, also if they are asked for again meanwhile"
)
{
    subscribing_rig x;
    CHECK(x.subscribe_all({"a:1"}) == subscribed);
    const auto current = x.id_of_listen();
    const auto refused = x.subscribe("a:2", "2");
    CHECK(x.all(*x.subscribe("a:1")) == subscribed);
    x.say(R"({"jsonrpc":"2.0","id":)" + x.id_of_listen() + R"(,"error":{"code":-32602,"message":"no"}})");
    CHECK(x.all(*refused).find(R"("code":-32602)") != std::string::npos);
    x.update("a:1", current);
    CHECK(x.all(*x.listener) == updated("a:1") + "\n");
    const auto third = x.subscribe("a:3");
    CHECK(x.line().find(R"("resourceSubscriptions":["a:1","a:3"])") != std::string::npos);
}

TEST_CASE("A listen that the server cancels before it has acknowledged it fails, and the one before goes on")
{
    subscribing_rig x;
    CHECK(x.subscribe_all({"a:1"}) == subscribed);
    const auto current = x.id_of_listen();
    const auto reader = x.subscribe("a:2");
    x.say(message("", "notifications/cancelled", R"({"requestId":)" + x.id_of_listen() + "}"));
    CHECK(x.all(*reader) == "upstream_protocol");
    x.update("a:1", current);
    CHECK(x.all(*x.listener) == updated("a:1") + "\n");
}

TEST_CASE("1000 resources are the most")
{
    subscribing_rig x;
    std::vector<std::string> uris;
    for (std::size_t i = 0; i < session_subscriptions::most - 1; ++i) {
        uris.push_back(std::to_string(i));
    }
    CHECK(x.subscribe_all(uris) == subscribed);
    CHECK(x.subscribe_all({"the last"}) == subscribed);
    CHECK(x.subscribe_all({"one more"}) == "overloaded");
    CHECK(x.subscribe_all({"998"}) == subscribed);
}

TEST_CASE("256 KiB of URIs are the most")
{
    subscribing_rig x;
    std::vector<std::string> uris;
    for (std::size_t i = 0; i < 130; ++i) {
        uris.push_back(std::string(1996, 'x') + std::to_string(1000 + i));
    }
    CHECK(x.subscribe_all(uris) == subscribed);
    const auto left = session_subscriptions::most_bytes - 130 * 2000;
    for (const auto size : {left - 1, left}) {
        const std::string uri(size, 'y');
        CHECK(x.subscribe_all({uri}) == subscribed);
        x.unsubscribe(uri);
        x.acknowledge_all();
    }
    CHECK(x.subscribe_all({std::string(left + 1, 'y')}) == "overloaded");
}

TEST_CASE("64 requests wait for the server, and no more")
{
    subscribing_rig x;
    std::vector<std::unique_ptr<program_reader>> readers;
    for (std::size_t i = 0; i < session_subscriptions::most_asking; ++i) {
        readers.push_back(x.subscribe(std::to_string(i)));
        CHECK(x.all(*readers.back()).empty());
    }
    CHECK(x.all(*x.subscribe("one more")) == "overloaded");
    x.acknowledge_all();
    CHECK(x.all(*readers.back()) == subscribed);
    CHECK(x.all(*x.subscribe("one more")).empty());
}

TEST_CASE("A session that ends ends its subscription")
{
    subscribing_rig x;
    const auto reader = x.subscribe("a:1");
    const auto id = x.id_of_listen();
    CHECK(x.all(x.asked(program_act::end, x.session)) == "over");
    CHECK(x.all(*reader) == "session_not_found");
    CHECK(x.line().find(R"("requestId":)" + id) != std::string::npos);
}

TEST_CASE("A client hears of lists that have changed, whether or not the server tells it")
{
    subscribing_rig x;
    auto changed = std::make_shared<mcp::server_lists>(*x.lists);
    changed->lists[mcp::index_of(mcp::list_kind::tools)] = {{.key = "t", .raw = "{}"}};
    x.plane.lists_changed("a", changed);
    CHECK(
        x.all(*x.listener) == R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"
                              "\n"
    );
    x.plane.lists_changed("a", std::make_shared<mcp::server_lists>(*changed));
    x.plane.lists_changed("b", x.lists);
    CHECK(x.all(*x.listener).empty());
}

TEST_SUITE_END();
