#include "a2a/dialect/task_scan.hpp"

#include "core/json/json.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("a2a/task_scan");

namespace {

using a2a::task_scan;
using a2a::task_state;

struct shown {
    std::string id;
    std::optional<task_state> state;

    friend bool operator==(const shown&, const shown&) = default;
};

class kept_tasks final : public a2a::task_sink {
public:
    void on_task(std::string_view id, std::optional<task_state> state) override
    {
        all.push_back({std::string{id}, state});
    }
    void on_context(std::string_view id) override { contexts.emplace_back(id); }

    std::vector<shown> all;
    std::vector<std::string> contexts;
};

// In pieces of `size` bytes.
std::vector<shown>
found(std::string_view body, task_scan::framing how = task_scan::framing::document, std::size_t size = 1)
{
    task_scan scan{how};
    kept_tasks tasks;
    for (std::size_t at = 0; at < body.size(); at += size) {
        scan.feed(body.substr(at, size), tasks);
    }
    return tasks.all;
}

// In two pieces, however they are cut, and byte by byte.
void check_every_split(std::string_view body, task_scan::framing how, const std::vector<shown>& expected)
{
    CAPTURE(body);
    CHECK(found(body, how, body.size() + 1) == expected);
    CHECK(found(body, how, 1) == expected);
    for (std::size_t cut = 0; cut <= body.size(); ++cut) {
        CAPTURE(cut);
        task_scan scan{how};
        kept_tasks tasks;
        scan.feed(body.substr(0, cut), tasks);
        scan.feed(body.substr(cut), tasks);
        CHECK(tasks.all == expected);
    }
}

struct shape {
    std::string_view body;
    std::vector<shown> shows;
};

const std::array<shape, 16> shapes{{
    {R"({"jsonrpc":"2.0","id":"call","result":{"kind":"task","id":"t","contextId":"c","status":{"state":"working"}}})",
     {{"t", task_state::working}}},
    {R"( {"id" : 1 , "result" : { "status" : { "message" : {"parts":[{"text":"\"}{"}]} , "state" : "input-required" } , "id" : "t" } } )",
     {{"t", task_state::input_required}}},
    {R"({"result":{"kind":"status-update","final":true,"status":{"state":"canceled"},"taskId":"t","contextId":"c"}})",
     {{"t", task_state::canceled}}},
    {R"({"result":{"kind":"artifact-update","taskId":"t","contextId":"c","artifact":{"artifactId":"a","parts":[]}}})",
     {{"t", std::nullopt}}},
    {R"({"result":{"artifact":{"artifactId":"a","parts":[{"id":"no","status":{"state":"failed"}}]},"taskId":"t"}})",
     {{"t", std::nullopt}}},
    {R"({"jsonrpc":"2.0","result":{"task":{"id":"t","status":{"state":"TASK_STATE_COMPLETED"}}},"id":7})",
     {{"t", task_state::completed}}},
    {R"({"result":{"statusUpdate":{"taskId":"t","status":{"state":"TASK_STATE_AUTH_REQUIRED"}}}})",
     {{"t", task_state::auth_required}}},
    {R"({"result":{"artifactUpdate":{"taskId":"t","artifact":{}}}})", {{"t", std::nullopt}}},
    {R"({"id":"t","contextId":"c","status":{"state":"TASK_STATE_REJECTED"}})", {{"t", task_state::rejected}}},
    {R"({"task":{"id":"t","status":{"state":4}}})", {{"t", task_state::failed}}},
    {R"({"statusUpdate":{"taskId":"t","status":{"timestamp":"now"}}})", {{"t", task_state::unspecified}}},
    {R"({"\u0072esult":{"\u0069d":"\u0074\"\\","status":{"sta\u0074e":"w\u006frking"}}})",
     {{"t\"\\", task_state::working}}},
    {R"({"result":{"kind":"message","messageId":"m","taskId":"t","contextId":"c","role":"agent","parts":[]}})", {}},
    {R"({"result":{"message":{"messageId":"m","taskId":"t","metadata":{"status":{"state":"working"}}}}})", {}},
    {R"({"jsonrpc":"2.0","id":"t","error":{"code":-32001,"message":"Task not found","data":{"id":"t","status":{}}}})",
     {}},
    {R"({"result":{"tasks":[{"id":"t","status":{"state":"working"}}],"nextPageToken":""}})", {}},
}};

}  // namespace

TEST_CASE("Each shape of an answer shows its task, however the body is cut")
{
    for (const auto& each : shapes) {
        check_every_split(each.body, task_scan::framing::document, each.shows);
    }
}

TEST_CASE("Each event of a stream shows its task, whatever ends the lines and however the stream is cut")
{
    for (const std::string_view end : {"\n", "\r", "\r\n"}) {
        std::string stream{"\xEF\xBB\xBF"};
        std::vector<shown> expected;
        for (const auto& each : shapes) {
            stream.append(": a comment").append(end).append("event: x").append(end);
            stream.append("data: ").append(each.body).append(end).append("id: 1").append(end).append(end);
            expected.insert(expected.end(), each.shows.begin(), each.shows.end());
        }
        CHECK(found(stream, task_scan::framing::events, stream.size()) == expected);
        for (std::size_t size = 1; size < 40; ++size) {
            CAPTURE(size);
            CHECK(found(stream, task_scan::framing::events, size) == expected);
        }
    }
}

TEST_CASE("An event whose data stands on several lines is one text, and one without a space after the colon counts")
{
    const std::vector<shown> expected{{"t", task_state::working}};
    check_every_split(
        "data: {\r\ndata:   \"task\": {\r\ndata:\"id\": \"t\",\r\ndata\r\ndata: "
        "\"status\":{\"state\":\"working\"}}}\r\n\r\n",
        task_scan::framing::events,
        expected
    );
    check_every_split(
        "dat: {\"id\":\"no\",\"status\":{}}\n\ndata:{\"id\":\"t\",\"status\":{\"state\":\"working\"}}\n\n",
        task_scan::framing::events,
        expected
    );
}

TEST_CASE("What is not an object, or not JSON, shows no task")
{
    for (const auto* body :
         {"",
          "[]",
          R"([{"id":"t","status":{}}])",
          "\"t\"",
          "17",
          R"({id:"t"})",
          R"({"id" "t"})",
          R"({"result":[{"id":"t"}]})"}) {
        check_every_split(body, task_scan::framing::document, {});
    }
}

TEST_CASE("An empty id, one that is a number, and one over the limit are not told; one at the limit is")
{
    const auto with = [](const std::string& id) { return R"({"id":")" + id + R"(","status":{"state":"working"}})"; };
    CHECK(found(with("")).empty());
    CHECK(found(R"({"id":17,"status":{"state":"working"}})").empty());
    const std::string longest(a2a::task_text::longest_id, 'x');
    CHECK(found(with(longest.substr(1))) == std::vector<shown>{{longest.substr(1), task_state::working}});
    CHECK(found(with(longest)) == std::vector<shown>{{longest, task_state::working}});
    CHECK(found(with(longest + "x")).empty());
}

TEST_CASE("The scan ends as soon as the task is known")
{
    task_scan scan{task_scan::framing::document};
    kept_tasks tasks;
    CHECK(scan.feed(R"({"result":{"id":"t","status":{"state":)", tasks));
    CHECK_FALSE(scan.feed(R"("completed")", tasks));
    CHECK_FALSE(scan.feed(R"(,"message":{}}}})", tasks));
    CHECK(tasks.all == std::vector<shown>{{"t", task_state::completed}});
}

TEST_CASE("Texts full of quotes and backslashes are passed over, however they are cut")
{
    std::string text;
    for (int i = 0; i < 200; ++i) {
        text += i % 3 == 0 ? R"(\")" : i % 3 == 1 ? R"(\\)" : R"(} ,{"id":)";
    }
    const auto quoted = core::json(text).dump();
    const auto body = R"({"result":{"metadata":{"a":)" + quoted + R"(},"history":[)" + quoted + R"(],"x":)" + quoted +
                      R"(,"id":"t","status":{"state":"working"}}})";
    const std::vector<shown> expected{{"t", task_state::working}};
    for (std::size_t size = 1; size < 70; ++size) {
        CAPTURE(size);
        CHECK(found(body, task_scan::framing::document, size) == expected);
    }
}

TEST_CASE("A document reader finds the same in answers with members in any order")
{
    // Every order of the members of a Task, in every wrapper.
    const std::array<std::string, 4> members{
        R"("id":"t")",
        R"("status":{"message":{"taskId":"no","parts":[{"kind":"text","text":"{\"id\":\"no\"}"}]},"state":"failed"})",
        R"("history":[{"taskId":"no","kind":"message"}])",
        R"("metadata":{"status":{"state":"completed"},"id":"no"})"
    };
    std::array<std::size_t, 4> order{0, 1, 2, 3};
    int orders = 0;
    do {
        std::string task{"{"};
        for (const auto i : order) {
            task += (task.size() == 1 ? "" : ",") + members[i];
        }
        task += "}";
        for (const auto& body :
             {task,
              R"({"task":)" + task + "}",
              R"({"id":"call","result":)" + task + "}",
              R"({"result":{"task":)" + task + R"(},"id":"call"})"}) {
            CAPTURE(body);
            const auto document = core::json::parse(body);
            const auto& outer = document.contains("result") ? document["result"] : document;
            const auto& read = outer.contains("task") ? outer["task"] : outer;
            const std::vector<shown> expected{
                {read["id"].get<std::string>(), a2a::read_state(read["status"]["state"].dump())}
            };
            CHECK(found(body, task_scan::framing::document, 7) == expected);
        }
        ++orders;
    } while (std::next_permutation(order.begin(), order.end()));
    CHECK(orders == 24);
}

TEST_CASE("The context of a task, an update or a message is told, if it stands in front of the state")
{
    const auto contexts_in = [](std::string_view body, task_scan::framing how = task_scan::framing::document) {
        kept_tasks whole;
        task_scan{how}.feed(body, whole);
        kept_tasks tasks;
        task_scan scan{how};
        for (const char& c : body) {
            scan.feed({&c, 1}, tasks);
        }
        CHECK(tasks.contexts == whole.contexts);
        return tasks.contexts;
    };
    using names = std::vector<std::string>;
    CHECK(contexts_in(R"({"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}})") == names{"c"});
    CHECK(
        contexts_in(R"({"jsonrpc":"2.0","id":1,"result":{"kind":"message","contextId":"c\u0031","parts":[]}})") ==
        names{"c1"}
    );
    CHECK(
        contexts_in(R"({"result":{"task":{"contextId":"c","metadata":{"contextId":"no"},"id":"t","status":{}}}})") ==
        names{"c"}
    );
    CHECK(
        contexts_in(
            "data: {\"statusUpdate\":{\"contextId\":\"c\",\"taskId\":\"t\",\"status\":{\"state\":1}}}\n\n"
            "data: {\"artifactUpdate\":{\"taskId\":\"t\",\"contextId\":\"d\",\"artifact\":{}}}\n\n",
            task_scan::framing::events
        ) == names{"c", "d"}
    );
    CHECK(contexts_in(R"({"contextId":"","x":{"contextId":"no"},"y":["contextId"],"contextId":7})").empty());
    const std::string longest(a2a::task_text::longest_context, 'c');
    CHECK(contexts_in(R"({"contextId":")" + longest.substr(1) + R"("})") == names{longest.substr(1)});
    CHECK(contexts_in(R"({"contextId":")" + longest + R"("})") == names{longest});
    CHECK(contexts_in(R"({"contextId":")" + longest + R"(c"})").empty());
}

TEST_CASE("A document that is passed by shows no task, and one that may show one is not passed by")
{
    using a2a::may_show_task;
    for (const std::string_view nothing : {
             "",
             "{}",
             R"({"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"m","taskId":"t","parts":[{"text":"status: artifact"}]}})",
             R"({"id":"t","text":"a \\ and \"status\" in a text, and no name"})",
             R"({"a":["status","artifact"],"b":"artifact","state":"working"})",
             "status:artifact:",
             R"({"taskId":"t","artifact","text":"no name, since no colon is behind it"})",
         }) {
        CAPTURE(nothing);
        CHECK_FALSE(may_show_task(nothing, false));
        CHECK_FALSE(may_show_task(nothing, true));
        kept_tasks tasks;
        task_scan{task_scan::framing::document}.feed(nothing, tasks);
        CHECK(tasks.all.empty());
        CHECK(tasks.contexts.empty());
    }
    for (const std::string_view task : {
             R"({"id":"t","status":{"state":"working"}})",
             "{\"id\":\"t\",\"status\" \t\r\n :{\"state\":\"working\"}}",
             R"({"result":{"taskId":"t","artifact":{}}})",
             R"({"id":"t","st\u0061tus":{"state":"working"}})",
             R"({"id":"t","statu\u0073":{"state":"working"}})",
             R"({"taskId":"t","\u0061rtifact":{}})",
         }) {
        CAPTURE(task);
        CHECK(may_show_task(task, false));
        CHECK(found(task).size() == 1);
    }
    constexpr std::string_view context = R"({"result":{"kind":"message","contextId":"c","parts":[]}})";
    CHECK_FALSE(may_show_task(context, false));
    CHECK(may_show_task(context, true));
    CHECK(may_show_task(R"({"context\u0049d":"c"})", true));
}

TEST_CASE("Where the name of a task's member stands in a document makes no difference")
{
    for (std::size_t before = 0; before < 40; ++before) {
        CAPTURE(before);
        const auto document = "{\"" + std::string(before, 'x') + R"(":1,"id":"t","status":{"state":"working"}})";
        CHECK(a2a::may_show_task(document, false));
        auto cut = document;
        cut.resize(document.find("\":{"));
        CHECK_FALSE(a2a::may_show_task(cut, false));
    }
}

TEST_CASE("The context behind the state is told to a reader who goes on for it, and the task once")
{
    using enum task_scan::framing;
    const auto seen_in = [](std::string_view body, task_scan::framing how) {
        std::vector<std::string> contexts;
        for (std::size_t size = 1; size <= body.size(); ++size) {
            task_scan scan{how, a2a::task_text::until::context};
            kept_tasks kept;
            for (std::size_t at = 0; at < body.size(); at += size) {
                scan.feed(body.substr(at, size), kept);
            }
            CAPTURE(size);
            CHECK(kept.all == found(body, how));
            CHECK((size == 1 || kept.contexts == contexts));
            contexts = kept.contexts;
        }
        return contexts;
    };
    using names = std::vector<std::string>;
    CHECK(seen_in(R"({"id":"t","status":{"state":"working"},"contextId":"c"})", document) == names{"c"});
    CHECK(
        seen_in(
            R"({"result":{"task":{"id":"t","status":{"state":"working","contextId":"no","state":"failed",)"
            R"("message":{"contextId":"no","taskId":"u"}},"history":[{"contextId":"no"}],"id":"u",)"
            R"("status":{"state":"failed"},"artifact":{"contextId":"no"},"context\u0049d":"c\u0031","contextId":"no"}}})",
            document
        ) == names{"c1"}
    );
    CHECK(
        seen_in(R"({"contextId":"a","result":{"taskId":"t","artifact":{},"contextId":"b"}})", document) ==
        names{"a", "b"}
    );
    CHECK(
        seen_in(R"({"id":"t","contextId":"c","status":{"state":"working"},"contextId":"no"})", document) == names{"c"}
    );
    CHECK(seen_in(R"({"id":"t","status":{"state":4},"contextId":7,"task":{"contextId":"no"}})", document).empty());
    CHECK(
        seen_in(
            "data: {\"statusUpdate\":{\"taskId\":\"t\",\"status\":{\"state\":1},\"contextId\":\"c\"}}\n\n"
            "data: {\"artifactUpdate\":{\"artifact\":{},\"taskId\":\"t\",\"contextId\":\"d\"}}\n\n",
            events
        ) == names{"c", "d"}
    );
}

TEST_SUITE_END();
