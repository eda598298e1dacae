#include "mcp/translation/legacy_messages.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

TEST_SUITE_BEGIN("mcp/translation/legacy_request");

namespace {

constexpr std::string_view version = R"("io.modelcontextprotocol/protocolVersion":"2026-07-28")";
constexpr std::string_view capabilities = R"("io.modelcontextprotocol/clientCapabilities":{"roots":{"a":[1,{}]}})";
constexpr std::string_view client = R"("io.modelcontextprotocol/clientInfo":{"name":"\"}{","version":"1"})";
constexpr std::string_view level = R"("io.modelcontextprotocol/logLevel" : "debug")";

std::string request(std::string_view meta)
{
    return R"({"jsonrpc":"2.0", "id" : "a" ,"method":"tools/call","params":{"name":"t","_meta":{)" + std::string{meta} +
           R"(},"arguments":{"n":1.50,"_meta":{"io.modelcontextprotocol/logLevel":"x"}}}})";
}

std::string joined(std::initializer_list<std::string_view> parts)
{
    std::string all;
    for (const auto each : parts) {
        all += each;
    }
    return all;
}

std::string to_legacy(const std::string& text)
{
    const auto read = mcp::read_incoming(text);
    REQUIRE_FALSE(read.problem.has_value());
    const mcp::legacy_request made{read.message, text};
    return std::string{made.view().text};
}

}  // namespace

TEST_CASE("A request goes up without the members of the modern era, and every other byte stays")
{
    for (const auto& [meta, left] : {
             std::pair{joined({version, ",", capabilities, ",", client, ",", level}), std::string{}},
             std::pair{joined({" ", version, " , ", capabilities, " "}), std::string{"  "}},
             std::pair{
                 joined({version, ",", capabilities, R"(,"progressToken":1.0)"}),
                 std::string{R"("progressToken":1.0)"}
             },
             std::pair{
                 joined({R"("progressToken":7,)", version, ",", capabilities}),
                 std::string{R"("progressToken":7)"}
             },
             std::pair{
                 joined({version, R"(, "a":1, )", capabilities, R"( , "b" : 2 , )", client}),
                 std::string{R"( "a":1,  "b" : 2 )"}
             },
             std::pair{joined({R"("a":1 , )", version, ",", client, R"(,"b":2)"}), std::string{R"("a":1 , "b":2)"}},
         }) {
        CAPTURE(meta);
        CHECK(to_legacy(request(meta)) == request(left));
    }
}

TEST_CASE("Members are found in any spelling of their names, and only in the request's own _meta")
{
    CHECK(
        to_legacy(request(R"("io.modelcontextprotocol\/protocol\u0056ersion":"2026-07-28","x":1)")) ==
        request(R"("x":1)")
    );
    const auto other = request(R"("io.modelcontextprotocol/related":1,"protocolVersion":2)");
    CHECK(to_legacy(other) == other);
}

TEST_CASE("The parts of a request are found where they stand after it was changed")
{
    const auto text = "  " + request(joined({version, R"(,"progressToken":"p",)", level})) + "\n";
    const auto read = mcp::read_incoming(text);
    const mcp::legacy_request made{read.message, text};
    const auto view = made.view();
    CHECK(view.text == request(R"("progressToken":"p")"));
    CHECK(view.method == "tools/call");
    CHECK(view.id == R"("a")");
    CHECK(view.progress_token == R"("p")");
    CHECK(view.params.starts_with(R"({"name":"t")"));
    CHECK(view.params.ends_with(R"("x"}}})"));
    CHECK(view.request_id.empty());
}

TEST_CASE("A part that an edit lies before, behind or within stands where the edit has put it")
{
    const mcp::text_edit edits[] = {{{2, 3}, "abcd"}, {{10, 2}, ""}};
    CHECK(mcp::moved(mcp::text_range{0, 2}, edits) == mcp::text_range{0, 2});
    CHECK(mcp::moved(mcp::text_range{5, 5}, edits) == mcp::text_range{6, 5});
    CHECK(mcp::moved(mcp::text_range{1, 12}, edits) == mcp::text_range{1, 11});
    CHECK(mcp::moved(mcp::text_range{12, 1}, edits) == mcp::text_range{11, 1});
    CHECK(mcp::moved(mcp::text_range{2, 3}, edits) == mcp::text_range{2, 4});
    CHECK(mcp::moved(mcp::text_range{}, edits).empty());
}

TEST_SUITE_END();
