#include "mcp/pins/pin_ledger.hpp"

#include "mcp/pins/definition.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("mcp/pins/pin_ledger");

namespace {

using core::pin_mode;
using mcp::held_for;
using mcp::pin_kind;
using namespace std::chrono_literals;

std::string tool(std::string_view name, std::string_view words = "w", std::string_view type = "string")
{
    return R"({"name":")" + std::string{name} + R"(","description":")" + std::string{words} +
           R"(","inputSchema":{"type":")" + std::string{type} + "\"}}";
}

mcp::listed_item item(std::string_view name, std::string_view words = "w", std::string_view type = "string")
{
    return {std::string{name}, tool(name, words, type)};
}

mcp::server_lists lists(std::vector<mcp::listed_item> tools, std::string instructions = "i")
{
    mcp::server_lists out;
    out.server.instructions = std::move(instructions);
    out.lists[mcp::index_of(mcp::list_kind::tools)] = std::move(tools);
    return out;
}

mcp::pin_terms terms(pin_mode mode = pin_mode::enforce)
{
    mcp::pin_terms out;
    out.mode = mode;
    out.now = core::wall_time{1'000'000s};
    return out;
}

mcp::pin_key key(std::string_view name, std::string_view words = "w", std::string_view type = "string")
{
    return {pin_kind::tool, std::string{name}, mcp::print_of_tool(tool(name, words, type))->whole};
}

std::vector<std::string> shown(const mcp::pin_ledger& ledger, const mcp::server_lists& seen)
{
    const mcp::pinned_server pins{ledger.approved(), {}};
    std::vector<std::string> all;
    const auto approved = mcp::approved_lists(pins, seen);
    for (const auto& each : approved[mcp::list_kind::tools]) {
        all.push_back(each.raw);
    }
    return all;
}

bool admits(const mcp::pin_ledger& ledger, std::string_view name)
{
    return mcp::pinned_server{ledger.approved(), {}}.admits(name);
}

}  // namespace

TEST_CASE("First sight approves, but not of an agent that registered itself")
{
    mcp::pin_ledger ledger;
    CHECK(ledger.take_lists(lists({item("a")}), terms()).empty());
    CHECK(ledger.held_count() == 0);
    CHECK(admits(ledger, "a"));

    mcp::pin_ledger other;
    CHECK(other.waits());
    auto registered = terms();
    registered.registered = true;
    CHECK(other.take_lists(lists({item("a")}), registered).size() == 2);
    CHECK(other.waits());
    CHECK(other.held_count() == 2);
    CHECK_FALSE(admits(other, "a"));
    REQUIRE(other.approve({key("a")}).has_value());
    CHECK_FALSE(other.waits());
    CHECK(admits(other, "a"));
}

TEST_CASE("Words keep a tool callable as it was approved, a shape or a name hides it")
{
    mcp::pin_ledger ledger;
    ledger.take_lists(lists({item("a"), item("b")}), terms());
    const auto next = lists({item("a", "other"), item("b", "w", "number"), item("c")});
    const auto changes = ledger.take_lists(next, terms());
    REQUIRE(changes.size() == 3);
    CHECK(changes[0].members == std::vector<std::string>{"/tools/a/description"});
    CHECK(changes[1].members == std::vector<std::string>{"/tools/b/inputSchema/type"});
    CHECK(changes[2].before.empty());
    CHECK(shown(ledger, next) == std::vector<std::string>{tool("a")});
    CHECK(admits(ledger, "a"));
    CHECK_FALSE(admits(ledger, "b"));
    CHECK_FALSE(admits(ledger, "c"));
    CHECK(ledger.take_lists(next, terms()).empty());  // it is known to wait

    ledger.take_lists(lists({item("a"), item("b")}), terms());
    CHECK(ledger.held_count() == 0);
    CHECK(admits(ledger, "b"));
}

TEST_CASE("A missing tool is no change, and stays callable")
{
    mcp::pin_ledger ledger;
    ledger.take_lists(lists({item("a"), item("b")}), terms());
    CHECK(ledger.take_lists(lists({item("a")}), terms()).empty());
    CHECK(admits(ledger, "b"));
}

TEST_CASE("With warn each change is the new baseline, and is reported once")
{
    mcp::pin_ledger ledger;
    const auto warn = terms(pin_mode::warn);
    CHECK(ledger.take_lists(lists({item("a")}), warn).empty());
    const auto next = lists({item("a", "w", "number"), item("b")}, "other");
    CHECK(ledger.take_lists(next, warn).size() == 3);
    CHECK(ledger.take_lists(next, warn).empty());
    CHECK(ledger.held_count() == 0);
}

TEST_CASE("Approval is of one form: another one by now is a conflict, and nothing changes")
{
    mcp::pin_ledger ledger;
    ledger.take_lists(lists({item("a")}), terms());
    ledger.take_lists(lists({item("a", "w", "number"), item("b")}), terms());
    const auto conflict = ledger.approve({key("b"), key("a", "w", "integer")});
    REQUIRE_FALSE(conflict.has_value());
    CHECK(conflict.error().code == core::errc::version_conflict);
    CHECK(ledger.held_count() == 2);
    CHECK(ledger.approve({key("b"), key("a", "w", "number")}).has_value());
    CHECK(ledger.held_count() == 0);
    CHECK(admits(ledger, "a"));
}

TEST_CASE("A tool has up to eight approved variants, and the oldest goes for the ninth")
{
    mcp::pin_ledger ledger;
    ledger.take_lists(lists({item("a", "w", "t0")}), terms());
    for (std::size_t i = 1; i <= 8; ++i) {
        const auto type = "t" + std::to_string(i);
        CHECK(ledger.take_tool(item("a", "w", type), terms()).size() == 1);
        REQUIRE(ledger.approve({key("a", "w", type)}).has_value());
        CHECK(ledger.approved().tools.at("a").variants.size() == std::min<std::size_t>(i + 1, mcp::most_variants));
    }
    CHECK(shown(ledger, lists({item("a", "w", "t8")})).size() == 1);
    CHECK(shown(ledger, lists({item("a", "w", "t0")})).empty());
}

TEST_CASE("A tool that only a caller sees waits, and does not keep others from calling what is approved")
{
    mcp::pin_ledger ledger;
    ledger.take_lists(lists({item("a")}), terms());
    CHECK(ledger.take_tool(item("a", "w", "number"), terms()).size() == 1);
    CHECK(ledger.take_tool(item("a", "other"), terms()).empty());  // words alone
    CHECK(ledger.take_tool(item("b"), terms()).size() == 1);
    CHECK(admits(ledger, "a"));
    CHECK_FALSE(admits(ledger, "b"));
    ledger.take_lists(lists({item("a")}), terms());
    CHECK(ledger.held_count() == 2);  // the gateway's own list says nothing of these
}

TEST_CASE(
    "Words with three texts within a day are volatile, and no longer reported; with three in two days they are not"
)
{
    mcp::pin_ledger ledger;
    auto now = terms();
    ledger.take_lists(lists({item("a", "one")}), now);
    now.now += 23h;
    CHECK(ledger.take_lists(lists({item("a", "two")}), now).size() == 1);
    now.now += 1h;
    CHECK(ledger.take_lists(lists({item("a", "three")}), now).empty());
    CHECK(ledger.held_count() == 0);
    CHECK(ledger.shown(false)["volatile"] == core::json::array({"/tools/a"}));
    CHECK(ledger.take_lists(lists({item("a", "four")}), now).empty());
    CHECK(shown(ledger, lists({item("a", "four")})) == std::vector<std::string>{tool("a", "one")});
    CHECK(ledger.take_lists(lists({item("a", "four", "number")}), now).size() == 1);

    mcp::pin_ledger slow;
    now = terms(pin_mode::warn);
    slow.take_lists(lists({item("a", "one")}), now);
    CHECK(slow.take_lists(lists({item("a", "two")}), now).size() == 1);
    now.now += 25h;
    CHECK(slow.take_lists(lists({item("a", "three")}), now).size() == 1);
    now.now += 25h;
    CHECK(slow.take_lists(lists({item("a", "four")}), now).size() == 1);
}

TEST_CASE("Instructions are words: other ones wait, and the approved ones stay")
{
    mcp::pin_ledger ledger;
    ledger.take_lists(lists({}, "Be kind."), terms());
    CHECK(ledger.take_lists(lists({}, "Be  kind."), terms()).empty());
    CHECK(ledger.take_lists(lists({}, "Be mean."), terms()).size() == 1);
    CHECK(ledger.held_count(pin_kind::instructions) == 1);
    CHECK(ledger.approved().instructions == "Be kind.");
    REQUIRE(ledger.approve({{pin_kind::instructions, "", mcp::print_of_words("Be mean.")}}).has_value());
    CHECK(ledger.approved().instructions == "Be mean.");
}

TEST_CASE("A card waits, the approved one stays, and one that is back waits no longer")
{
    mcp::pin_ledger ledger;
    const auto take = [&](std::string_view text) {
        auto at = terms();
        at.place = "http://x" + std::string{text.substr(1, 1)};
        return ledger.take_card(text, *mcp::print_of_card(text, 1024), at).size();
    };
    CHECK(take(R"({"a":1,"version":"1"})") == 0);
    CHECK(take(R"({"b":1})") == 1);
    CHECK(ledger.card()->text == R"({"a":1,"version":"1"})");
    CHECK(ledger.held_count(pin_kind::card) == 1);
    CHECK(take(R"({"c":1})") == 1);
    CHECK(ledger.held_count(pin_kind::card) == 1);
    CHECK(take(R"({"a":1,"version":"2"})") == 0);
    CHECK(ledger.held_count() == 0);
    CHECK(ledger.card()->text == R"({"a":1,"version":"2"})");
}

TEST_CASE("Names of except are left out")
{
    mcp::pin_ledger ledger;
    auto with = terms();
    with.except = {"table_*"};
    ledger.take_lists(lists({item("a")}), with);
    CHECK(ledger.take_lists(lists({item("a"), item("table_1"), item("table")}), with).size() == 1);
}

TEST_CASE("A thousand tools and four mebibytes find room, and what is beyond stays held as pins_full")
{
    mcp::pin_ledger ledger;
    std::vector<mcp::listed_item> many;
    for (std::size_t i = 0; i <= mcp::most_pinned_tools; ++i) {
        many.push_back(item("t" + std::to_string(i)));
    }
    auto all = lists(many);
    ledger.take_lists(all, terms());
    CHECK(ledger.approved().tools.size() == mcp::most_pinned_tools);
    CHECK(ledger.held_count() == 1);
    CHECK(ledger.shown(true)["held"][0]["why"] == "pins_full");
    CHECK_FALSE(ledger.approve({key("t1000")}).has_value());

    mcp::pin_ledger large;
    auto room = terms();
    room.room = 3 * tool("a").size() + 1;  // with the instructions
    large.take_lists(lists({item("a"), item("b"), item("c")}), room);
    CHECK(large.held_count() == 0);
    mcp::pin_ledger small;
    --room.room;
    small.take_lists(lists({item("a"), item("b"), item("c")}), room);
    CHECK(small.held_count() == 1);
    CHECK_FALSE(admits(small, "c"));
}

TEST_CASE("With a lock file its fingerprints alone approve, as soon as their texts are seen")
{
    mcp::pin_ledger ledger;
    auto locked = terms();
    locked.lock = mcp::locked_agent{{}, mcp::print_of_words("i"), {{"a", key("a").sha256}, {"b", key("b").sha256}}};
    const auto first = ledger.take_lists(lists({item("a", "other"), item("b"), item("c")}), locked);
    CHECK(first.size() == 2);
    CHECK_FALSE(admits(ledger, "a"));  // the approved text was never seen
    CHECK(admits(ledger, "b"));
    CHECK_FALSE(admits(ledger, "c"));
    ledger.take_lists(lists({item("a"), item("b")}), locked);
    CHECK(admits(ledger, "a"));
    CHECK(ledger.take_lists(lists({item("a", "other"), item("b")}), locked).size() == 1);
    CHECK(shown(ledger, lists({item("a", "other")})) == std::vector<std::string>{tool("a")});

    // Another file: what it does not have is approved no longer, and what waits may be.
    mcp::locked_agent next{{}, {}, {{"a", key("a", "other").sha256}}};
    ledger.set_lock(next);
    CHECK_FALSE(admits(ledger, "b"));
    CHECK(shown(ledger, lists({item("a")})) == std::vector<std::string>{tool("a", "other")});
    CHECK_FALSE(ledger.approved().instructions);

    // One that approves what is approved is nothing for the store.
    const auto revision = ledger.revision();
    ledger.set_lock(next);
    CHECK(ledger.revision() == revision);
}

TEST_CASE("With warn a lock file stays the baseline")
{
    mcp::pin_ledger ledger;
    auto locked = terms(pin_mode::warn);
    locked.lock = mcp::locked_agent{{}, mcp::print_of_words("i"), {{"a", key("a").sha256}}};
    CHECK(ledger.take_lists(lists({item("a")}), locked).empty());
    CHECK(ledger.take_lists(lists({item("a", "w", "number")}), locked).size() == 1);
    CHECK(ledger.take_lists(lists({item("a", "w", "number")}), locked).empty());
    CHECK(ledger.take_lists(lists({item("a")}), locked).empty());
    CHECK(ledger.held_count() == 0);
}

TEST_CASE("What the store gets is read as it was written")
{
    mcp::pin_ledger ledger;
    ledger.take_lists(lists({item("a"), item("b")}), terms());
    ledger.take_lists(lists({item("a", "x"), item("b", "w", "number"), item("c")}, "other"), terms());
    ledger.take_tool(item("d"), terms());
    const auto read = mcp::pin_ledger::read(ledger.text());
    REQUIRE(read.has_value());
    CHECK(read->text() == ledger.text());
    CHECK(read->shown(true) == ledger.shown(true));
    CHECK_FALSE(admits(*read, "b"));
    CHECK_FALSE(mcp::pin_ledger::read("{").has_value());
}

TEST_CASE("A tool that cannot be read is hidden, and cannot be approved")
{
    mcp::pin_ledger ledger;
    ledger.take_lists(lists({{"a", "{"}}), terms());
    CHECK_FALSE(admits(ledger, "a"));
    CHECK(ledger.shown(true)["held"][0]["why"] == "pins_full");
}

TEST_CASE("A tool of another shape is not callable, whether or not there is room for it among what waits")
{
    mcp::pin_ledger ledger;
    ledger.take_lists(lists({item("a"), item("b")}), terms());
    std::vector<mcp::listed_item> many;
    for (std::size_t i = 0; i <= mcp::most_held; ++i) {
        many.push_back(item("t" + std::to_string(i)));
    }
    many.push_back(item("a", "w", "number"));
    ledger.take_lists(lists(many), terms());
    CHECK(ledger.held_count() == mcp::most_held);
    CHECK_FALSE(admits(ledger, "a"));
    CHECK(admits(ledger, "b"));
    CHECK_FALSE(admits(*mcp::pin_ledger::read(ledger.text()), "a"));
    ledger.take_lists(lists({item("a")}), terms());
    CHECK(admits(ledger, "a"));

    // A form that only a caller saw is approved: the gateway's own list has another one.
    ledger.take_lists(lists({item("c", "w", "number")}), terms());
    ledger.take_tool(item("c"), terms());
    REQUIRE(ledger.approve({key("c")}).has_value());
    CHECK_FALSE(admits(ledger, "c"));
    REQUIRE(ledger.approve({key("c", "w", "number")}).has_value());
    CHECK(admits(ledger, "c"));
    ledger.set_lock(mcp::locked_agent{{}, {}, {{"c", key("c").sha256}}});
    CHECK_FALSE(admits(ledger, "c"));

    // Of two of one name the one that is not approved counts.
    ledger.take_lists(lists({item("c"), item("c", "w", "number")}), terms());
    CHECK_FALSE(admits(ledger, "c"));
    ledger.take_lists(lists({item("c", "w", "number"), item("c")}), terms());
    CHECK_FALSE(admits(ledger, "c"));
    ledger.take_lists(lists({item("c"), item("c")}), terms());
    CHECK(admits(ledger, "c"));
}

TEST_CASE("What only callers see has a quarter of the room, the oldest gives way after a while, and none stays for ever"
)
{
    mcp::pin_ledger ledger;
    auto now = terms();
    ledger.take_lists(lists({item("a")}), now);
    const auto see = [&](std::size_t i) { return ledger.take_tool(item("t" + std::to_string(i)), now).size(); };
    CHECK(see(0) == 1);
    now.now += 1s;
    for (std::size_t i = 1; i < mcp::most_of_callers; ++i) {
        CHECK(see(i) == 1);
    }
    CHECK(see(mcp::most_of_callers) == 0);
    now.now += mcp::callers_turn - 1s;
    CHECK(see(mcp::most_of_callers) == 1);
    CHECK(see(mcp::most_of_callers + 1) == 0);  // the others are younger
    CHECK(ledger.held_count() == mcp::most_of_callers);
    CHECK_FALSE(ledger.approve({key("t0")}).has_value());

    std::vector<mcp::listed_item> own{item("a", "w", "number")};
    for (std::size_t i = 0; i + 2 < mcp::most_held; ++i) {
        own.push_back(item("o" + std::to_string(i)));
    }
    ledger.take_lists(lists(own, "other"), now);
    CHECK(ledger.held_count() == mcp::most_held);  // those of callers gave way
    CHECK(ledger.approve({key("o0"), key("o997"), key("a", "w", "number")}).has_value());

    mcp::pin_ledger quiet;
    quiet.take_lists(lists({item("a")}), now);
    quiet.take_tool(item("b"), now);
    now.now += mcp::callers_within;
    quiet.take_lists(lists({item("a")}), now);
    CHECK(quiet.held_count() == 1);
    now.now += 1s;
    quiet.take_lists(lists({item("a")}), now);
    CHECK(quiet.held_count() == 0);
}

TEST_CASE("Long tools of callers' lists leave the bytes to the gateway's own")
{
    mcp::pin_ledger ledger;
    ledger.take_lists(lists({item("a")}), terms());
    const std::string words(mcp::most_pinned_bytes / 10, 'w');
    for (std::size_t i = 0; i < 20; ++i) {
        ledger.take_tool(item("t" + std::to_string(i), words), terms());
    }
    CHECK(ledger.bytes() < mcp::most_pinned_bytes / 3);
    ledger.take_lists(lists({item("a"), item("b", std::string(mcp::most_pinned_bytes / 2, 'w'))}), terms());
    CHECK(ledger.shown(false)["held"][0]["why"] == "new");
}

TEST_CASE("With enforce the text of an approved card gives way to another version alone, and to what looks like one")
{
    const auto shown = [](std::string_view next, pin_mode mode = pin_mode::enforce) {
        mcp::pin_ledger ledger;
        const std::string first = R"({"name":"n","list":[1,2],"version":"1","signatures":[]})";
        for (const auto text : {std::string_view{first}, next}) {
            ledger.take_card(text, *mcp::print_of_card(text, 4096), terms(mode));
        }
        CHECK(ledger.held_count() == 0);
        return ledger.card()->text == next;
    };
    const auto version = [&](std::string_view text) {
        return shown(R"({"name":"n","list":[1,2],"version":)" + std::string{text} + "}");
    };
    CHECK_FALSE(shown(R"({"name":"n","list":[1,2],"version":2})"));
    CHECK(version(R"("2.0.1-rc.1+b_7")"));
    CHECK(version('"' + std::string(64, '9') + '"'));
    CHECK_FALSE(version('"' + std::string(65, '9') + '"'));
    CHECK_FALSE(version(R"("9 IGNORE")"));
    CHECK_FALSE(version(R"(["9"])"));
    CHECK_FALSE(shown(R"({"name":"n","list":[2,1],"version":"1","signatures":[]})"));
    CHECK(shown(R"({"version":"1","name":"n","list":[1,2]})"));
    CHECK(shown(R"({"name":"n","list":[1,2],"version":"1","signatures":[{"protected":"e30","signature":"A-_A"}]})"));
    CHECK_FALSE(shown(R"({"name":"n","list":[1,2],"version":"1","signatures":[{"signature":"IGNORE ALL"}]})"));
    CHECK_FALSE(shown(R"({"name":"n","list":[1,2],"version":"1","signatures":[{"header":{"a":"IGNORE ALL"}}]})"));
    CHECK(shown(R"({"name":"n","list":[2,1],"version":"9 IGNORE"})", pin_mode::warn));
}

TEST_SUITE_END();
