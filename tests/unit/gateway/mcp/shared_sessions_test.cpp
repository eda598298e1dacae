// over 600 lines: one rig, and a case for each promise of shared sessions.
#include "gateway/mcp/shared/shared_sessions.hpp"

#include "tests/unit/gateway/mcp/sessions_rig.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/mcp/shared/shared_sessions");

using namespace mcp_path_test;
using gateway::mcp::shared::shared_calls;
using gateway::mcp::shared::shared_session;
using gateway::mcp::shared::shared_sessions;

namespace {

class shared_rig : public rig {
public:
    shared_rig()
    {
        facts.protocol_version = "2025-06-18";
        facts.capabilities = R"({"tools":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true}})";
        facts.info = R"({"name":"s","version":"1"})";
        server.sessions = core::mcp_sessions::shared;
    }
    ~shared_rig()
    {
        shared.reset();
        poll();
    }

    // The handle of a new session; or what that fails with.
    std::string begin(const std::optional<std::string>& whose = std::nullopt, const std::string& version = "2025-06-18")
    {
        const auto text = message("0", "initialize", R"({"protocolVersion":")" + version + R"(","capabilities":{}})");
        auto begun = shared->begin(new_entry(), whose.value_or(principal), client_text{text});
        poll();
        if (!begun) {
            return std::string{core::name(begun.error().code)};
        }
        sent_initialize = begun->answer->take();
        return begun->handle;
    }

    reader
    request(const std::string& handle, const std::string& text, const std::optional<std::string>& whose = std::nullopt)
    {
        const auto by = whose.value_or(principal);
        auto asked = shared->request({handle, "a", by}, client_text{text});
        refused = asked ? std::string{} : std::string{core::name(asked.error().code)};
        poll();
        return asked ? *asked : nullptr;
    }

    reader subscribe(
        const std::string& handle,
        const std::string& uri,
        const std::string& id = "1",
        const std::optional<std::string>& whose = std::nullopt
    )
    {
        return request(handle, message(id, "resources/subscribe", R"({"uri":")" + uri + R"("})"), whose);
    }

    reader listen(const std::string& handle)
    {
        auto heard = shared->listen(key(handle));
        return heard ? *heard : nullptr;
    }

    void after(core::duration time)
    {
        now += time;
        shared->sweep(now);
        poll();
    }

    void say(const std::string& text)
    {
        programs.say(text, programs.started.size() - 1);
        poll();
    }

    // Answers the latest message to the server.
    void answer(const std::string& value = "{}")
    {
        say(answer_text(std::to_string(programs.messages.back().id), value));
    }

    void die()
    {
        programs.die(programs.started.size() - 1);
        poll();
    }

    std::uint64_t ended(session_end why) const { return shared->counts().ended[static_cast<std::size_t>(why)]; }

    mcp::server_facts facts;
    std::optional<core::error> trouble;
    std::string refused;
    gateway::mcp::table::local_session_services services{
        loop,
        turns,
        [this](const gateway::model::agent_entry& agent) { return reach(agent); },
        [this](const core::agent&) { return modern; },
        [this] { return now; },
        log,
        [this](const std::string&) -> core::result<std::shared_ptr<const mcp::server_facts>> {
            if (trouble) {
                return *trouble;
            }
            return std::make_shared<const mcp::server_facts>(facts);
        },
        [this](const std::string&) { return programs.factory(); }
    };
    std::unique_ptr<shared_sessions> shared = std::make_unique<shared_sessions>(services, *sessions);
};

const std::string tools_changed = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";
const std::string resources_changed = R"({"jsonrpc":"2.0","method":"notifications/resources/list_changed"})";

std::string updated(const std::string& uri)
{
    return R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":")" + uri + R"("}})";
}

}  // namespace

TEST_CASE("A client gets the older version of its own and the session's, and the session's for one that is not known")
{
    shared_rig x;
    const auto version_of = [&](const std::string& asked) {
        x.begin("p", asked);
        const auto result = mcp::members_of(*x.sent_initialize).object("result");
        return mcp::members_of(result).text("protocolVersion");
    };
    CHECK(version_of("2024-11-05") == "2024-11-05");
    CHECK(version_of("2025-06-18") == "2025-06-18");
    CHECK(version_of("2025-11-25") == "2025-06-18");
    CHECK(version_of("2000-01-01") == "2025-06-18");
    CHECK(version_of("") == "2025-06-18");
    x.facts.capabilities = "{}";
    CHECK(version_of("2024-11-05") == "2024-11-05");
    CHECK(
        x.sent_initialize->find(R"("capabilities":{},"serverInfo":{"name":"s","version":"1"}})") != std::string::npos
    );
}

TEST_CASE("Without a session that is ready, or with one of the other era, a client is told so and goes on later")
{
    shared_rig x;
    const auto session = x.begin();
    x.trouble = core::upstream_error(errc::session_crashed);
    CHECK(x.begin() == "session_crashed");
    CHECK(x.request(session, message("1", "tools/call")) == nullptr);
    CHECK(x.refused == "session_crashed");
    CHECK(next(x.request(session, message("1", "ping"))) == answer_text("1"));
    x.trouble.reset();
    x.facts.speaks = mcp::era::modern;
    CHECK(x.begin() == "version_unsupported");
    const auto entry = x.new_entry();
    CHECK(x.shared->call(entry, client_text{message("1", "tools/call")}).error().code == errc::version_unsupported);
    auto modern = x.shared->modern(entry, client_text{message("1", "tools/call")});
    REQUIRE(modern.has_value());
    x.poll();
    x.answer();
    CHECK(next(*modern) == answer_text("1"));
    // One who leaves cancels.
    modern = x.shared->modern(entry, client_text{message("1", "tools/call")});
    x.poll();
    modern->reset();
    CHECK(x.programs.messages.back().text.find(R"("requestId":1000000001)") != std::string::npos);
    x.facts.speaks = mcp::era::legacy;
    CHECK(x.shared->modern(entry, client_text{message("1", "tools/call")}).error().code == errc::version_unsupported);
    CHECK(x.request(session, message("1", "tools/call")) != nullptr);
    // The next session speaks less than the client was told, or another era.
    SUBCASE("an older version")
    {
        x.facts.protocol_version = "2025-03-26";
    }
    SUBCASE("the modern era")
    {
        x.facts.speaks = mcp::era::modern;
        x.facts.protocol_version = "2026-07-28";
    }
    x.request(session, message("1", "tools/call"));
    CHECK(x.refused == "session_not_found");
    CHECK(x.ended(session_end::lost) == 1);
}

TEST_CASE("A session has 64 calls in flight and no more, subscriptions among them, and all have 1,024")
{
    shared_rig x;
    std::vector<reader> all;
    std::vector<std::string> handles;
    for (std::size_t i = 0; i < shared_calls::most_calls; ++i) {
        const std::string principal = i < shared_calls::most_calls_of_principal ? "p" : "q";
        if (i % shared_calls::most_calls_of_client == 0) {
            handles.push_back(x.begin(principal));
            all.push_back(x.subscribe(handles.back(), "u", "1", principal));
        } else {
            all.push_back(x.request(handles.back(), message("1", "tools/call"), principal));
        }
        REQUIRE(all.back() != nullptr);
    }
    CHECK(x.request(handles.back(), message("1", "tools/call"), "q") == nullptr);
    CHECK(x.refused == "overloaded");
    const auto more = x.begin("r");
    CHECK(x.request(more, message("1", "tools/call"), "r") == nullptr);
    CHECK(x.refused == "overloaded");
    // That of the server's answers which is about all subscriptions makes room for sixteen.
    x.say(answer_text("1000000000"));
    CHECK(x.request(more, message("1", "tools/call"), "r") != nullptr);
    CHECK(x.request(handles.back(), message("1", "tools/call"), "q") != nullptr);
    CHECK(x.request(handles.back(), message("1", "tools/call"), "q") == nullptr);
}

TEST_CASE("A principal has 512 calls in flight and no more, subscriptions and calls without a session among them")
{
    shared_rig x;
    const auto call = message("1", "tools/call");
    std::vector<reader> all;
    std::string session;
    for (std::size_t i = 0; i < shared_calls::most_calls_of_principal; ++i) {
        if (i % shared_calls::most_calls_of_client == 0) {
            session = x.begin();
            all.push_back(x.subscribe(session, "u"));
        } else {
            all.push_back(x.request(session, call));
        }
        REQUIRE(all.back() != nullptr);
    }
    const auto more = x.begin();
    CHECK(x.request(more, call) == nullptr);
    CHECK(x.refused == "overloaded");
    CHECK(x.subscribe(more, "u") == nullptr);
    const client_text text{call};
    mcp::client_message alone = text;
    alone.principal = "p";
    CHECK_FALSE(x.shared->call(x.new_entry(), alone).has_value());
    alone.principal = "q";
    CHECK(x.shared->call(x.new_entry(), alone).has_value());
    CHECK(x.request(x.begin("q"), call, "q") != nullptr);
    // About all subscriptions.
    x.say(answer_text("1000000000"));
    CHECK(x.request(more, call) != nullptr);
}

TEST_CASE("max_sessions sessions are there, and the next takes the place of one that is idle for 10 s")
{
    shared_rig x;
    x.principal.clear();
    x.server.max_sessions = 2;
    const auto first = x.begin();
    const auto second = x.begin();
    CHECK(x.begin() == "session_limit");
    const auto call = x.request(first, message("1", "tools/call"));
    x.after(10s);
    CHECK(x.begin().size() == 16);
    CHECK(x.ended(session_end::evicted) == 1);
    CHECK(x.listen(second) == nullptr);
    CHECK(x.listen(first) != nullptr);
}

TEST_CASE("An agent that is full stays so for 1 s at most, and not behind the time at which a session may go")
{
    shared_rig x;
    x.server.max_sessions = 1;
    const auto first = x.begin();
    auto call = x.request(first, message("1", "tools/call"));
    x.now += 10s;
    CHECK(x.begin() == "session_limit");
    // It may go now, but nobody looks.
    x.answer();
    x.now += gateway::mcp::table::agent_sessions::longest_full - 1ms;
    CHECK(x.begin() == "session_limit");
    x.now += 1ms;
    const auto second = x.begin();
    CHECK(second.size() == 16);
    x.now += 9s + 999ms;
    CHECK(x.begin() == "session_limit");
    x.now += 1ms;
    const auto third = x.begin();
    CHECK(third.size() == 16);
    CHECK(x.begin() == "session_limit");
    // One that ends makes room at once.
    CHECK(x.shared->end(x.key(third)).has_value());
    CHECK(x.begin().size() == 16);
}

TEST_CASE("New filters of resources end the sessions that are subscribed to any, and no others")
{
    shared_rig x;
    const auto subscribed = x.begin();
    const auto other = x.begin();
    x.subscribe(subscribed, "u");
    x.answer();
    x.server.tools.deny = {"t"};
    x.shared->set_agent("a", x.new_entry());
    CHECK(x.shared->size() == 2);
    x.server.resources.deny = {"u"};
    x.shared->set_agent("a", x.new_entry());
    CHECK(x.listen(subscribed) == nullptr);
    CHECK(x.listen(other) != nullptr);
    CHECK(x.ended(session_end::withdrawn) == 1);
}

TEST_CASE("A session ends after 30 minutes without a message and after 24 hours, but not during a call")
{
    shared_rig x;
    x.server.call_timeout = 50min;
    const auto idle = x.begin();
    const auto busy = x.begin();
    const auto listening = x.begin();
    const auto heard = x.listen(listening);
    auto call = x.request(busy, message("1", "tools/call"));
    x.after(30min - 1s);
    CHECK(x.shared->size() == 3);
    x.after(1s);
    CHECK(x.ended(session_end::idle) == 1);
    CHECK(x.shared->size() == 2);
    x.answer();
    CHECK(next(call) == answer_text("1"));
    const auto kept = x.listen(busy);
    x.after(23h + 20min);
    call = x.request(busy, message("2", "tools/call"));
    x.after(20min);
    CHECK(x.ended(session_end::aged) == 1);
    CHECK(next(heard) == "over");
    x.answer();
    CHECK(next(call) == answer_text("2"));
    x.after(1s);
    CHECK(x.ended(session_end::aged) == 2);
}

TEST_CASE("256 sessions are swept at once, and the others behind what else is due on the loop")
{
    using gateway::mcp::table::session_table;
    for (const auto count : {session_table::most_swept - 1, session_table::most_swept, session_table::most_swept + 1}) {
        CAPTURE(count);
        shared_rig x;
        for (std::size_t i = 0; i < count; ++i) {
            REQUIRE(x.begin().size() == 16);
        }
        x.now += session_table::longest_idle;
        x.shared->sweep(x.now);
        CHECK(x.shared->size() == count - std::min(count, session_table::most_swept));
        x.shared->sweep(x.now);
        CHECK(x.shared->size() == count - std::min(count, session_table::most_swept));
        x.poll();
        CHECK(x.shared->size() == 0);
        CHECK(x.ended(session_end::idle) == count);
    }
}

TEST_CASE("Of an agent that is gone 256 sessions end at once, and the others behind what else is due on the loop")
{
    using gateway::mcp::table::ending_sessions;
    for (const auto count :
         {ending_sessions::most_at_once - 1, ending_sessions::most_at_once, ending_sessions::most_at_once + 1}) {
        CAPTURE(count);
        shared_rig x;
        for (std::size_t i = 0; i < count; ++i) {
            REQUIRE(x.begin().size() == 16);
        }
        x.shared->set_agent("a", nullptr);
        CHECK(x.shared->size() == 0);
        CHECK(x.ended(session_end::withdrawn) == std::min(count, ending_sessions::most_at_once));
        x.poll();
        CHECK(x.ended(session_end::withdrawn) == count);
        x.after(1s);
    }
}

TEST_CASE("Sessions that end in turns are not found meanwhile, do not end twice, and take no place of those that begin")
{
    using gateway::mcp::table::ending_sessions;
    constexpr auto count = ending_sessions::most_at_once + 2;
    shared_rig x;
    x.principal.clear();
    x.server.max_sessions = count;
    std::vector<std::string> before;
    std::vector<reader> heard;
    for (std::size_t i = 0; i < count; ++i) {
        before.push_back(x.begin());
        heard.push_back(x.listen(before.back()));
    }
    x.server.command = "another";
    const auto entry = x.new_entry();
    x.shared->set_agent("a", entry);
    const auto over = [&] {
        return std::ranges::count_if(heard, [](const auto& each) { return next(each) == "over"; });
    };
    CHECK(static_cast<std::size_t>(over()) == ending_sessions::most_at_once);
    CHECK(std::ranges::none_of(before, [&](const auto& each) { return x.shared->has(x.key(each)); }));
    // Nothing has run on the loop yet.
    const auto text = message("0", "initialize", R"({"protocolVersion":"2025-06-18","capabilities":{}})");
    CHECK(x.shared->begin(entry, "p", client_text{text}).has_value());
    CHECK(x.shared->size() == 1);
    SUBCASE("on the loop")
    {
        x.poll();
        CHECK(x.shared->size() == 1);
        CHECK(x.ended(session_end::withdrawn) == count);
    }
    SUBCASE("at the gateway's end, before it goes on")
    {
        x.shared->stop();
        CHECK(x.ended(session_end::withdrawn) == count);
        CHECK(x.ended(session_end::draining) == 1);
    }
    SUBCASE("or never, since the table is gone")
    {
        x.shared.reset();
    }
    x.poll();
    if (x.shared != nullptr) {
        CHECK(static_cast<std::size_t>(over()) == count);
    }
}

TEST_CASE("A session that ends cancels its calls and no others")
{
    shared_rig x;
    const auto mine = x.begin();
    const auto other = x.begin();
    const auto call = x.request(mine, message("7", "tools/call"));
    const auto kept = x.request(other, message("7", "tools/call"));
    CHECK(x.shared->end(x.key(mine)).has_value());
    x.poll();
    CHECK(next(call) == "session_not_found");
    CHECK(x.programs.messages.back().text.find(R"("requestId":1000000000)") != std::string::npos);
    x.say(answer_text("1000000000"));
    x.say(answer_text("1000000001"));
    CHECK(next(kept) == answer_text("7"));
    auto stolen = x.key(other);
    stolen.principal = "q";
    CHECK(x.shared->end(stolen).error().code == errc::session_not_found);
    CHECK(x.shared->end(x.key(mine)).error().code == errc::session_not_found);
}

TEST_CASE("What changes while nobody listens is told once when somebody does")
{
    shared_rig x;
    const auto session = x.begin();
    const auto other = x.begin();
    const auto subscribed = x.subscribe(session, "u");
    x.answer();
    CHECK(next(subscribed) == answer_text("1"));
    for (int i = 0; i < 1000; ++i) {
        x.say(R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{}}})");
        x.say(updated("u/part"));
    }
    const auto heard = x.listen(session);
    CHECK(next(heard) == tools_changed);
    CHECK(next(heard) == updated("u"));
    CHECK(next(heard).empty());
    x.say(updated("u/part"));
    CHECK(next(heard) == updated("u/part"));
    const auto of_other = x.listen(other);
    CHECK(next(of_other) == tools_changed);
    CHECK(next(of_other).empty());
    // Whose call or task these are about, nobody knows.
    x.say(message("", "notifications/tasks/status", R"({"taskId":"t"})"));
    x.say(message("", "notifications/elicitation/complete"));
    x.say(message("", "notifications/message"));
    x.say(message("", "notifications/progress", R"({"progressToken":1000000000})"));
    CHECK(next(heard).empty());
    CHECK(next(of_other).empty());
}

TEST_CASE(
    "When the session is lost calls fail, and subscriptions are made again eight at a time, with the lists as changed"
)
{
    shared_rig x;
    const auto session = x.begin();
    const auto heard = x.listen(session);
    for (int i = 0; i < 9; ++i) {
        x.subscribe(session, "u" + std::to_string(i));
        x.answer();
    }
    const auto call = x.request(session, message("1", "tools/call"));
    const auto waiting = x.subscribe(session, "more");
    const auto before = x.programs.messages.size();
    x.die();
    CHECK(next(call) == "upstream_reset");
    CHECK(next(waiting) == "upstream_reset");
    CHECK(x.programs.started.size() == 2);
    CHECK(x.programs.lines[1].size() == shared_calls::most_restored);
    CHECK(x.programs.messages.size() == before + 8);
    x.answer();
    CHECK(x.programs.lines[1].size() == 9);
    CHECK(next(heard) == tools_changed);
    CHECK(next(heard) == resources_changed);
    CHECK(next(heard).empty());
    CHECK(x.shared->counts().recovered == 1);
    // Ids begin again on the next connection, where nothing of the previous one comes any more.
    x.say(answer_text("1000000000"));
    x.say(updated("u0"));
    CHECK(next(heard) == updated("u0"));
}

TEST_CASE("A long notification of an update is told by its URI, one of 16 KiB as it came")
{
    for (const std::size_t size : {16383U, 16384U, 16385U}) {
        CAPTURE(size);
        shared_rig x;
        const auto session = x.begin();
        x.subscribe(session, "u");
        x.answer();
        const auto heard = x.listen(session);
        const auto long_text = [](std::size_t padding) {
            return R"({"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"u/part","_meta":{"p":")" +
                   std::string(padding, 'p') + R"("}}})";
        };
        const auto text = long_text(size - long_text(0).size());
        REQUIRE(text.size() == size);
        x.say(text);
        CHECK(next(heard) == (size <= shared_session::longest_text ? text : updated("u")));
    }
}

TEST_CASE("A resource that is updated without end is told of at once, and then with each sweep at most")
{
    shared_rig x;
    const auto session = x.begin();
    x.subscribe(session, "u");
    x.answer();
    const auto heard = x.listen(session);
    for (int times = 0; times < 100; ++times) {
        x.say(updated("u/part"));
    }
    CHECK(next(heard) == updated("u/part"));
    CHECK(next(heard).empty());
    x.after(1s);
    CHECK(next(heard) == updated("u"));
    CHECK(next(heard).empty());
    x.after(1s);
    CHECK(next(heard).empty());
    x.say(updated("u/part"));
    CHECK(next(heard) == updated("u/part"));
}

TEST_CASE("A client that reads hears of all 1,000 resources that were updated before, and loses nothing it was told")
{
    shared_rig x;
    const auto session = x.begin();
    const auto uri = [](std::size_t each) { return "u" + std::to_string(each); };
    for (std::size_t each = 0; each < shared_session::most_updated; ++each) {
        x.subscribe(session, uri(each));
        x.answer();
        x.say(updated(uri(each)));
    }
    x.say(tools_changed);
    const auto heard = x.listen(session);
    std::set<std::string> told;
    const auto read_all = [&] {
        std::size_t count = 0;
        for (auto text = next(heard); !text.empty(); text = next(heard)) {
            told.insert(text);
            ++count;
        }
        return count;
    };
    CHECK(read_all() == text_queue::most_texts);
    CHECK(told.contains(tools_changed));
    // What comes meanwhile finds room, or waits with the rest.
    for (int times = 0; times < 1000; ++times) {
        x.say(updated("u0"));
    }
    while (read_all() > 0) {
        x.after(1s);
    }
    CHECK(told.size() == shared_session::most_updated + 1);
}

TEST_CASE("What was updated is forgotten with its subscription, and kept for 1,000 resources at most")
{
    for (const std::size_t rounds : {999U, 1000U, 1001U}) {
        CAPTURE(rounds);
        shared_rig x;
        const auto session = x.begin();
        const auto unsubscribe = [&](const std::string& uri) {
            x.request(session, message("1", "resources/unsubscribe", R"({"uri":")" + uri + R"("})"));
        };
        x.subscribe(session, "forgotten");
        x.answer();
        x.say(updated("forgotten"));
        unsubscribe("forgotten");
        x.answer();
        for (std::size_t each = 0; each < rounds; ++each) {
            const auto uri = "u" + std::to_string(each);
            x.subscribe(session, uri);
            x.answer();
            unsubscribe(uri);
            x.say(updated(uri));  // the server has not carried that out yet
            x.answer();
        }
        const auto heard = x.listen(session);
        std::size_t told = 0;
        for (bool more = true; more;) {
            more = false;
            for (auto text = next(heard); !text.empty(); text = next(heard)) {
                CHECK(text.find("forgotten") == std::string::npos);
                ++told;
                more = true;
            }
            x.after(1s);
        }
        CHECK(told == std::min(rounds, shared_session::most_updated));
    }
}

TEST_CASE("A subscription of the modern era may be silent, also on the session that follows a lost one")
{
    shared_rig x;
    x.server.call_timeout = 10s;
    x.facts.speaks = mcp::era::modern;
    const auto entry = x.new_entry();
    auto asked = x.shared->modern(entry, client_text{message("1", "tools/list")});
    REQUIRE(asked.has_value());
    x.poll();
    // While it is lost nobody knows what it speaks.
    x.trouble = core::upstream_error(errc::session_crashed);
    x.programs.die();
    x.trouble.reset();
    x.poll();
    const auto listening = x.shared->modern(entry, client_text{message("1", "subscriptions/listen")});
    asked = x.shared->modern(entry, client_text{message("2", "tools/list")});
    REQUIRE((listening && asked));
    x.poll();
    x.after(10s);
    CHECK(next(*asked) == "upstream_timeout");
    CHECK(next(*listening).empty());
}

TEST_CASE("Nobody reaches a task over a shared session, in either era")
{
    shared_rig x;
    x.facts.speaks = mcp::era::modern;
    x.facts.capabilities =
        R"({"tools":{},"extensions":{"io.modelcontextprotocol/tasks":{},"x":{"n":1.0}},"resources":{"subscribe":true}})";
    const auto entry = x.new_entry();
    for (const std::string method : {"tasks/get", "tasks/update", "tasks/cancel"}) {
        const auto asked = x.shared->modern(entry, client_text{message("1", method, R"({"taskId":"t"})")});
        REQUIRE(asked.has_value());
        CHECK(next(*asked).find("-32601") != std::string::npos);
    }
    const auto offered = x.shared->modern(entry, client_text{message("1", "server/discover")});
    REQUIRE(offered.has_value());
    const auto text = next(*offered);
    CHECK(text.find(R"("tools":{},"extensions":{"x":{"n":1.0}},"resources":{"subscribe":true})") != std::string::npos);
    CHECK(text.find(R"("supportedVersions":["2026-07-28"])") != std::string::npos);
    CHECK(text.find(R"("resultType":"complete")") != std::string::npos);
    CHECK(x.programs.messages.empty());
}

TEST_CASE("Lists that change without end are told of at once, and then with each sweep at most")
{
    shared_rig x;
    const auto heard = x.listen(x.begin());
    for (int i = 0; i < 100; ++i) {
        x.say(tools_changed);
        x.say(resources_changed);
    }
    CHECK(next(heard) == tools_changed);
    CHECK(next(heard).empty());
    x.after(shared_calls::least_pause - 1ms);
    CHECK(next(heard).empty());
    x.after(1ms);
    CHECK(next(heard) == tools_changed);
    CHECK(next(heard) == resources_changed);
    x.after(1s);
    CHECK(next(heard).empty());
}

TEST_CASE("A subscription that the server does not answer in time fails, and so does one behind a full queue")
{
    shared_rig x;
    x.server.call_timeout = 10s;
    const auto session = x.begin();
    const auto late = x.subscribe(session, "u", R"("late")");
    x.after(10s);
    CHECK(next(late) == "upstream_timeout");
    x.programs.refuses = core::upstream_error(errc::overloaded, "it does not read");
    CHECK(next(x.subscribe(session, "v")) == "overloaded");
    x.request(session, message("1", "tools/call"));
    CHECK(x.refused == "overloaded");
    x.programs.refuses.reset();
    CHECK(x.subscribe(session, "") == nullptr);
    CHECK(x.refused == "invalid_params");
    const auto cancelled = x.subscribe(session, "w", "5");
    const auto told =
        x.shared->tell(x.key(session), client_text{message("", "notifications/cancelled", R"({"requestId":5})")});
    CHECK(told.has_value());
    CHECK(next(cancelled) == "over");
    x.answer();
    const auto heard = x.listen(session);
    x.say(updated("w"));
    CHECK(next(heard) == updated("w"));
}

TEST_CASE("Sessions end with the record that they were made of, and when it shares no session any more")
{
    shared_rig x;
    const auto session = x.begin();
    const auto call = x.request(session, message("1", "tools/call"));
    x.server.max_sessions = 7;
    x.shared->set_agent("a", x.new_entry());
    CHECK(x.listen(session) != nullptr);
    x.server.command = "another";
    x.shared->set_agent("a", x.new_entry());
    CHECK(next(call) == "upstream_reset");
    CHECK(x.listen(session) == nullptr);
    const auto second = x.begin();
    x.server.sessions = core::mcp_sessions::own;
    x.shared->set_agent("a", x.new_entry());
    CHECK(x.listen(second) == nullptr);
    x.begin();
    x.shared->set_agent("a", nullptr);
    CHECK(x.shared->size() == 0);
    CHECK(x.ended(session_end::withdrawn) == 3);
    x.begin();
    x.shared->stop();
    CHECK(x.ended(session_end::draining) == 1);
    CHECK(x.begin() == "draining");
    x.poll();
    CHECK_FALSE(x.sessions->busy());
}

TEST_SUITE_END();
