#include "gateway/upgrade/upgrade_messages.hpp"

#include "gateway/upgrade/upgrade_state.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/upgrade/upgrade_messages");

namespace {

using namespace std::chrono_literals;
using gateway::upgrade::framed;
using gateway::upgrade::handover_content;
using gateway::upgrade::handover_message;
using gateway::upgrade::handover_reader;
using gateway::upgrade::handover_word;
using gateway::upgrade::handover_writer;
using gateway::upgrade::upgrade_state;

std::string frame_of(handover_word word, std::string content = {})
{
    auto frame = framed({word, std::move(content)});
    REQUIRE(frame.has_value());
    return *frame;
}

// What is read from bytes that come in pieces of this size.
std::vector<handover_message> read_in_pieces(std::string_view bytes, std::size_t size)
{
    handover_reader reader;
    std::vector<handover_message> all;
    while (!bytes.empty()) {
        reader.add(bytes.substr(0, size));
        bytes.remove_prefix(std::min(size, bytes.size()));
        for (auto read = reader.next(); read && *read; read = reader.next()) {
            all.push_back(**read);
        }
    }
    return all;
}

// What the new process has of what the old one passes.
upgrade_state passed(const upgrade_state& state)
{
    const auto frames = gateway::upgrade::frames_of(state);
    REQUIRE(frames.has_value());
    std::string bytes;
    for (const auto& each : *frames) {
        bytes += each;
    }
    upgrade_state out;
    for (const auto& each : read_in_pieces(bytes, 1000)) {
        gateway::upgrade::add_to(out, each);
    }
    return out;
}

upgrade_state some_state()
{
    const core::wall_time noon{12h};
    upgrade_state state;
    state.tickets = std::string{"\0keys\xff", 6};
    state.counts = {3, 2, 1};
    mcp::server_lists lists;
    lists.server.speaks = mcp::era::modern;
    lists.server.name = "server";
    lists.server.icons = {"http://a/i"};
    lists.server.offers = mcp::list_set{5};
    lists.lists[0] = {{"one", R"({"name":"one"})"}, {"two", "{}"}};
    lists.lists[2] = {{"t", "{}"}};
    lists.left_out[1] = {2, {"why", ""}};
    lists.time_to_live = 5s;
    lists.shareable = false;
    state.lists.push_back({"m", std::string{"\0made", 5}, std::make_shared<const mcp::server_lists>(lists)});
    state.memory = store::memory_contents{
        {{"a", R"({"url":"http://a"})", 3, noon}, {"b", "{}", 5, noon + 1ms}},
        {{3, noon, "somebody", store::action::created, "a"}, {4, noon, "", store::action::deleted, "gone"}},
        {{7, "id", "a", "lane", "sealed", "body", noon}},
        {{"containment", "agent a", "", "{}"}, {"pins", "a", "a", "\xc3\xa4"}},
        core::secret{"key"}
    };
    state.unwritten = {{"containment", "principal keys ann", "", "{}"}};
    return state;
}

}  // namespace

TEST_CASE("Messages are the same in whatever pieces their bytes come")
{
    const std::vector<handover_message> all{
        {handover_word::hello, ""},
        {handover_word::record, std::string(300, 'x')},
        {handover_word::ticket_keys, std::string{"\0\1\2", 3}},
        {static_cast<handover_word>(200), "of a newer version"},
        {handover_word::ready, "r"}
    };
    std::string bytes;
    for (const auto& each : all) {
        bytes += frame_of(each.word, each.content);
    }
    for (std::size_t size = 1; size <= bytes.size(); ++size) {
        CAPTURE(size);
        CHECK(read_in_pieces(bytes, size) == all);
    }
}

TEST_CASE("A message that has not come whole is none yet")
{
    const auto frame = frame_of(handover_word::failed, "why");
    for (std::size_t size = 0; size < frame.size(); ++size) {
        handover_reader reader;
        reader.add(std::string_view{frame}.substr(0, size));
        const auto read = reader.next();
        REQUIRE(read.has_value());
        CHECK_FALSE(read->has_value());
    }
}

TEST_CASE("A content has at most the largest size, in both directions, and a length is enough to refuse it")
{
    constexpr std::size_t largest = 1000;
    for (const std::size_t size : {largest - 1, largest, largest + 1}) {
        CAPTURE(size);
        const bool fits = size <= largest;
        const handover_message message{handover_word::record, std::string(size, 'x')};
        CHECK(framed(message, largest).has_value() == fits);
        handover_reader reader{largest};
        reader.add(frame_of(message.word, message.content).substr(0, 5));
        for (int again = 0; again < 2; ++again) {
            const auto read = reader.next();
            CHECK(read.has_value() == fits);
            CHECK((fits || read.error().code == core::errc::too_large));
        }
    }
}

TEST_CASE("A content gives back its numbers and texts, and what it does not have is 0 and empty")
{
    handover_writer writer;
    const auto content = writer.number(0).text("a").number(~0ULL).text("").take();
    for (std::size_t size = 0; size < content.size(); ++size) {
        handover_content cut{std::string_view{content}.substr(0, size)};
        cut.number();
        cut.text();
        cut.number();
        cut.text();
        CHECK_FALSE(cut.good());
        CHECK(cut.number() == 0);
        CHECK(cut.text().empty());
    }
    handover_content whole{content};
    CHECK(whole.number() == 0);
    CHECK(whole.text() == "a");
    CHECK(whole.number() == ~0ULL);
    CHECK(whole.text().empty());
    CHECK(whole.good());
    CHECK(whole.empty());
}

TEST_CASE("A text whose length is beyond its content is no text, however large the length is")
{
    for (const std::uint64_t length : {1ULL, 1ULL << 32, ~0ULL}) {
        handover_writer writer;
        const auto bytes = writer.number(length).take();
        handover_content content{bytes};
        CHECK(content.text().empty());
        CHECK_FALSE(content.good());
    }
}

TEST_CASE("What a gateway passes is what the next one has")
{
    const auto before = some_state();
    const auto after = passed(before);
    CHECK(after.tickets == before.tickets);
    CHECK(after.counts == before.counts);
    REQUIRE(after.memory.has_value());
    CHECK(after.memory->records == before.memory->records);
    CHECK(after.memory->trail == before.memory->trail);
    CHECK(after.memory->deliveries == before.memory->deliveries);
    CHECK(after.memory->documents == before.memory->documents);
    CHECK(after.unwritten == before.unwritten);
    CHECK(after.memory->key == before.memory->key);
    CHECK_FALSE(passed({}).memory.has_value());
    REQUIRE(after.lists.size() == 1);
    const auto& lists = after.lists.front();
    CHECK(lists.agent == "m");
    CHECK(lists.made_of == before.lists.front().made_of);
    CHECK(mcp::same_content(*lists.lists, *before.lists.front().lists));
    CHECK(lists.lists->time_to_live == 5s);
    CHECK(lists.lists->left_out[1].count == 2);
    CHECK(lists.lists->left_out[1].first == before.lists.front().lists->left_out[1].first);
}

TEST_CASE("Tasks are passed in messages of bounded size, each of which is read alone")
{
    gateway::model::known_tasks all{3, {}};
    for (std::uint64_t i = 0; i < 200'000; ++i) {
        all.tasks.push_back({i, ~i, core::wall_time{1h} + std::chrono::milliseconds{i}});
    }
    const auto frames = gateway::upgrade::frames_of(all);
    CHECK(frames.size() == 4);
    std::vector<store::kept_task> read;
    for (const auto& each : frames) {
        CHECK(each.size() <= 2 * 1024 * 1024);
        const auto some = gateway::upgrade::tasks_in(std::string_view{each}.substr(5));
        REQUIRE(some.has_value());
        CHECK(some->key == 3);
        read.insert(read.end(), some->tasks.begin(), some->tasks.end());
    }
    CHECK(read == all.tasks);
    const auto late = gateway::upgrade::tasks_in(std::string(32, '\xff'));
    REQUIRE(late.has_value());
    CHECK(late->tasks.front().seen == core::wall_time{std::chrono::years{200}});
    CHECK_FALSE(gateway::upgrade::tasks_in("1234567").has_value());
    CHECK_FALSE(gateway::upgrade::tasks_in(std::string(16, '1')).has_value());
    CHECK(gateway::upgrade::frames_of(gateway::model::known_tasks{3, {}}).empty());
}

TEST_CASE("Lists without room are left out, and everything else is passed")
{
    auto state = some_state();
    const auto lists = std::exchange(state.lists, {});
    std::size_t without = 0;
    const auto needed = gateway::upgrade::frames_of(state);
    REQUIRE(needed.has_value());
    for (const auto& each : *needed) {
        without += each.size();
    }
    state.lists = lists;
    const auto count = [&](std::size_t most) {
        const auto frames = gateway::upgrade::frames_of(state, most);
        REQUIRE(frames.has_value());
        return frames->size();
    };
    CHECK(count(without) == needed->size());
    CHECK(count(without + 100'000) == needed->size() + 1);
    CHECK(gateway::upgrade::frames_of(state, without - 1).has_error());
}

TEST_CASE("Lists that are cut anywhere are none")
{
    const auto content = gateway::upgrade::content_of(some_state().lists.front());
    CHECK(gateway::upgrade::lists_in(content).has_value());
    for (std::size_t size = 0; size < content.size(); ++size) {
        CHECK_FALSE(gateway::upgrade::lists_in(std::string_view{content}.substr(0, size)).has_value());
    }
}

TEST_CASE("All that is passed has at most the size that it may have")
{
    auto state = some_state();
    state.lists.clear();
    const auto frames = gateway::upgrade::frames_of(state);
    REQUIRE(frames.has_value());
    std::size_t size = 0;
    for (const auto& each : *frames) {
        size += each.size();
    }
    CHECK(gateway::upgrade::frames_of(state, size).has_value());
    const auto refused = gateway::upgrade::frames_of(state, size - 1);
    REQUIRE(refused.has_error());
    CHECK(refused.error().code == core::errc::too_large);
}

TEST_CASE("A message that is cut or unknown changes nothing of what was passed")
{
    upgrade_state state;
    for (int word = 0; word < 256; ++word) {
        gateway::upgrade::add_to(state, {static_cast<handover_word>(word), "x"});
    }
    REQUIRE(state.memory.has_value());
    CHECK(state.memory->records.empty());
    CHECK(state.memory->trail.empty());
    CHECK(state.memory->deliveries.empty());
    CHECK(state.memory->documents.empty());
    CHECK(state.lists.empty());
    CHECK(state.counts == gateway::upgrade::handover_counts{});
}

TEST_CASE("The greeting says which addresses are of the configuration, and which of the service manager")
{
    gateway::upgrade::handover_hello hello;
    hello.configured.listen = config::endpoint{"localhost", 0};
    hello.configured.metrics = config::endpoint{"::1", 65535};
    const auto heard = gateway::upgrade::hello_in(content_of(hello));
    REQUIRE(heard.has_value());
    CHECK(heard->speaks == gateway::upgrade::handover_hello::protocol);
    CHECK(heard->configured.listen == hello.configured.listen);
    CHECK_FALSE(heard->configured.admin.has_value());
    CHECK(heard->configured.metrics == hello.configured.metrics);
    CHECK_FALSE(gateway::upgrade::hello_in("").has_value());
    const auto prepared = gateway::upgrade::prepared_in(content_of(gateway::upgrade::handover_prepared{4, "1.2.3"}));
    REQUIRE(prepared.has_value());
    CHECK(prepared->schema == 4);
    CHECK(prepared->version == "1.2.3");
    CHECK_FALSE(gateway::upgrade::prepared_in("").has_value());
}

TEST_CASE("A store in memory goes on as the one that it is made of")
{
    auto old = store::make_memory(*some_state().memory);
    auto contents = store::contents_of(*old);
    REQUIRE(contents.has_value());
    CHECK(contents->records == some_state().memory->records);
    auto next = store::make_memory(std::move(*contents));
    const store::author by{"test", core::wall_time{}, 3};
    const auto written = next->put("a", "{}", by);
    REQUIRE(written.has_value());
    CHECK(written->version == 6);
    CHECK(next->session_key(core::secret{"other"})->reveal() == "key");
    CHECK(next->keep_delivery({}).value() == 8);
    CHECK(next->changes(0, 100)->size() == 3);
}

TEST_SUITE_END();
