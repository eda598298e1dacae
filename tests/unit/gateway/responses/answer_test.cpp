#include "gateway/responses/answer.hpp"

#include <doctest/doctest.h>

#include <chrono>

TEST_SUITE_BEGIN("gateway/answer");

using namespace std::chrono_literals;

TEST_CASE("Retry-After is in whole seconds, rounded up, and neither none nor for ever")
{
    constexpr core::steady_time now{5'000s};
    const std::pair<std::chrono::nanoseconds, std::uint64_t> rows[]{
        {-10s, 1},
        {0s, 1},
        {1ns, 1},
        {1s, 1},
        {1s + 1ns, 2},
        {60s, 60},
        {299s + 1ms, 300},
        {300s, 300},
        {24h, 300},
    };
    for (const auto& [left, seconds] : rows) {
        CAPTURE(left.count());
        CHECK(gateway::responses::retry_after(now, now + left) == seconds);
    }
}

TEST_CASE("A member of an error's data stands behind the usual ones, in every form of an error")
{
    constexpr auto code = core::errc::chain_limited;
    const auto with_limit = [](gateway::responses::answer of) {
        gateway::responses::add_to_data(of.body, "limit", "\"calls\"");
        return core::parse_json(of.body).value();
    };
    const auto usual =
        core::json{{"code", "chain_limited"}, {"agent", "a"}, {"retryable", false}, {"limit", "\"calls\""}};
    CHECK(with_limit(gateway::responses::call_error(code, "a", "1"))["error"]["data"] == usual);
    CHECK(with_limit(gateway::responses::call_error(code, "a", ""))["error"]["limit"] == "\"calls\"");
    CHECK(with_limit(gateway::responses::mcp_error_answer(code, "a", ""))["error"]["data"] == usual);
    const auto rest = [&](const char* agent, ::a2a::generation of) {
        return with_limit(gateway::responses::rest_error_answer(code, agent, of, ::a2a::error_profile::v1_0_1));
    };
    CHECK(rest("a", ::a2a::generation::v03)["data"] == usual);
    const auto info = rest("a", ::a2a::generation::v1)["error"]["details"][0]["metadata"];
    CHECK(info == core::json{{"agent", "a"}, {"limit", "\"calls\""}});
    const auto alone = rest("", ::a2a::generation::v1)["error"]["details"][0]["metadata"];
    CHECK(alone == core::json{{"limit", "\"calls\""}});
}

TEST_CASE("an error that will pass says when to come again, and others do not")
{
    const auto passing = gateway::responses::error_answer(core::errc::session_crashed, "m", 17);
    CHECK(passing.fields.find("Retry-After: 17\r\n") != std::string::npos);
    CHECK(
        gateway::responses::error_answer(core::errc::overloaded, {}).fields.find("Retry-After: 5\r\n") !=
        std::string::npos
    );
    CHECK(
        gateway::responses::error_answer(core::errc::card_invalid, "m", 17).fields.find("Retry-After") ==
        std::string::npos
    );
}

TEST_CASE("An error answer names its code, is not stored, and has the status of the code")
{
    const auto plain = gateway::responses::error_answer(core::errc::agent_not_found, "weather");
    CHECK(plain.status == 404);
    CHECK(plain.fields == "Cardea-Error: agent_not_found\r\nCache-Control: no-store\r\n");
    CHECK(plain.body.find("\"agent_not_found\"") != std::string::npos);
    const auto rpc = gateway::responses::jsonrpc_error_answer(core::errc::upstream_timeout, "weather", "\"a-1\"");
    CHECK(rpc.fields.find("Cardea-Error: upstream_timeout\r\n") != std::string::npos);
    CHECK(rpc.body.find("\"id\":\"a-1\"") != std::string::npos);
}

TEST_CASE("A refused method names the methods that are allowed")
{
    const auto refused = gateway::responses::method_not_allowed("GET, HEAD");
    CHECK(refused.status == 405);
    CHECK(refused.fields.ends_with("Allow: GET, HEAD\r\n"));
}

TEST_CASE("A connection that finds no room gets one whole answer, with the length of its body")
{
    const auto text = gateway::responses::refusal_of_connection();
    CHECK(text.starts_with("HTTP/1.1 503 "));
    CHECK(text.find("\r\nConnection: close\r\n") != std::string::npos);
    CHECK(text.find("\r\nRetry-After: 5\r\n") != std::string::npos);
    const auto end = text.find("\r\n\r\n");
    REQUIRE(end != std::string::npos);
    const auto length = "\r\nContent-Length: " + std::to_string(text.size() - end - 4) + "\r\n";
    CHECK(text.find(length) != std::string::npos);
    CHECK(text.find("overloaded", end) != std::string::npos);
}

TEST_CASE("A refused configuration is explained problem by problem")
{
    const auto refused = gateway::responses::problems_answer(
        core::errc::config_invalid,
        core::json::array({"a.yml:1: one", "a.yml:2: \"two\""})
    );
    CHECK(refused.status == 422);
    CHECK(refused.body.find(R"("problems":["a.yml:1: one","a.yml:2: \"two\""])") != std::string::npos);
    CHECK(refused.body.find(R"("retryable":false)") != std::string::npos);
}

TEST_CASE("The status of an MCP server says whether a later attempt may succeed, which its code alone does not")
{
    using gateway::responses::add_upstream_status;
    const auto told = [](unsigned status) {
        auto body = gateway::responses::mcp_error_answer(core::errc::upstream_status, "m", "7").body;
        add_upstream_status(body, status);
        return body;
    };
    for (const unsigned status : {401U, 403U, 307U, 500U}) {
        CHECK(told(status).ends_with(R"("retryable":false,"status":)" + std::to_string(status) + "}}}"));
    }
    for (const unsigned status : {408U, 429U, 502U, 503U, 504U}) {
        CHECK(told(status).ends_with(R"("retryable":true,"status":)" + std::to_string(status) + "}}}"));
    }
    std::string none = R"({"error":{"code":503}})";
    gateway::responses::set_retryable(none);
    CHECK(none == R"({"error":{"code":503}})");
}

TEST_CASE("To a caller of HTTP+JSON a failure is told as its generation writes errors")
{
    using gateway::responses::rest_error_answer;
    constexpr auto edition = a2a::error_profile::v1_0_1;
    const auto modern = rest_error_answer(core::errc::upstream_timeout, "words", a2a::generation::v1, edition);
    CHECK(modern.status == 504);
    CHECK(modern.fields.find("Cardea-Error: upstream_timeout\r\n") != std::string::npos);
    CHECK(
        modern.body ==
        R"({"error":{"code":504,"status":"DEADLINE_EXCEEDED","message":"The agent did not answer in time.","details":[)"
        R"({"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"upstream_timeout","domain":"cardea",)"
        R"("metadata":{"agent":"words"}}]}})"
    );
    const auto old = rest_error_answer(core::errc::not_found, {}, a2a::generation::v03, edition);
    CHECK(old.status == 404);
    CHECK(
        old.body == R"({"code":-31404,"message":"There is nothing at this address.",)"
                    R"("data":{"code":"not_found","retryable":false}})"
    );
    const auto said = rest_error_answer(core::errc::bad_request, {}, a2a::generation::v03, edition, "Both \"a\".");
    CHECK(said.body.starts_with(R"({"code":-31400,"message":"Both \"a\".",)"));
    // What A2A has a reason for has that one, and the status of the edition.
    const auto version = [](a2a::error_profile profile) {
        return rest_error_answer(core::errc::unsupported_media_type, {}, a2a::generation::v1, profile);
    };
    CHECK(version(a2a::error_profile::v1_0_0).status == 415);
    CHECK(version(edition).status == 400);
    CHECK(
        version(edition).body.find(R"("reason":"CONTENT_TYPE_NOT_SUPPORTED","domain":"a2a-protocol.org")") !=
        std::string::npos
    );
}

TEST_CASE("The Retry-After of a 503 can be replaced, and other answers get none")
{
    auto paused = gateway::responses::call_error(core::errc::circuit_open, "a", "1");
    CHECK(paused.status == 503);
    CHECK(paused.fields.find("Cardea-Error: circuit_open\r\n") != std::string::npos);
    const auto before = paused.fields;
    gateway::responses::set_retry_after(paused, 17);
    CHECK(paused.fields.find("Retry-After: 17\r\n") != std::string::npos);
    CHECK(paused.fields.size() == before.size() + 1);
    auto late = gateway::responses::call_error(core::errc::upstream_timeout, "a", "1");
    const auto fields = late.fields;
    gateway::responses::set_retry_after(late, 17);
    CHECK(late.fields == fields);
}

TEST_SUITE_END();
