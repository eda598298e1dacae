// Sessions of clients with a bundle, and the streams that they listen to: what is let go of, and what stays.
#include "gateway/bundles/bundle_sessions.hpp"

#include "gateway/bundles/bundle_streams.hpp"
#include "gateway/model/inner_calls.hpp"
#include "mcp/translation/legacy_messages.hpp"
#include "net/loop/signal.hpp"
#include "tests/unit/gateway/bundles/bundle_rig.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("gateway/bundle_sessions");

namespace {

using bundle_tests::bundle_of;
using bundle_tests::bundle_rig;
using gateway::bundles::bundle_sessions;
namespace model = gateway::model;

struct sessions_rig : bundle_rig {
    model::bundle_session session_of(std::uint32_t number) const
    {
        model::bundle_session in;
        in.bundle = "default";
        for (std::size_t i = 0; i < sizeof number; ++i) {
            in.id[i] = static_cast<mcp::session_digest::value_type>(number >> (8 * i));
        }
        in.version = "2025-11-25";
        return in;
    }

    void use(std::uint32_t number)
    {
        sessions.tell({.in = session_of(number), .act = model::bundle_act::set_level, .text = R"("info")"});
    }

    bool knows(std::uint32_t number) const { return sessions.find(session_of(number).id) != nullptr; }

    // What `subscriptions/listen` with these params gives, once it is over.
    std::string listen(std::string_view wishes)
    {
        const auto body = R"({"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":)" +
                          std::string{wishes} + "}}";
        const auto read = mcp::read_incoming(body);
        REQUIRE_FALSE(read.problem);
        model::program_request asked;
        asked.act = model::program_act::modern;
        asked.read = read.message;
        std::string room;
        asked.message = mcp::kept_message{mcp::client_message_of(asked.read, body, room)};
        auto who = std::make_shared<model::bundle_session>();
        who->bundle = "default";
        asked.in_bundle = std::move(who);
        const auto reader = streams.open(std::move(asked), control.get_executor(), wake);
        settle();
        const auto batch = reader->take();
        return batch && batch->failure ? std::string{core::name(batch->failure->code)} : "";
    }

    std::size_t forgotten = 0;
    model::inner_callers callers;
    model::inner_calls calls{control, callers, [](net::accepted_socket, const net::loop*) {}};
    bundle_sessions sessions{control, calls, log, [this](const auto&, bool) { ++forgotten; }};
    net::signal wake;
    gateway::bundles::bundle_streams streams{control, calls, plane, sessions};
};

}  // namespace

TEST_CASE("The session of a client that only listens is not the one that makes room")
{
    sessions_rig x;
    auto reader = std::make_shared<int>();
    for (std::uint32_t i = 0; i < bundle_sessions::most; ++i) {
        x.use(i);
    }
    CHECK(x.sessions.find(x.session_of(0).id)->is_idle());
    x.sessions.note_listener(x.session_of(0).id, reader);
    CHECK(x.forgotten == 0);
    x.use(bundle_sessions::most);
    CHECK(x.sessions.size() == bundle_sessions::most);
    CHECK(x.knows(0));
    CHECK_FALSE(x.knows(1));
    reader.reset();
    x.use(1);
    CHECK_FALSE(x.knows(0));
}

TEST_CASE("A listener that is refused is let go of, and so is one at a bundle that does not exist")
{
    sessions_rig x;
    CHECK(x.listen(R"({"toolsListChanged":true})").empty());
    CHECK(x.streams.size() == 0);
    x.configure({bundle_of("default", {{"a"}})});
    x.add("a", {"echo"});
    x.settle();
    CHECK(x.listen(R"({"resourceSubscriptions":[1]})") == "invalid_params");
    CHECK(x.streams.size() == 0);
}

TEST_SUITE_END();
