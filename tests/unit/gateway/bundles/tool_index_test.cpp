// The index of a bundle's tools: its order, what a caller may not see, its limits, and how long it takes.
#include "gateway/bundles/tool_index.hpp"

#include "core/json/json.hpp"
#include "tests/unit/gateway/bundles/real_tools.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/bundles/tool_index");

namespace {

using gateway::bundles::search_outcome;
using gateway::bundles::search_question;
using gateway::bundles::tool_index;
using tests::real_tools;
using names = std::vector<std::string>;

core::json parsed(std::string_view text)
{
    auto read = core::parse_json(text, {.bytes = 64 * 1024 * 1024});
    REQUIRE_MESSAGE(read.has_value(), text);
    return std::move(*read);
}

// A bundle of two members: `files` with read_file, write_file and a `delete_file`; `git` with git_log and read_file.
real_tools small_bundle()
{
    real_tools tools;
    tools.add_member("files", "Secure Filesystem");
    tools.add("files", "read_file", "Reads a file from the disk", R"({"properties":{"path":{"type":"string"}}})");
    tools.add("files", "write_file", "Writes a file", "{}");
    tools.add("files", "delete_file", "Removes a file for good", "{}");
    tools.add_member("git", "");
    tools.add("git", "git_log", "History of commits by authorName", "{}");
    tools.add("git", "read_file", "Reads a file at a revision", "{}");
    return tools;
}

struct asked {
    gateway::bundles::tool_index_pointer index;
    gateway::bundles::visible_tools visible;

    explicit asked(const real_tools& tools)
        : index{tools.index()},
          visible(tools.size(), true)
    {
    }

    gateway::bundles::search_answer answer(mcp::search_tool tool, std::string arguments) const
    {
        return index->answer({.tool = tool, .arguments = std::move(arguments), .visible = visible});
    }
    names find(const std::string& query, const std::string& more = {}) const
    {
        const auto found = answer(mcp::search_tool::find, R"({"query":")" + query + "\"" + more + "}");
        names list;
        const auto result = parsed(found.result);
        for (const auto& tool : result["structuredContent"]["tools"]) {
            list.push_back(tool["name"].get<std::string>());
        }
        INFO(found.result);
        CHECK((found.outcome == search_outcome::nothing) == list.empty());
        return list;
    }
    std::string error(mcp::search_tool tool, std::string arguments, search_outcome outcome) const
    {
        const auto answered = answer(tool, std::move(arguments));
        CHECK(answered.outcome == outcome);
        const auto result = parsed(answered.result);
        CHECK(result["isError"] == true);
        return result["content"][0]["text"].get<std::string>();
    }
};

}  // namespace

TEST_CASE("A tool whose name is asked for comes first, with or without its prefix, in any manner")
{
    const asked bundle{small_bundle()};
    for (const auto* const query : {"files__write_file", "write_file", "writeFile", "Write-File", "write file"}) {
        CAPTURE(query);
        CHECK(bundle.find(query).front() == "files__write_file");
    }
    const auto both = bundle.find("read_file");
    REQUIRE(both.size() >= 2);
    CHECK(both[0] == "files__read_file");
    CHECK(both[1] == "git__read_file");
    CHECK(std::ranges::count(both, "files__read_file") == 1);
}

TEST_CASE("A tool is found by words of each of its parts")
{
    const asked bundle{small_bundle()};
    CHECK(bundle.find("history") == names{"git__git_log"});
    CHECK(bundle.find("author") == names{"git__git_log"});
    CHECK(bundle.find("path") == names{"files__read_file"});
    CHECK(bundle.find("git").size() == 2);
    CHECK(bundle.find("erase").front() == "files__delete_file");
}

TEST_CASE("A hidden tool takes no place")
{
    asked bundle{small_bundle()};
    const auto all = bundle.find("file");
    REQUIRE(all.size() == 4);
    for (std::size_t limit = 1; limit <= 3; ++limit) {
        bundle.visible[0] = false;
        const auto rest = bundle.find("file", R"(,"limit":)" + std::to_string(limit));
        CHECK(rest.size() == limit);
        CHECK(std::ranges::count(rest, "files__read_file") == 0);
    }
    CHECK(bundle.find("files__read_file", R"(,"limit":1)").front() != "files__read_file");
    CHECK(bundle.find("read_file", R"(,"limit":1)") == names{"git__read_file"});

    bundle.visible.clear();
    CHECK(bundle.find("file").empty());
    CHECK(bundle.answer(mcp::search_tool::find, R"({"query":"file"})").result.find("agents\":[]") != std::string::npos);
}

TEST_CASE("The limit cuts what is found, and there are ten without one")
{
    real_tools tools;
    tools.add_member("many", "");
    for (int i = 0; i < 60; ++i) {
        tools.add("many", "tool" + std::to_string(i), "quokka", "{}");
    }
    const asked bundle{tools};
    CHECK(bundle.find("quokka").size() == 10);
    CHECK(bundle.find("quokka").front() == "many__tool0");
    for (const std::size_t limit : {1U, 2U, 49U, 50U}) {
        CHECK(bundle.find("quokka", R"(,"limit":)" + std::to_string(limit)).size() == limit);
    }
}

TEST_CASE("An agent limits the search, and an unknown one is told which there are")
{
    asked bundle{small_bundle()};
    CHECK(bundle.find("read_file", R"(,"agent":"git")").front() == "git__read_file");
    for (const auto& name : bundle.find("file", R"(,"agent":"git","limit":50)")) {
        CHECK(name.starts_with("git__"));
    }
    const auto find = mcp::search_tool::find;
    CHECK(
        bundle.error(find, R"({"query":"file","agent":"Git"})", search_outcome::refused) ==
        "agent: expected one of files, git"
    );
    bundle.visible[3] = bundle.visible[4] = false;
    CHECK(
        bundle.error(find, R"({"query":"file","agent":"git"})", search_outcome::refused) ==
        "agent: expected one of files"
    );
}

TEST_CASE("Nothing found names the members that the caller has")
{
    asked bundle{small_bundle()};
    bundle.visible[0] = false;
    const auto found = bundle.answer(mcp::search_tool::find, R"({"query":"quokka"})");
    CHECK(found.outcome == search_outcome::nothing);
    CHECK(
        parsed(found.result)["structuredContent"]["agents"] ==
        parsed(R"([{"name":"files","title":"Secure Filesystem","tools":2},{"name":"git","tools":2}])")
    );
}

TEST_CASE("Definitions are described by name, and an unknown or hidden one has the three nearest")
{
    asked bundle{small_bundle()};
    const auto describe = mcp::search_tool::describe;
    const auto described = bundle.answer(describe, R"({"names":["git__git_log","files__read_file"]})");
    CHECK(described.outcome == search_outcome::found);
    const auto tools = parsed(described.result)["structuredContent"]["tools"];
    REQUIRE(tools.size() == 2);
    CHECK(tools[0]["description"] == "History of commits by authorName");
    CHECK(tools[1]["inputSchema"]["properties"].contains("path"));

    CHECK(
        bundle.error(describe, R"({"names":["files__read_file","files__raed_file"]})", search_outcome::unknown_name) ==
        "There is no tool 'files__raed_file'. The nearest names are files__read_file, files__write_file, "
        "files__delete_file."
    );
}

TEST_CASE("A hidden tool is answered like one that does not exist")
{
    asked bundle{small_bundle()};
    bundle.visible[0] = bundle.visible[4] = false;
    real_tools others;
    others.add_member("files", "Secure Filesystem");
    others.add("files", "write_file", "Writes a file", "{}");
    others.add("files", "delete_file", "Removes a file for good", "{}");
    others.add_member("git", "");
    others.add("git", "git_log", "History of commits by authorName", "{}");
    const asked without{others};
    for (const auto& [tool, arguments] : std::vector<std::pair<mcp::search_tool, std::string>>{
             {mcp::search_tool::describe, R"({"names":["files__read_file"]})"},
             {mcp::search_tool::call, R"({"name":"read_file"})"},
             {mcp::search_tool::find, R"({"query":"read_file"})"},
             {mcp::search_tool::find, R"({"query":"revision disk"})"},
         }) {
        CAPTURE(arguments);
        const auto hidden = bundle.answer(tool, arguments);
        CHECK(hidden.result == without.answer(tool, arguments).result);
        CHECK(hidden.outcome == without.answer(tool, arguments).outcome);
    }
}

TEST_CASE("A call of an unknown name has the nearest names, also without prefixes")
{
    const asked bundle{small_bundle()};
    const auto call = mcp::search_tool::call;
    CHECK(
        bundle.error(call, R"({"name":"gitlog"})", search_outcome::unknown_name).find("are git__git_log") !=
        std::string::npos
    );
    CHECK(bundle.error(call, R"({"name":7})", search_outcome::refused) == "name: expected a text");
}

TEST_CASE("An empty bundle is asked like any other")
{
    const asked bundle{real_tools{}};
    CHECK(bundle.find("file").empty());
    CHECK(
        bundle.error(mcp::search_tool::call, R"({"name":"a"})", search_outcome::unknown_name) == "There is no tool 'a'."
    );
}

TEST_CASE("Any loop asks an index, made ahead or not, and the answer comes back to it")
{
    bool ahead = false;
    SUBCASE("made by the question") {}
    SUBCASE("made ahead")
    {
        ahead = true;
    }
    const auto tools = small_bundle();
    gateway::bundles::tool_searches searches;
    net::asio::io_context loop;
    std::optional<core::result<gateway::bundles::search_answer>> got;
    const auto keep = [&](const std::exception_ptr& thrown, core::result<gateway::bundles::search_answer> answer) {
        REQUIRE(thrown == nullptr);
        CHECK(loop.get_executor().running_in_this_thread());
        got = std::move(answer);
    };
    const auto index = std::make_shared<const tool_index>(tools.source());
    if (ahead) {
        searches.prepare(index);
    }
    auto asked = searches.ask(
        index,
        {.arguments = R"({"query":"history"})", .visible = gateway::bundles::visible_tools(tools.size(), true)}
    );
    net::asio::co_spawn(loop.get_executor(), std::move(asked), keep);
    loop.run();

    REQUIRE(got.has_value());
    REQUIRE(got->has_value());
    CHECK((*got)->outcome == search_outcome::found);
    CHECK((*got)->result.find("git__git_log") != std::string::npos);
}

TEST_CASE("2,000 tools take at most 8 MiB, and most searches among them 5 ms")
{
    const auto tools = tests::all_real_tools(2000);
    REQUIRE(tools.size() == 2000);
    const auto begin = std::chrono::steady_clock::now();
    const asked bundle{tools};
    const std::chrono::duration<double, std::milli> made = std::chrono::steady_clock::now() - begin;
    CHECK(bundle.index->bytes() <= 8U * 1024 * 1024);

    std::vector<double> times;
    for (int round = 0; round < 5; ++round) {
        for (const auto& question : tests::real_questions()) {
            const auto start = std::chrono::steady_clock::now();
            bundle.answer(mcp::search_tool::find, core::json{{"query", question.text}}.dump());
            const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
            times.push_back(took.count());
        }
    }
    std::ranges::sort(times);
    const auto p99 = times[times.size() * 99 / 100];
    MESSAGE(
        "made in " << made.count() << " ms; index: " << bundle.index->bytes() / 1024 << " KiB; find_tools: p50 "
                   << times[times.size() / 2] << " ms, p99 " << p99 << " ms"
    );
    CHECK(times[times.size() / 2] <= 5 * tests::slowness);  // bench/bridge_bars.py has the bar for p99
}

TEST_CASE("The longest question of common words among 5,000 tools is answered in a fraction of a second")
{
    const auto tools = tests::all_real_tools(5000);
    const asked bundle{tools};
    const core::json question{
        {"query",
         "create get list update delete website domain project file name id list page agency plan order user account "
         "value type use this endpoint retrieve details available set status new hosting wordpress data"},
        {"limit", 50}
    };
    double shortest = 1e9;  // others may be at work on this machine
    for (int round = 0; round < 5; ++round) {
        const auto start = std::chrono::steady_clock::now();
        const auto answered = bundle.answer(mcp::search_tool::find, question.dump());
        const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
        CHECK(answered.outcome == search_outcome::found);
        shortest = std::min(shortest, took.count());
    }
    const auto start = std::chrono::steady_clock::now();
    bundle.answer(mcp::search_tool::call, R"({"name":"hostinger__unknown_tool_of_a_name_that_is_quite_long"})");
    const std::chrono::duration<double, std::milli> unknown = std::chrono::steady_clock::now() - start;
    MESSAGE("the question: " << shortest << " ms; unknown name: " << unknown.count() << " ms");
    // A quiet machine needs 40 ms and 9 ms.
    CHECK(shortest <= 250 * tests::slowness);
    CHECK(unknown.count() <= 250 * tests::slowness);
}

TEST_SUITE_END();
