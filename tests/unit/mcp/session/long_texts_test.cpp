// What a server says to its session at such length that it is read away from the loop.
#include "mcp/protocol/discovery.hpp"
#include "mcp/protocol/read_text.hpp"
#include "mcp/transport/offloading_transport.hpp"
#include "tests/unit/mcp/session/runner_rig.hpp"

#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("mcp/session/long_texts");

using mcp_test::rig;
using mcp_test::session_state;

namespace {

const std::string padding(mcp::read_at_once, 'x');

// Reads when it is told to.
struct late_reader {
    struct waiting {
        std::string text;
        std::function<void(std::shared_ptr<const mcp::read_text>)> done;
    };

    mcp::transport_factory before(rig& x)
    {
        auto read = [this](std::string text, auto done) { texts.push_back({std::move(text), std::move(done)}); };
        return mcp::reading_apart(x.server.factory(), std::move(read), x.settings.messages.bytes);
    }

    void read_one(const mcp::runner_settings& settings)
    {
        auto next = std::move(texts.front());
        texts.pop_front();
        next.done(mcp::read_apart(std::move(next.text), settings.messages, settings.lists.items));
    }

    std::deque<waiting> texts;
};

std::string tool(const std::string& name)
{
    return R"({"name":")" + name + R"(","inputSchema":{},"description":")" + padding + R"("})";
}

// How a session ends up whose first page is this, whatever its tools are.
std::vector<std::string> course_of(const std::function<std::string(const std::string& id)>& page, bool apart)
{
    rig x;
    late_reader reader;
    x.server.answer = [&](const mcp_test::scripted_server::line& asked) {
        return asked.method == "tools/list" ? page(asked.id) : mcp_test::server_with(&x.tools)(asked);
    };
    x.settings.states.ping_interval = core::duration{0};  // whose answers count too
    x.start(apart ? reader.before(x) : x.server.factory());
    const auto is_over = [&] {
        while (!reader.texts.empty()) {
            reader.read_one(x.settings);
        }
        return !x.walks.empty();
    };
    REQUIRE(x.wait_until(is_over));
    std::vector<std::string> course;
    course.push_back(x.walks[0] ? "walked" : x.walks[0].error().detail);
    if (const auto& lists = x.runner->latest()) {
        for (const auto& each : (*lists)[mcp::list_kind::tools]) {
            course.push_back(each.key + " " + each.raw);
        }
        for (const auto& each : joined(lists->left_out).first) {
            course.push_back(each);
        }
    }
    course.push_back(std::to_string(x.runner->counts().received));
    course.push_back(std::to_string(x.runner->counts().refused));
    course.push_back(x.runner->detail());
    return course;
}

}  // namespace

TEST_CASE("A long page is not read by the session: it takes what was read elsewhere, and has nothing of it before that")
{
    rig x;
    late_reader reader;
    x.tools = "[" + tool("a") + "," + tool("b") + "]";
    x.start(reader.before(x));
    REQUIRE(x.wait_until([&] { return !reader.texts.empty(); }));
    CHECK(x.runner->state() == session_state::discovering);
    CHECK(x.published.empty());
    auto next = std::move(reader.texts.front());
    reader.texts.clear();
    // Whoever reads it here finds no message, and in its result no tools.
    const auto id = mcp::addressee_of(next.text, true).id.value_or(0);
    const auto other =
        R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{"tools":[{"name":"elsewhere"}]}})";
    const auto elsewhere = mcp::read_apart(other, {}, 10);  // what is read stands in its text
    auto read = *elsewhere;
    read.text = std::string(next.text.size(), 'x');
    read.whole.text = read.text;
    read.whole.read->result = R"({"tools":1})";
    next.done(std::make_shared<const mcp::read_text>(std::move(read)));
    REQUIRE(x.wait_for(session_state::ready));
    REQUIRE(x.published.size() == 1);
    REQUIRE((*x.published[0])[mcp::list_kind::tools].size() == 1);
    CHECK((*x.published[0])[mcp::list_kind::tools][0].key == "elsewhere");
}

TEST_CASE("A long answer with a list has the same outcome wherever it is read")
{
    const auto answer = [](const std::string& id, const std::string& result) {
        return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + "}";
    };
    const std::vector<std::function<std::string(const std::string&)>> pages{
        [&](const std::string& id) { return answer(id, R"({"tools":[)" + tool("a") + "," + tool("b") + "]}"); },
        [&](const std::string& id) { return answer(id, R"({"tools":[)" + tool("a") + "," + tool("a") + ",7]}"); },
        [&](const std::string& id) { return answer(id, R"({"tools":")" + padding + R"("})"); },
        [&](const std::string& id) { return answer(id, R"(")" + padding + R"(")"); },
        [&](const std::string& id) { return answer(id, R"({"resultType":"x","tools":[)" + tool("a") + "]}"); },
        [&](const std::string& id) { return answer(id, R"({"tools":[)" + tool("a") + "]") + " "; },
        [&](const std::string& id) { return answer('"' + id + '"', R"({"tools":[)" + tool("a") + "]}"); },
        [&](const std::string& id) { return answer(id + ".0", R"({"tools":[)" + tool("a") + "]}"); },
        [&](const std::string& id) { return "[" + answer(id, R"({"tools":[)" + tool("a") + "]}") + "]"; },
        [&](const std::string& id) {
            return R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-1,"message":")" + padding + R"("}})";
        },
    };
    for (const auto& page : pages) {
        CAPTURE(page("1").substr(0, 60));
        CHECK(course_of(page, true) == course_of(page, false));
    }
}

TEST_CASE("What a server says behind a long page is heard behind it")
{
    rig x;
    late_reader reader;
    x.tools = "[" + tool("a") + "]";
    x.start(reader.before(x));
    REQUIRE(x.wait_until([&] { return !reader.texts.empty(); }));
    x.server.say(R"({"jsonrpc":"2.0","id":"p","method":"ping"})");
    const auto sent = x.server.sent.size();
    CHECK(x.server.sent.size() == sent);
    reader.read_one(x.settings);
    REQUIRE(x.wait_for(session_state::ready));
    REQUIRE(x.wait_until([&] { return x.server.sent.size() > sent; }));
    CHECK(x.server.sent[sent].text.find(R"("id":"p")") != std::string::npos);
}

TEST_SUITE_END();
