#include "gateway/management/answer_builder.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

TEST_SUITE_BEGIN("gateway/answer_builder");

namespace {

using gateway::management::answer_builder;

constexpr std::size_t longest = 1000;  // bytes of a batch's results

gateway::management::rpc_result result_of(std::string_view id, std::size_t bytes)
{
    return {core::make_result(id, std::string(bytes, 'x'))};
}

gateway::model::rpc_answer finished(answer_builder& builder)
{
    gateway::model::rpc_answer answer;
    builder.finish(answer);
    return answer;
}

}  // namespace

TEST_CASE("the answer to one request is its result, however long, and holds the memory that it takes")
{
    core::memory_budget memory{100'000};
    {
        answer_builder builder{core::memory_share{memory}, longest, 0};
        builder.begin(/*writes=*/false);
        auto result = result_of("1", 5000);
        const auto text = result.text;
        builder.add("1", std::move(result));
        const auto answer = finished(builder);
        CHECK(answer.body == text);
        CHECK(memory.held() == answer.body.capacity());
    }
    CHECK(memory.held() == 0);
}

TEST_CASE("a result that has no room in a batch is too_large, and the next one is still answered")
{
    core::memory_budget memory{100'000};
    answer_builder builder{core::memory_share{memory}, longest, 0};
    builder.set_batch(true);
    for (const auto& [id, bytes] : {std::pair{"1", 600}, {"2", 600}, {"3", 10}}) {
        builder.begin(/*writes=*/false);
        builder.add(id, result_of(id, static_cast<std::size_t>(bytes)));
    }
    const auto body = core::parse_json(finished(builder).body);
    REQUIRE(body.has_value());
    REQUIRE(body->size() == 3);
    CHECK((*body)[0].contains("result"));
    CHECK((*body)[1]["error"]["data"]["code"] == "too_large");
    CHECK((*body)[2]["result"] == std::string(10, 'x'));
}

TEST_CASE("the result of a write is in the batch even if it has no room")
{
    core::memory_budget memory{100'000};
    answer_builder builder{core::memory_share{memory}, longest, 0};
    builder.set_batch(true);
    builder.begin(/*writes=*/true);
    builder.add("1", result_of("1", 2 * longest));
    CHECK(builder.room() == 0);
    const auto body = core::parse_json(finished(builder).body);
    REQUIRE(body.has_value());
    CHECK((*body)[0]["result"] == std::string(2 * longest, 'x'));
}

TEST_CASE("without memory for a result nothing is answered, unless something was written: then the result is an error")
{
    for (const bool writes : {false, true}) {
        CAPTURE(writes);
        core::memory_budget memory{1500};
        answer_builder builder{core::memory_share{memory}, longest, 0};
        builder.set_batch(true);
        builder.begin(writes);
        builder.add("1", result_of("1", 10));
        builder.begin(/*writes=*/false);
        builder.add("2", result_of("2", 800));
        CHECK(builder.failed() == !writes);
        if (writes) {
            const auto body = core::parse_json(finished(builder).body);
            REQUIRE(body.has_value());
            CHECK((*body)[0].contains("result"));
            CHECK((*body)[1]["error"]["data"]["code"] == "overloaded");
        }
    }
}

TEST_CASE("the requests take memory too")
{
    core::memory_budget memory{1000};
    answer_builder fits{core::memory_share{memory}, longest, 900};
    CHECK(fits.hold(0));
    answer_builder beyond{core::memory_share{memory}, longest, 200};
    CHECK_FALSE(beyond.hold(0));
    CHECK(beyond.failed());
}

TEST_SUITE_END();
