
#include "mcp/protocol/server_facts.hpp"

#include <doctest/doctest.h>

#include <optional>
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

TEST_CASE(
    "Long words of a server are not searched for its era: a long result is told by the handshake, long data tell "
    "nothing"
)
{
    const auto padded = [](std::string_view begin, std::size_t size) {
        return std::string{begin} + std::string(size - begin.size() - 2, 'x') + R"("})";
    };
    const auto era_at = [&](std::size_t size) {
        return mcp::era_of_answer(*mcp::read_message(result(padded(R"({"supportedVersions":["2025-11-25"],"x":")", size)
        )));
    };
    CHECK(era_at(mcp::longest_handshake) == era::legacy);
    CHECK(era_at(mcp::longest_handshake + 1) == era::modern);
    const auto refused_at = [&](std::size_t size) {
        return mcp::era_of_answer(
            *mcp::read_message(failure(-32022, "m", padded(R"({"supported":["2025-11-25"],"x":")", size)))
        );
    };
    CHECK(refused_at(mcp::longest_handshake) == era::legacy);
    CHECK(refused_at(mcp::longest_handshake + 1) == era::modern);
    const auto lost_behind = [](std::size_t before) {
        const auto said = mcp::read_message(failure(-32000, std::string(before, ' ') + "session"));
        return mcp::says_session_lost(400, &*said);
    };
    CHECK(lost_behind(4096 - 7));
    CHECK_FALSE(lost_behind(4096 - 6));
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

TEST_CASE(
    "An answer that only a server of the other era gives tells that era, whichever is spoken; any other tells nothing"
)
{
    struct row {
        era spoken;
        std::string answer;
        std::optional<era> expected;
    };
    const auto unknown_version = R"({"supported":["2025-11-25","2025-06-18"],"requested":"2026-07-28"})";
    const std::vector<row> rows{
        // As the TypeScript SDK's second line answers with `legacy: 'reject'`.
        {era::legacy,
         failure(
             -32022,
             "Unsupported protocol version: the request did not name a protocol version",
             R"({"supported":["2026-07-28"]})"
         ),
         era::modern},
        {era::legacy, failure(-32020, "Header mismatch: Mcp-Method is missing"), era::modern},
        {era::legacy, failure(-32022, "m", unknown_version), std::nullopt},
        {era::legacy, failure(-32601, "Method not found"), std::nullopt},
        {era::legacy, failure(-32603, "Internal error"), std::nullopt},
        {era::legacy, failure(-32000, "Bad Request: Server not initialized"), std::nullopt},
        {era::legacy, result("{}"), std::nullopt},
        // As the SDKs of the legacy era answer.
        {era::modern, failure(-32000, "Bad Request: Server not initialized"), era::legacy},
        {era::modern, failure(-32000, "Bad Request: Mcp-Session-Id header is required"), era::legacy},
        {era::modern, failure(-32000, "Bad Request: No valid session ID provided"), era::legacy},
        {era::modern, failure(-32001, "Session not found"), era::legacy},
        {era::modern, failure(-32600, "Bad Request: Missing session ID"), era::legacy},
        {era::modern,
         failure(-32000, "Bad Request: Unsupported protocol version: 2026-07-28 (supported versions: 2025-11-25)"),
         era::legacy},
        {era::modern, failure(-32022, "m", unknown_version), era::legacy},
        {era::modern, failure(-32022, "m", R"({"supported":["2026-07-28"]})"), std::nullopt},
        {era::modern, failure(-32020, "Header mismatch: the session"), std::nullopt},
        {era::modern, failure(-32601, "Method not found"), std::nullopt},
        {era::modern, failure(-32602, "no such session"), std::nullopt},
        {era::modern, failure(-32603, "session store is down"), std::nullopt},
        {era::modern, failure(-32000, "the database is down"), std::nullopt},
        {era::modern, result(R"({"text":"session"})"), std::nullopt},
    };
    for (const auto& each : rows) {
        CAPTURE(each.answer);
        CHECK(mcp::other_era(*mcp::read_message(each.answer), each.spoken) == each.expected);
    }
}

TEST_CASE("A session is lost by 404 but for an error about the method, and by a 400 that speaks of sessions")
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
    CHECK(lost(404, failure(-32600, "Session has been terminated")));
    CHECK_FALSE(lost(404, failure(-32601, "Method not found")));
    CHECK_FALSE(lost(404, failure(-32602, "Unknown cursor")));
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

TEST_CASE("Errors of the modern era and an unknown method say that a server does not speak the legacy era")
{
    const auto error = [](const std::string& code) {
        return R"({"jsonrpc":"2.0","id":0,"error":{"code":)" + code + R"(,"message":"m"}})";
    };
    for (const std::string code : {"-32020", "-32021", "-32022", "-32601"}) {
        CAPTURE(code);
        CHECK(mcp::says_modern_only(error(code)));
    }
    for (const std::string code : {"-32600", "-32602", "-32603", "\"x\""}) {
        CAPTURE(code);
        CHECK_FALSE(mcp::says_modern_only(error(code)));
    }
    CHECK_FALSE(mcp::says_modern_only(R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}})"));
}

TEST_SUITE_END();
