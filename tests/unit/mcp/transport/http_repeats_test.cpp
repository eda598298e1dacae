// What is sent again over streamable HTTP when a connection that was used before ends under it.
#include "mcp/calls/client_method.hpp"
#include "tests/unit/mcp/transport/transport_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>

TEST_SUITE_BEGIN("mcp/transport/http_repeats");

using namespace mcp_test;
using test_support::answer_json;
using test_support::recorded_request;
using test_support::scripted_agent;

namespace {

// It reads the second request of each connection, and then ends it.
test_support::script ending_on_reuse(const recorded_request& asked)
{
    if (asked.number_on_connection > 1) {
        return test_support::close_unanswered();
    }
    return asked.number_on_connection == 1 && asked.connection == 1
               ? answer_json(result_of(1), {{"Mcp-Session-Id", "s-1"}})
               : answer_json(result_of(2));
}

// How often a server gets it.
std::size_t arrivals(mcp::outgoing message)
{
    scripted_agent agent{ending_on_reuse};
    transport_rig x{agent.url("/mcp")};
    x.begin();
    REQUIRE(x.wire->send(std::move(message)).has_value());
    REQUIRE(x.wait_until([&] { return !x.told.empty(); }));
    CHECK((x.has("received " + result_of(2)) == (agent.request_count() == 3)));
    return agent.request_count() - 1;
}

}  // namespace

TEST_CASE("Only a request that reads goes to a server again that may have got it already")
{
    using enum mcp::client_method;
    constexpr auto reads = std::to_array(
        {ping,
         discover,
         tools_list,
         prompts_list,
         prompts_get,
         resources_list,
         templates_list,
         resources_read,
         complete,
         tasks_get,
         events_list,
         events_poll}
    );
    for (auto each = 0U; each < static_cast<unsigned>(other); ++each) {
        const auto method = static_cast<mcp::client_method>(each);
        CAPTURE(mcp::name(method));
        const bool safe = std::ranges::find(reads, method) != reads.end();
        CHECK(arrivals(ask(2, std::string{mcp::name(method)})) == (safe ? 2 : 1));
    }
    CHECK(arrivals(ask(2, "experimental/thing")) == 1);
    CHECK(arrivals(note("notifications/cancelled")) == 1);
    CHECK(arrivals({R"({"jsonrpc":"2.0","id":7,"result":{}})", 0, {}}) == 1);
}

TEST_CASE("The end of a session goes once")
{
    scripted_agent agent{ending_on_reuse};
    transport_rig x{agent.url("/mcp")};
    x.begin();
    x.wire->close(true);
    REQUIRE(x.wait_for("closed"));
    CHECK(agent.request_count() == 2);
    CHECK(agent.request(1).method == "DELETE");
}

TEST_SUITE_END();
