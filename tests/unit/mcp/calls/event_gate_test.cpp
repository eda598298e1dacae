#include "mcp/calls/event_gate.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("mcp/calls/event_gate");

using mcp::client_capabilities;
using mcp::client_capability;
using mcp::event_gate;

namespace {

constexpr std::uint64_t limit = 256 * 1024;

std::string event(std::string_view data)
{
    return "event: message\nid: e\ndata: " + std::string{data} + "\n\n";
}

std::string asking(std::string_view method, std::string_view id = "5")
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"method":")" + std::string{method} + R"(","params":{}})";
}

std::string answering(std::string_view id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::string{id} + R"(,"result":{"content":[]}})";
}

struct fixture {
    explicit fixture(std::string_view call = "1", std::optional<client_capabilities> declared = client_capabilities{})
        : gate{{.call = call, .declared = declared, .limit = limit}}
    {
    }

    // Of the text in pieces of so many bytes.
    std::string pass(std::string_view text, std::size_t size = std::string_view::npos)
    {
        std::string all;
        std::string room;
        while (!text.empty()) {
            const auto piece = text.substr(0, size);
            text.remove_prefix(piece.size());
            all += gate.pass(piece, room);
        }
        return all;
    }

    event_gate gate;
};

client_capabilities declared(std::string_view raw)
{
    return client_capabilities::read(raw);
}

}  // namespace

TEST_CASE("Of an event that does not go on no byte does, wherever the stream is cut")
{
    auto dropped = event(asking("roots/list"));
    for (auto at = dropped.find('\n'); at != std::string::npos; at = dropped.find('\n', at + 2)) {
        dropped.insert(at, 1, '\r');
    }
    for (std::size_t size = 1; size <= dropped.size(); ++size) {
        CAPTURE(size);
        CHECK(fixture{}.pass(dropped + event(answering("1")), size) == event(answering("1")));
    }
}

TEST_CASE("What a client has not declared does not go on, and the server gets -32601")
{
    for (const std::string method : {"sampling/createMessage", "elicitation/create", "roots/list", "tasks/get"}) {
        CAPTURE(method);
        fixture x;
        CHECK(x.pass(event(asking(method))).empty());
        const auto refused = x.gate.take_refused();
        REQUIRE(refused.size() == 1);
        CHECK(refused[0] == R"({"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found"}})");
        CHECK(x.gate.take_refused().empty());
        CHECK(x.gate.dropped() == 1);
    }
}

TEST_CASE("What a client has declared goes on, and so does everything if nobody knows")
{
    const std::vector<std::pair<std::string, std::string>> rows{
        {"sampling/createMessage", R"({"sampling":{}})"},
        {"elicitation/create", R"({"elicitation":{"form":{}}})"},
        {"roots/list", R"({"roots":{"listChanged":true}})"},
    };
    for (const auto& [method, capabilities] : rows) {
        CAPTURE(method);
        const auto text = event(asking(method));
        CHECK(fixture{"1", declared(capabilities)}.pass(text) == text);
        CHECK(fixture{"1", std::nullopt}.pass(text) == text);
        CHECK(fixture{"1", declared(R"({"experimental":{}})")}.pass(text).empty());
    }
    const auto ping = event(asking("ping"));
    CHECK(fixture{}.pass(ping) == ping);
    const auto said = event(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}})");
    CHECK(fixture{}.pass(said) == said);
}

TEST_CASE("However a question is written, it does not go on undeclared")
{
    const std::vector<std::string> texts{
        event(R"({"jsonrpc":"2.0","id":5,"method":"sampling\/createMessage"})"),
        event("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"\\u0073ampling/createMessage\"}"),
        event("{\"jsonrpc\":\"2.0\",\"id\":5,\"\\u006dethod\":\"sampling/createMessage\"}"),
        event(R"({"method":"ping","jsonrpc":"2.0","id":5,"method":"roots/list"})"),
        event("[" + asking("roots/list") + "]"),
        event("[" + asking("ping") + "," + asking("roots/list") + "]"),
        event(
            R"({"jsonrpc":"2.0","id":5,"method":"roots/list","params":)" + std::string(70, '[') + std::string(70, ']') +
            "}"
        ),
        "data: {\"jsonrpc\":\"2.0\",\ndata: \"id\":5,\"method\":\ndata: \"roots/list\"}\n\n",
        "data:" + asking("roots/list") + "\r\n\r\n",
        "data:" + asking("roots/list") + "\r\r",
        "\xEF\xBB\xBF"
        "data: " +
            asking("roots/list") + "\n\n",
        ": comment\ndata: " + asking("roots/list") + "\nid: 1\nevent: message\n\n",
    };
    for (const auto& text : texts) {
        CAPTURE(text);
        for (const std::size_t size : {std::string::npos, std::size_t{1}, std::size_t{7}}) {
            fixture x;
            const auto passed = x.pass(text, size);
            CHECK(passed.find("roots") == std::string::npos);
            CHECK(passed.find("ampling") == std::string::npos);
        }
    }
}

TEST_CASE("An answer to another request does not go on, nor does a second one")
{
    fixture x{"1"};
    CHECK(x.pass(event(answering("2"))).empty());
    CHECK(x.pass(event(answering(R"("2")"))).empty());
    CHECK(fixture{R"("1")"}.pass(event(answering(R"("1.0")"))).empty());
    const auto right = event(answering("1"));
    CHECK(x.pass(right) == right);
    CHECK(x.pass(right).empty());
    CHECK(x.pass(event(R"({"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}})")).empty());
    CHECK(x.gate.dropped() == 4);
    const auto note = event(R"({"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1}})");
    CHECK(x.pass(note) == note);
}

TEST_CASE("The id of an answer may be spelled in another way")
{
    for (const auto& [call, id] : std::vector<std::pair<std::string, std::string>>{
             {"1", "1.0"},
             {"1", "1"},
             {R"("a")", R"("\u0061")"},
             {"100", "1e2"},
             {"1", R"("1")"},
             {R"("1")", "1"},
             {R"("a\/b")", R"("a/b")"}
         }) {
        CAPTURE(id);
        const auto text = event(answering(id));
        CHECK(fixture{call}.pass(text) == text);
    }
    for (const std::string id : {R"("id":null,)", R"("id":"",)", ""}) {
        const auto unread = event(R"({"jsonrpc":"2.0",)" + id + R"("error":{"code":-32700,"message":"Parse error"}})");
        CHECK(fixture{}.pass(unread) == unread);
    }
}

TEST_CASE("On a stream of no request answers do not go on, but what is replayed does, each once")
{
    fixture listening{""};
    CHECK(listening.pass(event(answering("1"))).empty());
    event_gate replayed{{.replayed = true, .declared = client_capabilities{}, .limit = limit}};
    std::string room;
    const auto first = event(answering("1"));
    const auto second = event(answering("2"));
    CHECK(replayed.pass(first, room) == first);
    CHECK(replayed.pass(first, room).empty());
    CHECK(replayed.pass(second, room) == second);
}

TEST_CASE("What goes on is the same bytes, whatever the pieces, and a piece that goes on whole is not copied")
{
    const std::string text = ": hello\n\n" + event("") +
                             event(R"({"jsonrpc":"2.0","method":"notifications/progress"})") +
                             "data: {\"jsonrpc\":\"2.0\",\r\ndata: \"method\":\"notifications/x\"}\r\n\r\n" +
                             event(asking("ping")) + event("{}") + "event: ping\ndata: now\n\n" + event(answering("1"));
    for (std::size_t size = 1; size <= text.size(); ++size) {
        CHECK(fixture{}.pass(text, size) == text);
    }
    std::string room;
    fixture x;
    CHECK(x.gate.pass(text, room).data() == text.data());
    const auto mixed = event(answering("9")) + event(answering("1")) + event(asking("roots/list")) + ": end\n\n";
    for (std::size_t size = 1; size <= mixed.size(); ++size) {
        CHECK(fixture{}.pass(mixed, size) == event(answering("1")) + ": end\n\n");
    }
}

TEST_CASE("An event is held until it is whole")
{
    fixture x;
    const auto text = event(answering("1"));
    CHECK(x.pass(text.substr(0, text.size() - 1)).empty());
    CHECK(x.gate.held() == text.size() - 1);
    CHECK(x.pass("\n") == text);
    CHECK(x.gate.held() == 0);
}

TEST_CASE("An event that is held has a limit; a long answer goes on as it comes")
{
    const std::string notification = R"(data: {"jsonrpc":"2.0","method":"notifications/message","params":")";
    for (const auto over : {-1, 0, 1}) {
        CAPTURE(over);
        fixture x;
        const auto size = static_cast<std::size_t>(static_cast<std::int64_t>(limit) + over);
        CHECK(x.pass(notification + std::string(size - notification.size(), 'x'), 4096).empty());
        CHECK(x.gate.too_large() == (over > 0));
    }
    for (const std::string begin : {R"({"jsonrpc":"2.0","id":1,"result":")", R"({"result":")"}) {
        fixture x;
        const auto head = "data: " + begin;
        const auto first = x.pass(head + std::string(event_gate::early - head.size(), 'x'), 4096);
        CHECK(first.size() == event_gate::early);
        CHECK(x.gate.held() == 0);
        const auto more = std::string(2 * limit, 'y');
        CHECK(x.pass(more, 4096) == more);
        const auto end = std::string{begin.find("id") == std::string::npos ? R"(","id":1})" : R"("})"} + "\n\n";
        CHECK(x.pass(end) == end);
        CHECK(x.pass(event(answering("1"))).empty());
        const auto after = event(asking("ping"));
        CHECK(x.pass(after) == after);
    }
    fixture foreign;
    const std::string head = R"(data: {"jsonrpc":"2.0","id":2,"result":")";
    CHECK(foreign.pass(head + std::string(2 * limit, 'x') + "\"}\n\n", 4096).empty());
    CHECK(foreign.gate.held() == 0);
    const auto right = event(answering("1"));
    CHECK(foreign.pass(right) == right);
}

TEST_CASE("So many refusals wait for the server, and a request whose id is too long has none")
{
    fixture x;
    std::string many;
    for (std::size_t i = 0; i < event_gate::most_refused + 1; ++i) {
        many += event(asking("roots/list", std::to_string(i)));
    }
    CHECK(x.pass(many).empty());
    CHECK(x.gate.take_refused().size() == event_gate::most_refused);
    CHECK(x.pass(event(asking("roots/list", '"' + std::string(254, 'i') + '"'))).empty());
    CHECK(x.gate.take_refused().size() == 1);
    CHECK(x.pass(event(asking("roots/list", '"' + std::string(255, 'i') + '"'))).empty());
    CHECK(x.gate.take_refused().empty());
}

TEST_CASE("A client that gets no stream gets answers alone, and every question is refused")
{
    event_gate gate{{.call = "1", .declared = std::nullopt, .limit = limit, .answers_only = true}};
    std::string room;
    const auto stream = "id: 1\ndata:\n\n: a comment\n\n" + event(asking("custom/ask")) +
                        event(R"({"jsonrpc":"2.0","method":"notifications/message"})") + event("nonsense");
    CHECK(gate.pass(stream, room).empty());
    const auto refused = gate.take_refused();
    REQUIRE(refused.size() == 1);
    CHECK(refused[0] == R"({"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"Method not found"}})");
    CHECK(gate.pass(event(answering("1")), room) == event(answering("1")));
}

TEST_SUITE_END();
