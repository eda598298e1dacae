#include "gateway/request/contained_answer.hpp"

#include "gateway/request/calls_under_way.hpp"
#include "gateway/request/request_context.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <string>

using namespace gateway::request;
using core::errc;

namespace {

const core::wall_time noon{std::chrono::seconds{1'767'268'800}};  // of the first day of 2026

gateway::model::containments_pointer some()
{
    gateway::model::containments all;
    all.agents["words"] = {.notice = "", .until = noon};
    all.agents["maps"] = {.notice = "At \"work\".", .until = std::nullopt};
    all.principals[{"keys", "ci"}] = {.notice = "", .until = std::nullopt};
    return std::make_shared<const gateway::model::containments>(std::move(all));
}

core::principal known_as(std::string provider, std::string id)
{
    core::principal out;
    out.provider = std::move(provider);
    out.id = std::move(id);
    return out;
}

error_terms terms_of(error_format format, std::string id = {})
{
    error_terms terms;
    terms.format = format;
    terms.call_id = std::move(id);
    return terms;
}

}  // namespace

TEST_SUITE_BEGIN("gateway/request/contained_answer");

TEST_CASE("A request meets the containment of its principal before that of its agent, and none of others")
{
    const auto all = some();
    const auto ci = known_as("keys", "ci");
    CHECK(met_by(all, &ci, "words").code == errc::principal_contained);
    CHECK(met_by(all, &ci, {}).code == errc::principal_contained);
    const auto other = known_as("key", "sci");
    CHECK(met_by(all, &other, "words").code == errc::agent_contained);
    CHECK(met_by(all, nullptr, "words").terms == all->find_agent("words"));
    CHECK_FALSE(met_by(all, &other, "word"));
    CHECK_FALSE(met_by(all, nullptr, {}));
    CHECK_FALSE(met_by(nullptr, &ci, "words"));
}

TEST_CASE("A JSON-RPC error has the id of its request, and null for an MCP message without one")
{
    const auto all = some();
    const auto met = met_by(all, nullptr, "words");
    const std::string said = R"("error":{"code":-31403,"message":"An operator has stopped this agent for now.",)"
                             R"("data":{"code":"agent_contained","agent":"words","retryable":false,)"
                             R"("until":"2026-01-01T12:00:00.000Z"}}})";
    CHECK(
        contained_answer(terms_of(error_format::a2a, "7"), met, "words").body == R"({"jsonrpc":"2.0","id":7,)" + said
    );
    for (const auto format : {error_format::mcp, error_format::mcp_session, error_format::mcp_bundle}) {
        const auto answer = contained_answer(terms_of(format), met, "words");
        CHECK(answer.body == R"({"jsonrpc":"2.0","id":null,)" + said);
        CHECK(answer.status == 403);
        CHECK(answer.fields == "Cardea-Error: agent_contained\r\nCache-Control: no-store\r\n");
    }
}

TEST_CASE("A notice stands instead of the sentence of the code, and without an end there is none")
{
    const auto met = met_by(some(), nullptr, "maps");
    CHECK(
        contained_answer(terms_of(error_format::a2a), met, "maps").body ==
        R"({"error":{"code":"agent_contained","message":"At \"work\".","agent":"maps","retryable":false}})"
    );
}

TEST_CASE("An ErrorInfo of 1.0 has the end in its metadata, also if no agent is named")
{
    const auto met = met_by(some(), nullptr, "words");
    auto terms = terms_of(error_format::rest, "7");
    terms.rest_version = ::a2a::generation::v1;
    const std::string begin =
        R"({"error":{"code":403,"status":"PERMISSION_DENIED",)"
        R"("message":"An operator has stopped this agent for now.","details":[{"@type":)"
        R"("type.googleapis.com/google.rpc.ErrorInfo","reason":"agent_contained","domain":"cardea",)"
        R"("metadata":{)";
    CHECK(
        contained_answer(terms, met, "words").body ==
        begin + R"("agent":"words","until":"2026-01-01T12:00:00.000Z"}}]}})"
    );
    CHECK(contained_answer(terms, met, {}).body == begin + R"("until":"2026-01-01T12:00:00.000Z"}}]}})");
    terms.rest_version = ::a2a::generation::v03;
    CHECK(
        contained_answer(terms, met, {}).body ==
        R"({"code":-31403,"message":"An operator has stopped this agent for now.",)"
        R"("data":{"code":"agent_contained","retryable":false,"until":"2026-01-01T12:00:00.000Z"}})"
    );
}

TEST_SUITE_END();
