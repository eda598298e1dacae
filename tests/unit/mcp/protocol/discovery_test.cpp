#include "mcp/protocol/discovery.hpp"

#include "tests/unit/mcp/captures.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using mcp::index_of;
using mcp::list_kind;
using mcp::list_reader;
using mcp::list_set;

TEST_SUITE_BEGIN("mcp/protocol/discovery");

namespace {

list_set set_of(std::initializer_list<list_kind> lists)
{
    list_set made;
    for (const auto each : lists) {
        made.set(index_of(each));
    }
    return made;
}

const auto tools_only = set_of({list_kind::tools});

using accept_function = core::result<> (*)(list_reader& walk, const std::string& result);

core::result<> accept_text(list_reader& walk, const std::string& result)
{
    return walk.accept(result);
}

// What was read away from the walk.
core::result<> accept_page(list_reader& walk, const std::string& result)
{
    auto read = mcp::read_list_page(result, mcp::discovery_limits{}.items);
    auto opened = walk.open(read);
    return opened ? walk.take_some(std::string::npos) : opened;
}

std::string
outcome_of(const std::vector<std::string>& results, const mcp::discovery_limits& limits, accept_function accept)
{
    list_reader walk{tools_only, mcp::era::legacy, limits};
    for (const auto& result : results) {
        if (!walk.next()) {
            return "over too early";
        }
        if (const auto taken = accept(walk, result); !taken) {
            CHECK(taken.error().code == core::errc::upstream_protocol);
            CHECK_FALSE(walk.next().has_value());
            CHECK(walk.left_all());
            CHECK(walk.first_left() == taken.error().detail);
            return taken.error().detail;
        }
    }
    if (walk.next()) {
        return "asks for " + walk.next()->cursor;
    }
    std::string names;
    const auto found = std::move(walk).onto({});
    for (const auto& each : found[list_kind::tools]) {
        names += each.key + ' ';
    }
    for (const auto& each : found.left_out[index_of(list_kind::tools)].first) {
        names += "without " + each + ' ';
    }
    return names;
}

// How a walk over tools ends with these results: its detail, or what it found and left out. The same if they are read before.
std::string outcome(const std::vector<std::string>& results, const mcp::discovery_limits& limits = {})
{
    auto here = outcome_of(results, limits, accept_text);
    CHECK(outcome_of(results, limits, accept_page) == here);
    return here;
}

std::string page(const std::string& items, const std::string& cursor = {})
{
    return R"({"tools":[)" + items + "]" + (cursor.empty() ? "" : R"(,"nextCursor":)" + cursor) + "}";
}

std::string tool(const std::string& name)
{
    return R"({"name":")" + name + R"("})";
}

}  // namespace

TEST_CASE("every page is asked for, also behind a cursor that is empty, and the items keep their order")
{
    list_reader walk{tools_only, mcp::era::legacy};
    std::vector<std::string> asked;
    const std::vector<std::string> pages{
        page(tool("a"), R"("")"),
        page("", R"("\u0031")"),
        page(tool("b") + "," + tool("c"), R"("0")"),
        page(tool("d"), R"(" ")"),
        page("", "null"),
    };
    for (const auto& each : pages) {
        const auto question = walk.next();
        REQUIRE(question.has_value());
        CHECK(question->list == list_kind::tools);
        asked.push_back(question->cursor);
        REQUIRE(walk.accept(each).has_value());
    }
    CHECK_FALSE(walk.next().has_value());
    CHECK(asked == std::vector<std::string>{"", R"("")", R"("\u0031")", R"("0")", R"(" ")"});
    const auto found = std::move(walk).onto({});
    REQUIRE(found[list_kind::tools].size() == 4);
    CHECK(found[list_kind::tools][3].key == "d");
}

TEST_CASE("A cursor that comes again ends its list with what was read, once, however it is spelled")
{
    const std::string told = "without tools/list: nextCursor is one that came before, so the list ends there ";
    CHECK(outcome({page(tool("x"), R"("a")"), page(tool("x"), R"("a")")}) == "x " + told);
    CHECK(outcome({page(tool("x"), R"("")"), page(tool("x") + "," + tool("y"), R"("")")}) == "x y " + told);
    CHECK(outcome({page("", R"("a")"), page("", R"("b")"), page("", R"("\u0061")")}) == told);
}

TEST_CASE("Lists that a server does not declare in a way that can be read may fail, and are told of if they are there")
{
    const auto all = set_of({list_kind::tools, list_kind::prompts});
    const auto begun = [&] {
        list_reader walk{all, mcp::era::legacy, {.pages = 2, .items = 3, .bytes = 64, .cursor_bytes = 4}};
        walk.set_undeclared(all, {});
        return walk;
    };
    for (const std::string unusable :
         {R"({})",
          R"({"tools":5})",
          R"({"resultType":"other","tools":[]})",
          R"([])",
          R"({"tools":[{"name":"long","description":"0123456789012345678901234567890123456789012345678901234567890123"}]})"
         }) {
        CAPTURE(unusable);
        for (const auto accept : {accept_text, accept_page}) {
            auto walk = begun();
            CHECK_FALSE(accept(walk, unusable).has_value());
            REQUIRE(walk.next().has_value());
            CHECK(walk.next()->list == list_kind::prompts);
            CHECK(walk.accept(R"({"prompts":[{"name":"p"},{"name":"q"}]})").has_value());
            CHECK_FALSE(walk.next().has_value());
            CHECK(walk.left().none());
            const auto found = std::move(walk).onto({});
            CHECK(found.server.offers == set_of({list_kind::prompts}));
            CHECK(
                found.left_out[index_of(list_kind::prompts)].first ==
                std::vector<std::string>{"declares no prompts, but lists 2"}
            );
        }
    }
}

TEST_CASE("A list that fails in its middle has what was read, or what it had, and the next list is asked for")
{
    const auto both = set_of({list_kind::tools, list_kind::prompts});
    const auto walked = [&](mcp::server_lists base, bool late) {
        list_reader walk{both, mcp::era::legacy};
        REQUIRE(walk.accept(page(tool("a") + ",5", R"("2")")).has_value());
        if (late) {
            walk.skip_rest("too late");
            CHECK(walk.left_all());
        } else {
            CHECK_FALSE(walk.accept("{}").has_value());
            REQUIRE(walk.next().has_value());
            CHECK(walk.next()->list == list_kind::prompts);
            CHECK(walk.next()->cursor.empty());
            CHECK(walk.accept(R"({"prompts":[{"name":"p"}]})").has_value());
            CHECK(walk.left() == tools_only);
        }
        CHECK(walk.first_left() == (late ? "too late" : "tools/list: the result has no list"));
        CHECK_FALSE(walk.next().has_value());
        walk.skip("nobody asks");
        return std::move(walk).onto(std::move(base));
    };
    for (const bool late : {false, true}) {
        CAPTURE(late);
        const auto first = walked({}, late);
        REQUIRE(first[list_kind::tools].size() == 1);
        CHECK(first[list_kind::tools][0].key == "a");
        CHECK(first.left_out[index_of(list_kind::tools)].count == 1);
        CHECK(first[list_kind::prompts].size() == (late ? 0 : 1));
        mcp::server_lists had;
        had.lists[index_of(list_kind::tools)] = {{"old", tool("old")}};
        const auto later = walked(had, late);
        REQUIRE(later[list_kind::tools].size() == 1);
        CHECK(later[list_kind::tools][0].key == "old");
    }
}

TEST_CASE("a list over a limit ends with an error that names it, and one at the limit does not")
{
    const mcp::discovery_limits few{.pages = 2, .items = 3, .bytes = 64, .cursor_bytes = 4};
    CHECK(outcome({page("", R"("1")"), page(tool("a"))}, few) == "a ");
    CHECK(outcome({page("", R"("1")"), page("", R"("2")"), page("")}, few) == "tools/list: over 2 pages");
    CHECK(outcome({page(tool("a") + "," + tool("b") + "," + tool("c"))}, few) == "a b c ");
    CHECK(
        outcome({page(tool("a") + "," + tool("b"), R"("1")"), page(tool("c") + "," + tool("d"))}, few) ==
        "tools/list: over 3 items in all lists"
    );
    const auto exactly = tool(std::string(64 - tool("").size(), 'x'));
    CHECK(outcome({page(exactly)}, few) == std::string(64 - tool("").size(), 'x') + " ");
    CHECK(outcome({page(exactly + ",1")}, few) == "tools/list: over 64 bytes in all lists");
    CHECK(outcome({page("", R"("12")"), page("")}, few).empty());
    CHECK(outcome({page("", R"("123")")}, few) == "tools/list: a cursor over 4 bytes");
}

TEST_CASE("what is no result of a list ends the list with an error")
{
    CHECK(outcome({"[]"}) == "tools/list: the result: not an object");
    CHECK(outcome({R"({"tools":[],"tools":[]})"}) == "tools/list: the result: a member stands twice");
    CHECK(outcome({"{}"}) == "tools/list: the result has no list");
    CHECK(outcome({R"({"tools":{}})"}) == "tools/list: the result has no list");
    CHECK(outcome({page("", "5")}) == "tools/list: nextCursor is not a string");
    CHECK(outcome({R"({"resultType":"input_required","tools":[]})"}) == "tools/list: a result that is not complete");
    CHECK(outcome({R"({"resultType":"complete","tools":[]})"}).empty());
}

TEST_CASE("what no caller could use is left out, and the rest is found")
{
    const std::string deep = R"({"name":"deep","inputSchema":)" + std::string(56, '[') + std::string(56, ']') + "}";
    const std::string barely = R"({"name":"barely","inputSchema":)" + std::string(55, '[') + std::string(55, ']') + "}";
    std::string wide = R"({"name":"wide","inputSchema":{"m0":0)";
    for (int i = 1; i < 1001; ++i) {
        wide += ",\"m" + std::to_string(i) + "\":0";
    }
    wide += "}}";
    std::string items = tool("a");
    for (const auto& bad :
         {std::string{"5"},
          std::string{"[]"},
          std::string{"{}"},
          tool(""),
          std::string{R"({"name":5})"},
          std::string{R"({"name":"x","name":"y"})"},
          deep,
          wide,
          std::string{R"({"name":"huge","inputSchema":{"maximum":1e999}})"},
          tool("a")}) {
        items += "," + bad;
    }
    items += "," + barely;
    list_reader walk{tools_only, mcp::era::legacy};
    REQUIRE(walk.accept(page(items)).has_value());
    const auto left_out = walk.left_out();
    CHECK(left_out.count == 10);
    REQUIRE(left_out.first.size() == mcp::most_told_items);
    CHECK(left_out.first[0] == "tools/list: an item: not an object");
    CHECK(left_out.first[6] == "tools/list: deep: nested deeper than 56");
    const auto found = std::move(walk).onto({});
    REQUIRE(found[list_kind::tools].size() == 2);
    CHECK(found[list_kind::tools][1].key == "barely");
}

TEST_CASE("tools that clients have to reject are left out in the modern era over HTTP, and nowhere else")
{
    using mcp::tool_headers;
    const std::string bad =
        R"({"name":"bad","inputSchema":{"properties":{"p":{"type":"string","x-mcp-header":"a b"}}}})";
    const auto found = [&](mcp::era speaks, tool_headers headers) {
        list_reader walk{tools_only, speaks, {}, headers};
        REQUIRE(walk.accept(page(tool("a") + "," + bad + "," + tool("b"))).has_value());
        return std::move(walk).onto({});
    };
    const auto over_http = found(mcp::era::modern, tool_headers::checked);
    const auto& tools = over_http[list_kind::tools];
    REQUIRE(tools.size() == 2);
    CHECK(tools[1].key == "b");
    const auto& left_out = over_http.left_out[index_of(list_kind::tools)];
    CHECK(left_out.count == 1);
    CHECK(left_out.first == std::vector<std::string>{"tools/list: bad: p: x-mcp-header is not a token"});
    CHECK(found(mcp::era::modern, tool_headers::ignored)[list_kind::tools].size() == 3);
    CHECK(found(mcp::era::legacy, tool_headers::checked)[list_kind::tools].size() == 3);

    list_reader prompts{set_of({list_kind::prompts}), mcp::era::modern, {}, tool_headers::checked};
    REQUIRE(prompts.accept(R"({"prompts":[)" + bad + "]}").has_value());
    const auto kept = std::move(prompts).onto(over_http);
    CHECK(kept[list_kind::prompts].size() == 1);
    CHECK(kept.left_out[index_of(list_kind::tools)].count == 1);
}

TEST_CASE("of what is left out as much is told as fits, and all of it is counted")
{
    const auto left_out = [](std::size_t many) {
        std::string items = tool("a");
        for (std::size_t i = 0; i < many; ++i) {
            items += "," + tool("a");
        }
        list_reader walk{tools_only, mcp::era::legacy};
        REQUIRE(walk.accept(page(items)).has_value());
        return walk.left_out();
    };
    for (const auto many : {mcp::most_told_items - 1, mcp::most_told_items, mcp::most_told_items + 1}) {
        const auto told = left_out(many);
        CHECK(told.count == many);
        CHECK(told.first.size() == std::min(many, mcp::most_told_items));
        CHECK(told.first.back() == "tools/list: a: has the key of another");
    }
}

TEST_CASE("items keep unknown members, the spelling of numbers and hostile text; white space goes")
{
    list_reader walk{tools_only, mcp::era::legacy};
    REQUIRE(walk.accept(page(R"( { "name" : "\u0061<script>" , "x":1.50E+2,
        "y":12345678901234567890123, "d":"\ud83d \u202e" } )"))
                .has_value());
    const auto found = std::move(walk).onto({});
    REQUIRE(found[list_kind::tools].size() == 1);
    CHECK(found[list_kind::tools][0].key == "a<script>");
    CHECK(
        found[list_kind::tools][0].raw ==
        R"({"name":"\u0061<script>","x":1.50E+2,"y":12345678901234567890123,"d":"\ufffd \u202e"})"
    );
}

TEST_CASE("only what is wanted is asked for, in this order, each with its own member and key")
{
    list_reader walk{list_set{}.set(), mcp::era::legacy};
    const std::vector<std::pair<list_kind, std::string>> rows{
        {list_kind::tools, R"({"tools":[{"name":"k"}]})"},
        {list_kind::resources, R"({"resources":[{"uri":"k","name":"n"}]})"},
        {list_kind::templates, R"({"resourceTemplates":[{"uriTemplate":"k"}]})"},
        {list_kind::prompts, R"({"prompts":[{"name":"k"}]})"},
    };
    for (const auto& [list, result] : rows) {
        REQUIRE(walk.next().has_value());
        CHECK(walk.next()->list == list);
        CHECK(walk.next()->cursor.empty());
        REQUIRE(walk.accept(result).has_value());
    }
    CHECK_FALSE(walk.next().has_value());
    const auto found = std::move(walk).onto({});
    for (const auto& list : found.lists) {
        REQUIRE(list.size() == 1);
        CHECK(list[0].key == "k");
    }
    CHECK_FALSE(list_reader({}, mcp::era::legacy).next().has_value());
    CHECK(list_reader(set_of({list_kind::prompts}), mcp::era::legacy).next()->list == list_kind::prompts);
}

TEST_CASE("a list the server does not know is empty; another error leaves it as it was, and is one for tools")
{
    mcp::server_lists base;
    base.lists[index_of(list_kind::tools)] = {{"old", tool("old")}};
    base.lists[index_of(list_kind::resources)] = {{"old:", "{}"}};
    base.lists[index_of(list_kind::prompts)] = {{"old", tool("old")}};
    const mcp::rpc_failure unknown{mcp::method_not_found, {}, {}};
    const mcp::rpc_failure broken{-32603, "boom", {}};

    list_reader walk{list_set{}.set(), mcp::era::legacy};
    REQUIRE(walk.refuse(unknown).has_value());
    REQUIRE(walk.accept(R"({"resources":[{"uri":"new:"}],"nextCursor":"2"})").has_value());
    REQUIRE(walk.refuse(broken).has_value());
    REQUIRE(walk.refuse(unknown).has_value());
    REQUIRE(walk.refuse(unknown).has_value());
    CHECK_FALSE(walk.next().has_value());
    CHECK(walk.left() == set_of({list_kind::resources}));
    const auto found = std::move(walk).onto(base);
    CHECK(found[list_kind::tools].empty());
    CHECK(found[list_kind::resources][0].key == "old:");
    CHECK(found[list_kind::prompts].empty());

    list_reader failing{tools_only, mcp::era::legacy};
    const auto refused = failing.refuse(broken);
    REQUIRE(refused.has_error());
    CHECK(refused.error().detail == "tools/list: answered with the error -32603: boom");
    CHECK_FALSE(failing.next().has_value());
    CHECK(failing.accept(page("")).has_error());
}

TEST_CASE("walking some lists again replaces those and nothing else")
{
    mcp::server_lists base;
    base.server.name = "s";
    base.lists[index_of(list_kind::tools)] = {{"old", tool("old")}};
    base.lists[index_of(list_kind::prompts)] = {{"p", tool("p")}};
    list_reader walk{tools_only, mcp::era::legacy};
    REQUIRE(walk.accept(page(tool("new"))).has_value());
    const auto found = std::move(walk).onto(base);
    CHECK(found.server.name == "s");
    CHECK(found[list_kind::tools][0].key == "new");
    CHECK(found[list_kind::prompts][0].key == "p");
    CHECK_FALSE(mcp::same_content(found, base));
    list_reader again{tools_only, mcp::era::legacy};
    REQUIRE(again.accept(page(R"({ "name":"new" })")).has_value());
    CHECK(mcp::same_content(std::move(again).onto(found), found));
}

TEST_CASE("a list that differs only in its order stays in the order that it had")
{
    const auto listed = [](const std::string& items, mcp::server_lists base) {
        list_reader walk{tools_only, mcp::era::legacy};
        REQUIRE(walk.accept(page(items)).has_value());
        return std::move(walk).onto(std::move(base));
    };
    const auto comma = [](const std::string& a, const std::string& b) { return a + "," + b; };
    const auto first = listed(comma(tool("a"), tool("b")), {});
    CHECK(mcp::same_content(listed(comma(tool("b"), tool("a")), first), first));
    CHECK_FALSE(mcp::same_content(listed(comma(tool("b"), tool("c")), first), first));
    CHECK_FALSE(mcp::same_content(listed(tool("a"), first), first));
    CHECK_FALSE(mcp::same_content(listed(comma(tool("b"), R"({"name":"a","title":"A"})"), first), first));
    CHECK(listed(comma(tool("c"), comma(tool("b"), tool("a"))), first)[list_kind::tools][0].key == "c");
}

TEST_CASE("A page that was read before it is known what was asked gives a walk its own list, once")
{
    const std::string both =
        R"({"tools":[{"name":"t"}],"prompts":[{"name":"p"},1],"resources":7,"ttlMs":5,"nextCursor":"n"})";
    const auto page_of_both = mcp::read_list_page(both, 1);
    auto read = page_of_both;
    CHECK_FALSE(read.lists[index_of(list_kind::resources)].has_value());
    list_reader prompts{set_of({list_kind::prompts}), mcp::era::legacy};
    CHECK(prompts.open(read).error().detail == "prompts/list: over 10000 items in all lists");
    list_reader resources{set_of({list_kind::resources}), mcp::era::legacy};
    CHECK(resources.open(read).error().detail == "resources/list: the result has no list");
    read = page_of_both;
    list_reader tools{tools_only, mcp::era::modern};
    REQUIRE(tools.open(read).has_value());
    REQUIRE(tools.take_some(1).has_value());
    CHECK(tools.next()->cursor == R"("n")");
    CHECK(tools.open(read).error().detail == "tools/list: the result has no list");
}

TEST_CASE("A tool that was read before is left out for its header fields only where they are checked")
{
    const std::string result = page(R"({"name":"t","inputSchema":{"type":"object","x-mcp-header":"A"}})");
    for (const auto headers : {mcp::tool_headers::ignored, mcp::tool_headers::checked}) {
        list_reader walk{tools_only, mcp::era::modern, {}, headers};
        REQUIRE(accept_page(walk, result).has_value());
        const auto found = std::move(walk).onto({});
        CHECK(found[list_kind::tools].size() == (headers == mcp::tool_headers::checked ? 0 : 1));
    }
}

TEST_CASE("A page that is taken a little at a time is the same page, and is over with its last item or its first fault")
{
    const auto size = tool("a").size();
    const auto turns = [](const std::string& result, std::size_t most, std::string& names) {
        list_reader walk{tools_only, mcp::era::legacy, {.bytes = 1000}};
        CHECK_FALSE(walk.in_page());
        REQUIRE(walk.open(result).has_value());
        int count = 0;
        bool fails = false;
        while (walk.in_page() && !fails) {
            REQUIRE(walk.next().has_value());
            fails = !walk.take_some(most).has_value();
            ++count;
        }
        CHECK_FALSE(walk.in_page());
        CHECK_FALSE(walk.next().has_value());
        CHECK(walk.left_all() == fails);
        names.clear();
        const auto found = std::move(walk).onto({});
        for (const auto& each : found[list_kind::tools]) {
            names += each.key;
        }
        return count;
    };
    std::string names;
    const auto four = page(tool("a") + "," + tool("b") + "," + tool("c") + "," + tool("d"));
    for (const auto& [most, wanted] :
         {std::pair{std::size_t{1}, 4}, {2 * size - 1, 4}, {2 * size, 2}, {2 * size + 1, 2}, {4 * size, 1}}) {
        CAPTURE(most);
        CHECK(turns(four, most, names) == wanted);
        CHECK(names == "abcd");
    }
    CHECK(turns(page(""), 1, names) == 1);
    CHECK(names.empty());
    const auto huge = R"({"name":")" + std::string(1000, 'n') + "\"}";
    CHECK(turns(page(tool("a") + "," + huge + "," + tool("b")), 1, names) == 2);
    CHECK(names == "a");
}

TEST_CASE("Among many items in another order one that differs is found")
{
    const auto listed = [](bool backwards, const std::string& last, mcp::server_lists base) {
        std::vector<std::string> all;
        for (int i = 0; i < 200; ++i) {
            all.push_back(tool("tool-" + std::to_string(i)));
        }
        all.push_back(R"({"name":"last","title":")" + last + "\"}");
        if (backwards) {
            std::ranges::reverse(all);
        }
        list_reader walk{tools_only, mcp::era::legacy};
        std::string items;
        for (const auto& each : all) {
            items.append(items.empty() ? "" : ",").append(each);
        }
        REQUIRE(walk.accept(page(items)).has_value());
        return std::move(walk).onto(std::move(base));
    };
    const auto first = listed(false, "a", {});
    CHECK(mcp::same_content(listed(true, "a", first), first));
    CHECK(mcp::same_content(listed(true, "b", first), listed(true, "b", {})));
}

TEST_CASE("of the modern era, the shortest time to live of a page counts, and one private page makes all private")
{
    const auto lifetime = [](const std::vector<std::string>& freshness) {
        list_reader walk{tools_only, mcp::era::modern};
        for (std::size_t i = 0; i < freshness.size(); ++i) {
            const bool last = i + 1 == freshness.size();
            const auto next = last ? std::string{} : R"(,"nextCursor":")" + std::to_string(i) + '"';
            REQUIRE(walk.accept(R"({"tools":[])" + freshness[i] + next + "}").has_value());
        }
        const auto found = std::move(walk).onto({});
        return std::pair{found.time_to_live->count(), found.shareable};
    };
    const std::string open = R"(,"cacheScope":"public","ttlMs":)";
    CHECK(lifetime({open + "5000", open + "3000", open + "9000"}) == std::pair{3000L, true});
    CHECK(lifetime({open + "5000", R"(,"cacheScope":"private","ttlMs":7000)"}) == std::pair{5000L, false});
    CHECK(lifetime({open + "99999999999999"}) == std::pair{86400000L, true});
    for (const auto* odd : {"-1", "1.5", "\"5\"", "null", "99999999999999999999"}) {
        CHECK(lifetime({open + odd}).first == 0);
    }
    CHECK(lifetime({""}) == std::pair{0L, false});
    mcp::server_lists known;
    known.shareable = false;
    list_reader partial{tools_only, mcp::era::modern};
    REQUIRE(partial.accept(R"({"tools":[])" + open + "1}").has_value());
    const auto kept = std::move(partial).onto(known);
    CHECK_FALSE(kept.shareable);  // what was not walked may be private still
    auto other = kept;
    other.shareable = true;
    CHECK_FALSE(mcp::same_content(kept, other));
    list_reader legacy{tools_only, mcp::era::legacy};
    REQUIRE(legacy.accept(R"({"tools":[],"ttlMs":5})").has_value());
    CHECK_FALSE(std::move(legacy).onto({}).time_to_live.has_value());
}

TEST_CASE("a notification says which lists have changed, and a storm of them asks for one walk")
{
    CHECK(
        mcp::changed_by("notifications/resources/list_changed") == set_of({list_kind::resources, list_kind::templates})
    );
    CHECK(mcp::changed_by("notifications/resources/updated").none());
    CHECK(mcp::change_debounce == core::duration{250});

    mcp::change_tracker tracker;
    const auto offers = set_of({list_kind::tools, list_kind::prompts});
    CHECK_FALSE(tracker.note("notifications/message", offers));
    CHECK_FALSE(tracker.note("notifications/resources/list_changed", offers));
    CHECK(tracker.note("notifications/tools/list_changed", offers));
    for (int i = 0; i < 100; ++i) {
        CHECK_FALSE(tracker.note("notifications/tools/list_changed", offers));
    }
    CHECK_FALSE(tracker.note("notifications/prompts/list_changed", offers));
    CHECK(tracker.take() == offers);
    CHECK(tracker.take().none());
    CHECK(tracker.note("notifications/prompts/list_changed", offers));
}

TEST_CASE("every capture is walked to the end, and again to the same")
{
    std::size_t most = 0;
    for (const auto& each : tests::captures()) {
        CAPTURE(each.file);
        const auto found = tests::discovered(each);
        most = std::max(most, found[list_kind::tools].size());
        CHECK_FALSE(found[list_kind::tools].empty());
        CHECK(mcp::same_content(found, tests::discovered(each)));
    }
    CHECK(most == 401);
}

TEST_SUITE_END();
