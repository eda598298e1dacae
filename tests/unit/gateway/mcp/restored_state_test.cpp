#include "gateway/mcp/table/restored_state.hpp"

#include "tests/unit/mcp/calls/client_texts.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/table/restored_state");

namespace {

using gateway::mcp::table::restored_state;
using mcp_test::client_text;

client_text request_of(const std::string& method, const std::string& params)
{
    return {R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":)" + params + "}"};
}

client_text subscription(const std::string& uri)
{
    return request_of("resources/subscribe", R"({"uri":")" + uri + R"("})");
}

std::vector<std::string> all_of(const restored_state& state)
{
    std::vector<std::string> all;
    state.each([&](std::string_view method, std::string_view params) {
        all.push_back(std::string{method} + " " + std::string{params});
    });
    return all;
}

}  // namespace

TEST_CASE("Of a request only the level or the URI is kept, whatever else it brings")
{
    restored_state state;
    const std::string rest = R"(,"_meta":{"x":")" + std::string(100'000, 'x') + R"("}})";
    state.note(request_of("logging/setLevel", R"({"level":"debug")" + rest));
    state.note(request_of("resources/subscribe", R"({"uri":"a:\"b\"")" + rest));
    state.note(request_of("resources/subscribe", R"({"uri":"c:d")" + rest));
    state.note(request_of("resources/subscribe", R"({"uri":7)" + rest));
    state.note(request_of("resources/unsubscribe", R"({"uri":"c:d"})"));
    CHECK(
        all_of(state) ==
        std::vector<std::string>{
            R"(logging/setLevel {"level":"debug"})",
            R"(resources/subscribe {"uri":"a:\"b\""})",
        }
    );
}

TEST_CASE("1,000 subscriptions are kept, and one more does not go up")
{
    restored_state state;
    for (std::size_t each = 0; each < restored_state::most_subscriptions; ++each) {
        REQUIRE(state.takes(subscription("u:" + std::to_string(each))));
        state.note(subscription("u:" + std::to_string(each)));
    }
    CHECK_FALSE(state.takes(subscription("u:1000")));
    CHECK(state.takes(subscription("u:999")));
    state.note(subscription("u:1000"));
    CHECK(all_of(state).size() == restored_state::most_subscriptions);
    state.note(request_of("resources/unsubscribe", R"({"uri":"u:5"})"));
    CHECK(state.takes(subscription("u:1000")));
}

TEST_CASE("A URI over 4096 bytes is not told again")
{
    restored_state state;
    for (const auto size : {restored_state::longest_value - 1, restored_state::longest_value}) {
        state.note(subscription(std::string(size, 'u')));
    }
    CHECK(all_of(state).size() == 2);
    state.note(subscription(std::string(restored_state::longest_value + 1, 'u')));
    CHECK(all_of(state).size() == 2);
}

TEST_CASE("What is kept is counted as it comes and goes")
{
    constexpr auto overhead = restored_state::value_overhead;
    restored_state state;
    CHECK(state.bytes() == 0);
    state.note(request_of("logging/setLevel", R"({"level":"debug"})"));
    CHECK(state.bytes() == 5 + overhead);
    state.note(request_of("logging/setLevel", R"({"level":"emergency"})"));
    CHECK(state.bytes() == 9 + overhead);
    state.note(subscription("a:b"));
    state.note(subscription("a:b"));
    state.note(subscription(std::string(restored_state::longest_value + 1, 'u')));
    CHECK(state.bytes() == 12 + 2 * overhead);
    state.note(request_of("resources/unsubscribe", R"({"uri":"c:d"})"));
    CHECK(state.bytes() == 12 + 2 * overhead);
    state.note(request_of("resources/unsubscribe", R"({"uri":"a:b"})"));
    state.note(request_of("logging/setLevel", R"({"level":7})"));
    CHECK(state.bytes() == 0);
}

TEST_CASE("What is noted while the next program is told does not disturb the order")
{
    restored_state state;
    for (const std::string uri : {"a", "b", "c"}) {
        state.note(subscription(uri));
    }
    restored_state::place at;
    CHECK(state.next(at)->params == R"({"uri":"a"})");
    state.note(request_of("resources/unsubscribe", R"({"uri":"a"})"));
    state.note(request_of("resources/unsubscribe", R"({"uri":"b"})"));
    CHECK(state.next(at)->params == R"({"uri":"c"})");
    CHECK_FALSE(state.next(at).has_value());
}

TEST_SUITE_END();
