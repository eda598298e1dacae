#include "tests/flow/mcp_program_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("flow/mcp_program_accept");

using namespace flow;
using namespace flow::mcp_programs;

namespace {

http_response
post_taking(const program_gateway& x, std::string_view accept, std::string_view body, const field_list& further = {})
{
    field_list fields{{"Content-Type", "application/json"}};
    if (!accept.empty()) {
        fields.emplace_back("Accept", accept);
    }
    fields.insert(fields.end(), further.begin(), further.end());
    http_client caller{x.port()};
    caller.send(request_text("POST", "/agents/a/mcp", fields, body));
    return caller.read_response();
}

}  // namespace

TEST_CASE("A program answers in JSON a caller that takes JSON alone, whatever it says before")
{
    const program_gateway x;
    const auto session = x.begin();
    for (const auto* const accept : {"application/json", "application/*"}) {
        CAPTURE(accept);
        const auto got = post_taking(x, accept, call_of("talk"), session);
        CHECK(got.status == 200);
        CHECK(got.header("Content-Type") == "application/json");
        CHECK(got.body == done_of("1"));
    }
    const auto streamed = post_taking(x, "", call_of("talk"), x.begin());
    CHECK(streamed.header("Content-Type") == "text/event-stream");
}

TEST_CASE("An answer that takes longer than a second is JSON for a caller that takes JSON alone")
{
    const program_gateway x;
    const auto session = x.begin();
    http_client caller{x.port()};
    field_list fields{{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    fields.insert(fields.end(), session.begin(), session.end());
    caller.send(request_text("POST", "/agents/a/mcp", fields, call_of("wait")));
    REQUIRE(x.got("\"wait\"").find("\"wait\"") != std::string::npos);
    std::this_thread::sleep_for(std::chrono::milliseconds{1200});  // longer than program_relay::longest_silence
    x.touch("go");
    const auto got = caller.read_response();
    CHECK(got.status == 200);
    CHECK(got.header("Content-Type") == "application/json");
    CHECK(got.body == done_of("1"));
}

TEST_CASE("What a program asks of a caller that takes JSON alone is refused with -32601")
{
    const program_gateway x;
    const auto session = x.begin();
    const auto got = post_taking(x, "application/json", call_of("both"), session);
    CHECK(got.body == done_of("1"));
    CHECK(x.got("-32601").find(R"("id":78,"error":{"code":-32601)") != std::string::npos);
}

TEST_CASE("A program answers with one event a caller that takes events alone")
{
    const program_gateway x;
    const auto began = post_taking(x, "text/event-stream", initialize_body);
    CHECK(began.status == 200);
    CHECK(began.header("Content-Type") == "text/event-stream");
    CHECK(began.body.find(R"("serverInfo":{"name":"shell")") != std::string::npos);
    const field_list session{{"Mcp-Session-Id", began.header("Mcp-Session-Id")}};
    CHECK_FALSE(session[0].second.empty());
    const auto got = post_taking(x, "text/event-stream", call_of("one"), session);
    CHECK(got.header("Content-Type") == "text/event-stream");
    CHECK(without_ids(got.body).ends_with(event_of(done_of("1"))));
}

TEST_CASE("A program's caller that excludes JSON and events gets 406")
{
    const program_gateway x;
    check_error(post_taking(x, "text/html", initialize_body), 406, -31406, "not_acceptable");
    CHECK(x.programs().empty());
}

TEST_SUITE_END();
