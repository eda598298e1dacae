#include "gateway/mcp_path/session_subscriptions.hpp"

#include "tests/unit/gateway/mcp_path/translated_rig.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

TEST_SUITE_BEGIN("gateway/mcp_path/session_subscriptions");

using namespace mcp_path_test;
using gateway::mcp_path::session_subscriptions;

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

    // Of the latest.
    std::string id_of_listen(std::size_t number = 0) const
    {
        std::string id;
        for (const auto& each : programs.lines.at(number)) {
            if (each.find("subscriptions/listen") != std::string::npos) {
                id = mcp::members_of(each).find("id");
            }
        }
        return id;
    }

    std::size_t listens() const
    {
        std::size_t count = 0;
        for (const auto& each : programs.messages) {
            count += each.method == "subscriptions/listen" ? 1 : 0;
        }
        return count;
    }

    std::string session = begin_session();
    std::unique_ptr<program_reader> listener;
};

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
    x.pass(session_subscriptions::shortest_pause - 1ms);
    CHECK(x.listens() == 1);
    x.pass(1ms);
    CHECK(x.listens() == 2);
    x.programs.die(1);
    x.poll();
    x.pass(2 * session_subscriptions::shortest_pause - 1ms);
    CHECK(x.listens() == 2);
    x.pass(1ms);
    REQUIRE(x.listens() == 3);
    CHECK(x.all(*x.listener).empty());
    x.acknowledge(R"(["a:1"])", 2);
    CHECK(x.all(*x.listener) == message("", "notifications/resources/updated", R"({"uri":"a:1"})") + "\n");
}

TEST_CASE("1000 resources are the most")
{
    subscribing_rig x;
    for (std::size_t i = 0; i < session_subscriptions::most; ++i) {
        x.subscribe(std::to_string(i));
    }
    CHECK(x.all(*x.subscribe("one more")) == "overloaded");
    CHECK(x.all(*x.subscribe("999")).empty());
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
    x.pass(1s);
    auto changed = std::make_shared<mcp::server_lists>(*x.lists);
    changed->lists[mcp::index_of(mcp::list_kind::tools)] = {{.key = "t", .raw = "{}"}};
    x.lists = changed;
    x.pass(1s);
    CHECK(
        x.all(*x.listener) == R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})"
                              "\n"
    );
    x.pass(1s);
    CHECK(x.all(*x.listener).empty());
}

TEST_SUITE_END();
