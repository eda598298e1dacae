#include "mcp/protocol/message.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using mcp::id_type;
using mcp::message_kind;

TEST_SUITE_BEGIN("mcp/protocol/message");

namespace {

std::string refusal(std::string_view text, mcp::message_limits limits = {})
{
    const auto read = mcp::read_message(text, limits);
    if (read.has_value()) {
        return "accepted";
    }
    CHECK(read.error().code == core::errc::upstream_protocol);
    CHECK(read.error().from == core::side::upstream);
    return read.error().detail;
}

std::string nested(unsigned depth)
{
    return R"({"jsonrpc":"2.0","method":"m","params":)" + std::string(depth - 1, '[') + std::string(depth - 1, ']') +
           "}";
}

const mcp::dialect legacy{"2025-11-25", {"cardea", "1.2"}};
const mcp::dialect modern{"2026-07-28", {"cardea", "1.2"}};

constexpr std::string_view meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},)"
    R"("io.modelcontextprotocol/clientInfo":{"name":"cardea","version":"1.2"}})";

}  // namespace

TEST_CASE("a request of the server is read")
{
    const auto read =
        mcp::read_message(R"({"method":"roots\/list","params":{"a":1.0},"id":"0x","jsonrpc":"2.0","new":[]})");
    REQUIRE(read.has_value());
    CHECK(read->kind == message_kind::request);
    CHECK(read->method == "roots/list");
    CHECK(read->id_is == id_type::string);
    CHECK(read->id == R"("0x")");
    CHECK(read->params == R"({"a":1.0})");
    CHECK_FALSE(read->answered().has_value());
}

TEST_CASE("a notification is read, and params that are null are none")
{
    for (const std::string_view params : {R"(,"params":null)", ""}) {
        const auto text =
            std::string{R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed")"} + std::string{params} + "}";
        const auto read = mcp::read_message(text);
        REQUIRE(read.has_value());
        CHECK(read->kind == message_kind::notification);
        CHECK(read->id_is == id_type::absent);
        CHECK(read->params.empty());
    }
}

TEST_CASE("a result is read, whatever its type, and says which request of ours it answers")
{
    const auto text = std::string{R"({"jsonrpc":"2.0","id":17,"result":{"tools":[]},"error":null})"};
    const auto read = mcp::read_message(text);
    REQUIRE(read.has_value());
    CHECK(read->kind == message_kind::result);
    CHECK(read->result == R"({"tools":[]})");
    CHECK(read->answered() == 17);
    CHECK(mcp::read_message(R"({"jsonrpc":"2.0","id":1,"result":null})")->result == "null");
    for (const std::string_view id :
         {R"("17")", "017", "17.0", "17e0", "17.0E+00", "-17", "1e1", "17e", "17.e0", "99999999999999999999"}) {
        CAPTURE(id);
        const auto other = R"({"jsonrpc":"2.0","result":{},"id":)" + std::string{id} + "}";
        const auto answer = mcp::read_message(other);
        if (answer.has_value()) {
            CHECK(answer->id == id);
            const bool ours = id == R"("17")" || id.starts_with("17");
            CHECK(answer->answered() == (ours ? std::optional<std::uint64_t>{17} : std::nullopt));
        } else {
            CHECK((id == "017" || id == "17e" || id == "17.e0"));
        }
    }
}

TEST_CASE("an error is read, with its code and without an id")
{
    const std::string_view text =
        R"({"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no \u00e9","data":{"supported":["2026-07-28"]},"x":1}})";
    const auto read = mcp::read_message(text);
    REQUIRE(read.has_value());
    CHECK(read->kind == message_kind::failure);
    CHECK(read->id_is == id_type::null);
    CHECK_FALSE(read->answered().has_value());
    CHECK(read->failure.code == mcp::unsupported_version);
    CHECK(read->failure.text == "no \xc3\xa9");
    CHECK(read->failure.data == R"({"supported":["2026-07-28"]})");
    const std::string_view bare = R"({"jsonrpc":"2.0","id":3,"result":null,"error":{"code":-32601}})";
    const auto without = mcp::read_message(bare);
    REQUIRE(without.has_value());
    CHECK(without->answered() == 3);
    CHECK(without->failure.code == mcp::method_not_found);
    CHECK(without->failure.text.empty());
    CHECK(mcp::read_message(R"({"jsonrpc":"2.0","error":{"code":1,"message":"m"}})").has_value());
}

TEST_CASE("what is no single message is refused, and the reason says why")
{
    const std::vector<std::pair<std::string, std::string>> rows{
        {"", "message: not a value"},
        {"Server running on stdio", "message: not a value"},
        {"\"text\"", "message: not an object"},
        {" [{\"jsonrpc\":\"2.0\",\"method\":\"m\"}]", "message: a batch, which is not spoken here"},
        {"[", "message: a batch, which is not spoken here"},
        {"{}", "message: jsonrpc is not \"2.0\""},
        {R"({"jsonrpc":2.0,"method":"m"})", "message: jsonrpc is not \"2.0\""},
        {R"({"jsonrpc":"2.0"})", "message: neither a method, a result nor an error"},
        {R"({"jsonrpc":"2.0","id":1})", "message: neither a method, a result nor an error"},
        {R"({"jsonrpc":"2.0","id":1,"id":2,"result":{}})", "message: a member stands twice"},
        {R"({"jsonrpc":"2.0","id":1,"result":{},"resul\u0074":{}})", "message: a member stands twice"},
        {R"({"jsonrpc":"2.0","result":{}})", "message: a result without an id"},
        {R"({"jsonrpc":"2.0","id":null,"result":{}})", "message: a result without an id"},
        {R"({"jsonrpc":"2.0","id":true,"result":{}})", "message: id is not a string or a number"},
        {R"({"jsonrpc":"2.0","id":{},"method":"m"})", "message: id is not a string or a number"},
        {R"({"jsonrpc":"2.0","id":null,"method":"m"})", "message: a request with the id null"},
        {R"({"jsonrpc":"2.0","id":1,"method":""})", "message: method is not a name"},
        {R"({"jsonrpc":"2.0","id":1,"method":5})", "message: method is not a name"},
        {R"({"jsonrpc":"2.0","method":"m","params":5})", "message: params is not an object or an array"},
        {R"({"jsonrpc":"2.0","id":1,"method":"m","result":{}})", "message: a method and an answer in one"},
        {R"({"jsonrpc":"2.0","id":1,"error":{"code":1},"result":{}})", "message: a result and an error in one"},
        {R"({"jsonrpc":"2.0","id":1,"error":"no"})", "message: error is not an object"},
        {R"({"jsonrpc":"2.0","id":1,"error":{"code":1.5}})", "message: error.code is not an integer"},
        {R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"code":2}})", "message: error: a member stands twice"},
        {R"({"jsonrpc":"2.0","id":1,"error":{"code":99999999999999999999}})", "message: error.code is not an integer"},
        {R"({"jsonrpc":"2.0","id":1,"result":{}} {})", "message: something follows the document"},
    };
    for (const auto& [text, why] : rows) {
        CAPTURE(text);
        CHECK(refusal(text) == why);
    }
}

TEST_CASE("a message over a limit is refused, and one at the limit is not")
{
    const auto text = nested(64);
    CHECK(refusal(text) == "accepted");
    CHECK(refusal(nested(65)) == "message: nested too deep");
    CHECK(refusal(nested(9), {.bytes = 4096, .depth = 8}) == "message: nested too deep");
    CHECK(refusal(text, {.bytes = text.size()}) == "accepted");
    CHECK(
        refusal(text, {.bytes = text.size() - 1}) ==
        "message: longer than " + std::to_string(text.size() - 1) + " bytes"
    );
}

TEST_CASE("a session of the legacy era is opened with the version that is asked for and no capabilities")
{
    for (const auto version : mcp::legacy_versions) {
        const mcp::dialect asked{std::string{version}, {"cardea", "1.2"}};
        CHECK(
            mcp::initialize_request(1, asked) ==
            R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":")" + std::string{version} +
                R"(","capabilities":{},"clientInfo":{"name":"cardea","version":"1.2"}}})"
        );
    }
    CHECK(mcp::initialized_notification() == R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
    CHECK(mcp::ping_request(2, legacy) == R"({"jsonrpc":"2.0","id":2,"method":"ping"})");
}

TEST_CASE("every list is asked for by its method, and an empty cursor is a cursor")
{
    const std::array<std::string_view, 4> methods{
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list"
    };
    for (std::size_t i = 0; i < mcp::list_kinds; ++i) {
        const auto list = static_cast<mcp::list_kind>(i);
        const auto head = R"({"jsonrpc":"2.0","id":5,"method":")" + std::string{methods[i]} + '"';
        CHECK(mcp::list_request(5, list, "", legacy) == head + "}");
        CHECK(mcp::list_request(5, list, R"("")", legacy) == head + R"(,"params":{"cursor":""}})");
        CHECK(mcp::list_request(5, list, R"("a\u0000\"")", legacy) == head + R"(,"params":{"cursor":"a\u0000\""}})");
    }
}

TEST_CASE("of the modern era every request says its version, capabilities and client")
{
    const std::string said{meta};
    CHECK(
        mcp::discover_request(1, modern) ==
        R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{)" + said + "}}"
    );
    CHECK(mcp::ping_request(1, modern) == mcp::discover_request(1, modern));
    CHECK(
        mcp::list_request(2, mcp::list_kind::tools, R"("c")", modern) ==
        R"({"jsonrpc":"2.0","id":2,"method":"tools/list","params":{)" + said + R"(,"cursor":"c"}})"
    );
    for (const auto& [lists, wanted] :
         {std::pair{0b1111U, R"({"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true})"},
          {0b0001U, R"({"toolsListChanged":true})"},
          {0b0110U, R"({"resourcesListChanged":true})"},
          {0b1000U, R"({"promptsListChanged":true})"}}) {
        CHECK(
            mcp::listen_request(3, mcp::list_set{lists}, modern) ==
            R"({"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{)" + said + R"(,"notifications":)" +
                wanted + "}}"
        );
    }
}

TEST_CASE("a request of the server is answered with its own id: ping with nothing, the others with method not found")
{
    const auto answer = [](std::string_view id, std::string_view method) {
        const auto text =
            R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":")" + std::string{method} + R"("})";
        return mcp::answer_to(*mcp::read_message(text));
    };
    CHECK(answer("0", "ping") == R"({"jsonrpc":"2.0","id":0,"result":{}})");
    CHECK(answer(R"("0")", "ping") == R"({"jsonrpc":"2.0","id":"0","result":{}})");
    for (const auto* method :
         {"roots/list", "sampling/createMessage", "elicitation/create", "tasks/list", "anything"}) {
        CHECK(
            answer("1.50", method) ==
            R"({"jsonrpc":"2.0","id":1.50,"error":{"code":-32601,"message":"Method not found"}})"
        );
    }
}

TEST_CASE("what is sent is one line of JSON, whatever is put into it")
{
    const mcp::dialect odd{"2026-07-28\n", {"a\"\r\n", std::string{"\x00\xff", 2}}};
    for (const auto& text : {
             mcp::initialize_request(1, odd),
             mcp::discover_request(1, odd),
             mcp::cancelled_notification(7, "late\nvery\x01"),
             mcp::list_request(1, mcp::list_kind::prompts, R"("\n")", odd),
         }) {
        CAPTURE(text);
        CHECK(text.find_first_of("\r\n") == std::string::npos);
        CHECK(core::parse_json(text).has_value());
    }
    CHECK(
        mcp::cancelled_notification(7, "late") ==
        R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"reason":"late"}})"
    );
}

TEST_CASE("the era of a version that is spoken is known, and no other version is")
{
    for (const auto version : mcp::legacy_versions) {
        CHECK(mcp::era_of(version) == mcp::era::legacy);
    }
    CHECK(mcp::era_of("2026-07-28") == mcp::era::modern);
    for (const std::string_view version : {"", "2024-10-07", "2099-01-01", "2025-11-25 ", "DRAFT-2026-v1"}) {
        CHECK_FALSE(mcp::era_of(version).has_value());
    }
    CHECK(mcp::latest(mcp::era::legacy) == "2025-11-25");
}

TEST_CASE("a batch holds its messages where 2025-03-26 is spoken, up to a hundred; all else is one text")
{
    const auto batch_of = [](std::size_t count) {
        std::string text = " [";
        for (std::size_t i = 0; i < count; ++i) {
            text += (i == 0 ? "" : ", ") + std::string{R"({"n":)"} + std::to_string(i) + "}";
        }
        return text + "]";
    };
    for (const std::size_t count : {1U, 2U, 99U, 100U}) {
        const auto batch = batch_of(count);
        const auto found = mcp::messages_in(batch, "2025-03-26");
        REQUIRE(found.size() == count);
        CHECK(found.back() == R"({"n":)" + std::to_string(count - 1) + "}");
        CHECK(mcp::messages_in(batch, "2025-06-18") == std::vector<std::string_view>{batch});
        CHECK(mcp::messages_in(batch, "") == std::vector<std::string_view>{batch});
    }
    for (const auto& text : {batch_of(0), batch_of(101), std::string{"[{]"}, std::string{"{}"}, std::string{}}) {
        CHECK(mcp::messages_in(text, "2025-03-26") == std::vector<std::string_view>{text});
    }
}

TEST_SUITE_END();
