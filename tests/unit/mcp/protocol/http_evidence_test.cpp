#include "mcp/protocol/http_evidence.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using mcp::era;

TEST_SUITE_BEGIN("mcp/protocol/http_evidence");

namespace {

std::string result(std::string_view raw)
{
    return R"({"jsonrpc":"2.0","id":1,"result":)" + std::string{raw} + "}";
}

std::string failure(int code, std::string_view text = "m", std::string_view data = "{}")
{
    return R"({"jsonrpc":"2.0","id":null,"error":{"code":)" + std::to_string(code) + R"(,"message":")" +
           std::string{text} + R"(","data":)" + std::string{data} + "}}";
}

}  // namespace

TEST_CASE("a result that names a modern version or an error that only that era has is modern; everything else is legacy"
)
{
    struct row {
        std::string answer;
        era expected;
    };
    const std::vector<row> rows{
        {result(R"({"supportedVersions":["2026-07-28"],"capabilities":{}})"), era::modern},
        {result(R"({"supportedVersions":["2025-11-25","2026-07-28"]})"), era::modern},
        {result(R"({"supportedVersions":["2025-11-25"]})"), era::legacy},
        {result(R"({"supportedVersions":"2026-07-28"})"), era::legacy},
        {result("{}"), era::legacy},
        {result("5"), era::legacy},
        {failure(-32020), era::modern},
        {failure(-32021), era::modern},
        {failure(-32022), era::modern},
        {failure(-32022, "m", R"({"supported":["2026-07-28","2025-11-25"]})"), era::modern},
        {failure(-32022, "m", R"({"supported":["2025-11-25"]})"), era::legacy},
        {failure(-32019), era::legacy},
        {failure(-32023), era::legacy},
        {failure(-32601), era::legacy},
        {failure(-32000, "Server not initialized"), era::legacy},
        {R"({"jsonrpc":"2.0","method":"notifications/message"})", era::legacy},
    };
    for (const auto& each : rows) {
        CAPTURE(each.answer);
        CHECK(mcp::era_of_answer(*mcp::read_message(each.answer)) == each.expected);
    }
}

TEST_CASE("over HTTP a server that fails, asks who calls or sends elsewhere says nothing about its era")
{
    const auto text = failure(-32022);
    const auto modern = *mcp::read_message(text);
    for (const unsigned status : {301U, 401U, 403U, 408U, 425U, 429U, 500U, 502U, 503U, 504U}) {
        CAPTURE(status);
        CHECK_FALSE(mcp::era_of_http_answer(status, &modern).has_value());
        CHECK_FALSE(mcp::era_of_http_answer(status, nullptr).has_value());
    }
    for (const unsigned status : {200U, 400U, 404U, 405U, 406U}) {
        CAPTURE(status);
        CHECK(mcp::era_of_http_answer(status, &modern) == era::modern);
        CHECK(mcp::era_of_http_answer(status, nullptr) == era::legacy);
    }
}

TEST_CASE("a session is lost by 404, and by a 400 that speaks of sessions")
{
    const auto lost = [](unsigned status, const std::string& body) {
        if (body.empty()) {
            return mcp::says_session_lost(status, nullptr);
        }
        const auto read = mcp::read_message(body);
        return mcp::says_session_lost(status, &*read);
    };
    CHECK(lost(404, ""));
    CHECK(lost(404, failure(-32001, "Session not found")));
    CHECK(lost(400, failure(-32000, "Bad Request: No valid session ID provided")));
    CHECK(lost(400, failure(-32001, "SESSION expired")));
    CHECK(lost(400, failure(-32000, "Bad Request: Server not initialized")));
    CHECK_FALSE(lost(400, ""));
    CHECK_FALSE(lost(400, failure(-32000, "Bad Request: Unsupported protocol version")));
    CHECK_FALSE(lost(400, failure(-32602, "no session")));
    CHECK_FALSE(lost(400, result(R"({"text":"session"})")));
    CHECK_FALSE(lost(200, failure(-32000, "session")));
    CHECK_FALSE(lost(500, failure(-32000, "session")));
}

TEST_SUITE_END();
