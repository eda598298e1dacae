#include "gateway/mcp/programs/program_session.hpp"
#include "net/loop/loop.hpp"
#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>

TEST_SUITE_BEGIN("gateway/mcp/programs/held_requests");

namespace {

using core::errc;
using gateway::mcp::programs::held_requests;
using gateway::mcp::table::text_queue;
using mcp_test::client_text;

// A request of this many bytes.
client_text request_of(std::size_t size)
{
    std::string text = R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":")";
    text.append(size - text.size() - 3, 'a');
    return {text + R"("}})"};
}

}  // namespace

TEST_CASE("64 requests wait, and one more is refused")
{
    net::loop loop;
    held_requests held;
    const auto reader = std::make_shared<text_queue>(loop.get_executor());
    for (std::size_t each = 0; each < held_requests::most; ++each) {
        REQUIRE(held.push(request_of(100), reader).has_value());
    }
    CHECK(held.push(request_of(100), reader).error().code == errc::overloaded);
    CHECK(held.take().size() == held_requests::most);
    CHECK(held.empty());
    CHECK(held.push(request_of(100), reader).has_value());
}

TEST_CASE("Requests that wait have 16 MiB in all, but the only one may be longer")
{
    net::loop loop;
    held_requests held;
    const auto reader = std::make_shared<text_queue>(loop.get_executor());
    constexpr std::size_t half = held_requests::most_bytes / 2;
    CHECK(held.push(request_of(half), reader).has_value());
    SUBCASE("a byte less than the limit")
    {
        CHECK(held.push(request_of(half - 1), reader).has_value());
    }
    SUBCASE("the limit")
    {
        CHECK(held.push(request_of(half), reader).has_value());
        CHECK(held.push(request_of(100), reader).error().code == errc::overloaded);
        CHECK(held.cancel(mcp_test::cancelled("1")));
        CHECK(held.push(request_of(half), reader).has_value());
    }
    SUBCASE("a byte more than the limit")
    {
        CHECK(held.push(request_of(half + 1), reader).error().code == errc::overloaded);
        held.fail(core::upstream_error(errc::upstream_reset));
        CHECK(reader->failure()->code == errc::upstream_reset);
        CHECK(held.push(request_of(held_requests::most_bytes + 1), reader).has_value());
        CHECK(held.push(request_of(100), reader).error().code == errc::overloaded);
    }
}

TEST_CASE("A request whose reader has left waits on, and can be cancelled")
{
    net::loop loop;
    held_requests held;
    auto reader = std::make_shared<text_queue>(loop.get_executor());
    CHECK(held.push(request_of(100), reader).has_value());
    reader.reset();
    CHECK_FALSE(held.empty());
    CHECK_FALSE(held.cancel(mcp_test::cancelled("2")));
    CHECK(held.cancel(mcp_test::cancelled("1")));
    CHECK(held.empty());
}

TEST_SUITE_END();
