#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/legacy_messages.hpp"

#include <doctest/doctest.h>

#include <string>

TEST_SUITE_BEGIN("mcp/translation/legacy_answer");

using namespace mcp;

TEST_CASE("A client gets the version that it asked for if it is spoken, else the latest of its era")
{
    CHECK(agreed_version("2024-11-05") == "2024-11-05");
    CHECK(agreed_version("2025-11-25") == "2025-11-25");
    CHECK(agreed_version("2026-07-28") == "2025-11-25");
    CHECK(agreed_version("1999-01-01") == "2025-11-25");
    CHECK(agreed_version("") == "2025-11-25");
}

TEST_CASE("initialize is answered with what the server says of itself")
{
    const auto facts = read_discover_result(
        R"({"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true},"logging":{}},)"
        R"("instructions":"Be \"kind\".","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1.50","x":1.0}}})"
    );
    REQUIRE(facts.has_value());
    CHECK(
        initialize_answer(R"("i")", "2025-06-18", *facts, "a") ==
        R"({"jsonrpc":"2.0","id":"i","result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true},"logging":{}},)"
        R"("serverInfo":{"name":"s","version":"1.50","x":1.0},"instructions":"Be \"kind\"."}})"
    );
}

TEST_CASE("A server that does not say its name gets one, since a client requires it")
{
    server_facts facts;
    CHECK(
        initialize_answer("1", "2025-11-25", facts, "a") ==
        R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"0"}}})"
    );
    facts.info = R"({"version":"2","title":"T"})";
    facts.version = "2";
    CHECK(
        initialize_answer("1", "2025-11-25", facts, "a")
            .find(R"("serverInfo":{"name":"a","version":"2","title":"T"})") != std::string::npos
    );
}

TEST_CASE("Answers of the gateway's own have the client's id as it is spelled")
{
    CHECK(empty_answer("1.0") == R"({"jsonrpc":"2.0","id":1.0,"result":{}})");
    CHECK(
        error_answer(R"("a")", -32601, "Method not found") ==
        R"({"jsonrpc":"2.0","id":"a","error":{"code":-32601,"message":"Method not found"}})"
    );
}

TEST_SUITE_END();
