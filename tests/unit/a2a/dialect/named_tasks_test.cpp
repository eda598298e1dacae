#include "a2a/dialect/named_tasks.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("a2a/named_tasks");

namespace {

using names = std::vector<std::string>;

names named(std::string_view params)
{
    names all;
    CHECK(a2a::each_named(params, [&all](a2a::named what, std::string_view id) {
        const auto* kind = what == a2a::named::context ? "context " : what == a2a::named::unclear ? "unclear" : "";
        all.emplace_back(kind).append(id);
        return true;
    }));
    return all;
}

}  // namespace

TEST_CASE("Calls of both generations name their tasks")
{
    CHECK(named("").empty());
    CHECK(named("[]").empty());
    CHECK(named("{}").empty());
    CHECK(named(R"({"id":"t","historyLength":3})") == names{"t"});
    CHECK(named(R"({"tenant":"x","taskId":"t","id":"config"})") == names{"t", "config"});
    CHECK(named(R"({"message":{"messageId":"m","parts":[{"kind":"text","text":"hi"}]}})").empty());
    CHECK(
        named(R"({"message":{"messageId":"m","taskId":"t","referenceTaskIds":["a","b"],"parts":[]}})") ==
        names{"t", "a", "b"}
    );
}

TEST_CASE("Every spelling that some reader takes for the name of a task counts, and every one that stands there")
{
    for (const std::string name : {"id", "Id", "ID", "i_d", "_id", "i\\u0064"}) {
        CAPTURE(name);
        CHECK(named("{\"" + name + "\":\"a\",\"idx\":\"no\"}") == names{"a"});
        CHECK(named("{\"id\":\"a\",\"" + name + "\":\"b\"}") == names{"a", "unclear", "b"});
    }
    for (const std::string name :
         {"taskId", "task_id", "TaskID", "\\u0074askId", "ta\\u017fkId", "tas\xE2\x84\xAAId", "ta\xC5\xBFkid"}) {
        CAPTURE(name);
        CHECK(named("{\"" + name + "\":\"a\"}") == names{"a"});
        CHECK(named("{\"taskId\":\"a\",\"" + name + "\":\"b\"}") == names{"a", "unclear", "b"});
        CHECK(named("{\"message\":{\"taskId\":\"a\",\"" + name + "\":\"b\"}}") == names{"a", "unclear", "b"});
    }
    CHECK(named(R"({"Message":{"taskid":"b","reference_task_ids":["c"]}})") == names{"b", "c"});
    CHECK(named(R"({"message":{"taskId":"a"},"Message":{"taskId":"b"}})") == names{"a", "unclear", "b"});
    CHECK(named(R"({"request":{"task_id":"a"}})") == names{"a"});
    CHECK(named(R"({"id":"\u0061\"","taskId":null})") == names{"a\""});
    CHECK(named(R"({"message":{"referenceTaskIds":"one","taskId":null,"contextId":null}})") == names{"one"});
}

TEST_CASE("A context is named by the message or by the parameters, in every spelling, and is no task")
{
    CHECK(named(R"({"contextId":"c","pageSize":5})") == names{"context c"});
    CHECK(
        named(R"({"message":{"contextId":"c","taskId":"t"},"metadata":{"contextId":"e"}})") == names{"context c", "t"}
    );
    for (const std::string name : {"contextId", "context_id", "CONTEXTID", "context\\u0049d"}) {
        CAPTURE(name);
        CHECK(named("{\"message\":{\"" + name + "\":\"c\"}}") == names{"context c"});
        CHECK(
            named("{\"message\":{\"contextId\":\"c\",\"" + name + "\":\"d\"}}") ==
            names{"context c", "unclear", "context d"}
        );
    }
}

TEST_CASE("An id that is no text is unclear wherever it stands, since some readers make one of it")
{
    for (const std::string id :
         {"[\"t\"]", "[[\"t\"]]", "1", "-1", "1.23e2", "true", "false", "{}", "{\"id\":\"t\"}", "[]"}) {
        CAPTURE(id);
        for (const auto* const place : {"id", "taskId", "contextId", "TASK_ID"}) {
            CHECK(named("{\"" + std::string{place} + "\":" + id + "}") == names{"unclear"});
        }
        for (const auto* const place : {"taskId", "contextId"}) {
            CHECK(named("{\"message\":{\"" + std::string{place} + "\":" + id + "}}") == names{"unclear"});
        }
        CHECK(named(R"({"message":{"referenceTaskIds":["a",)" + id + "]}}") == names{"a", "unclear"});
        CHECK(named(R"({"config":{"taskId":)" + id + "}}") == names{"unclear"});
    }
    CHECK(named(R"({"message":{"referenceTaskIds":7}})") == names{"unclear"});
}

TEST_CASE("What stands in an array is looked at as if it stood there alone, but not in arrays within it")
{
    CHECK(named(R"([{"id":"t"}])") == names{"t"});
    CHECK(named(R"({"message":[{"taskId":"t","contextId":"c"},{"taskId":"u"}]})") == names{"t", "context c", "u"});
    CHECK(named(R"({"id":null,"message":[[{"taskId":"t"}]]})") == names{"unclear"});
    CHECK(named(R"([[{"id":"t"}]])") == names{"unclear"});
    CHECK(named(R"({"message":"taskId: t","id":"t"})") == names{"t"});
}

TEST_CASE("A push configuration names its task, also the one that a message brings")
{
    CHECK(named(R"({"configuration":{"taskPushNotificationConfig":{"taskId":"t","id":"p"}}})") == names{"t"});
    CHECK(named(R"({"configuration":{"pushNotificationConfig":{"task_id":"t","url":"u"}}})") == names{"t"});
    CHECK(named(R"({"pushNotificationConfig":{"taskId":"t"}})") == names{"t"});
    CHECK(named(R"({"taskPushNotificationConfig":{"name":"tasks/t/pushNotificationConfigs/p"}})") == names{"t", "p"});
}

TEST_CASE("The tasks that a message refers to come behind its own, all of them")
{
    CHECK(
        named(R"({"message":{"referenceTaskIds":["a"],"reference_task_ids":["b"],"taskId":"t","contextId":"c"}})") ==
        names{"unclear", "a", "t", "context c", "b"}
    );
    CHECK(named(R"({"message":{"referenceTaskIds":["a","b"],"taskId":"t"}})") == names{"t", "a", "b"});
}

TEST_CASE("A resource name of the protocol buffers of 0.3 names its task")
{
    CHECK(
        named(R"({"parent":"tasks/a","config":{"name":"tasks/b/pushNotificationConfigs/c","task_id":"d"}})") ==
        names{"a", "b", "c", "d"}
    );
    CHECK(named(R"({"name":"tasks/a/pushNotificationConfigs/c","Name":"tasks/\u0062"})") == names{"a", "c", "b"});
    CHECK(named(R"({"name":"other/a","parent":7,"config":[]})") == names{"other", "a"});
    CHECK(named(R"({"name":"t"})") == names{"t"});  // some readers look behind the last slash
    CHECK(named(R"({"name":"/tasks//t/"})") == names{"tasks", "t"});
    CHECK(named(R"({"name":"tasks/tasks/t"})") == names{"tasks", "t"});
    CHECK(named(R"({"name":"pushNotificationConfigs"})") == names{"pushNotificationConfigs"});
    CHECK(named(R"({"name":"tasks//","parent":""})").empty());
    CHECK(named(R"({"name":["other/a"]})").empty());
    CHECK(named(R"({"name":["tasks/a"]})") == names{"unclear"});
    CHECK(named(R"({"config":{"parent":[["tasks\/a"]]},"id":null})") == names{"unclear"});
}

TEST_CASE("What names no task is passed by, whatever its texts hold, and what may name one is not")
{
    const auto named_behind_first = [](const std::string& members) {
        auto all = named(R"({"parent":"tasks/first",)" + members + "}");
        REQUIRE(all.front() == "first");
        all.erase(all.begin());
        return all;
    };
    for (const std::string members : {
             R"("message":{"messageId":"m","contextId":"c","parts":[{"text":"id: taskId: \"id\":\"t\" name:"}]})",
             R"("message":{"parts":[{"data":{"id":"t","taskId":"u","name":"tasks/v"}}]})",
             R"("name":"word","parent":"tasks/p")",
             "\"message\":{\"taskId\" \t\r\n :\"t\"}",
             "\"a\":\"\",\"\":1,\"id\":7",
             R"("i\u0064":"t","\u0069d":"u")",
             R"("__t_a_s_k___i_d__":"t")",
             "\"message\":{\"referenceTaskId\xC5\xBF\":[\"t\"],\"reference_ta\xC5\xBF\xE2\x84\xAA_ids\":[\"u\"]}",
             R"("x\"id":"no","idx":"no","messageid":"no","d":"no")",
             R"("configuration":{"id":"no"},"metadata":{"taskId":"no"})",
             R"("ID":"t","Id":"u","i_d":"v","_id":"w","id_":"x")",
             R"("TASK_ID":"t","taskI_D":"u","task__id":"v","Parent":"tasks/w","pare_nt":"tasks/x","nam_e":"tasks/y")",
             "\"message\":{\"tas\xE2\x84\xAAId\":\"t\",\"referenceTaskI_ds\":[\"u\"],\"REFERENCETASKIDS\":[\"v\"]}",
             R"("kid":"no","uid":"no","grid":"no","ids":["no"],"game":"no","agent":"no","time":"no","":"no","e":"no")",
         }) {
        CAPTURE(members);
        CHECK(named("{" + members + "}") == named_behind_first(members));
    }
    CHECK(named(R"({"message":{"parts":[{"text":"\"taskId\":\"t\""}]}})").empty());
}

TEST_CASE("A visitor that has seen enough is not called again")
{
    int calls = 0;
    CHECK_FALSE(a2a::each_named(
        R"({"message":{"referenceTaskIds":["a","b"],"taskId":"c"},"id":"d"})",
        [&calls](auto, auto) { return ++calls < 2; }
    ));
    CHECK(calls == 2);
}

TEST_SUITE_END();
