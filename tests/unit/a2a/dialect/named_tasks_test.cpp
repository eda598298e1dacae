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
        all.emplace_back(what == a2a::named::context ? "context " : "").append(id);
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
    CHECK(named(R"({"id":"a","Id":"b","ID":"c","i_d":"d","id":"e","idx":"no"})") == names{"a", "b", "c", "d", "e"});
    CHECK(named(R"({"task_id":"a","TaskID":"b","\u0074askId":"c","ta\u017fkId":"d"})") == names{"a", "b", "c", "d"});
    CHECK(named("{\"tas\xE2\x84\xAAId\":\"a\",\"ta\xC5\xBFkid\":\"b\"}") == names{"a", "b"});
    CHECK(
        named(
            R"({"message":{"task_id":"a"},"Message":{"taskid":"b","reference_task_ids":["c"]},"message":{"taskId":"d"}})"
        ) == names{"a", "b", "c", "d"}
    );
    CHECK(named(R"({"request":{"task_id":"a"}})") == names{"a"});
    CHECK(named(R"({"id":"\u0061\"","taskId":17,"task_id":-1,"taskID":null})") == names{"a\"", "17", "-1"});
    CHECK(named(R"({"message":{"referenceTaskIds":"one","taskId":{"id":"no"}}})") == names{"one"});
}

TEST_CASE("A context is named by the message or by the parameters, in every spelling, and is no task")
{
    CHECK(named(R"({"contextId":"c","pageSize":5})") == names{"context c"});
    CHECK(
        named(
            R"({"message":{"contextId":"c","context_id":"d","CONTEXTID":7,"taskId":"t"},"metadata":{"contextId":"e"}})"
        ) == names{"context c", "context d", "context 7", "t"}
    );
}

TEST_CASE("The tasks that a message refers to come behind its own, all of them")
{
    CHECK(
        named(R"({"message":{"referenceTaskIds":["a"],"reference_task_ids":["b"],"taskId":"t","contextId":"c"}})") ==
        names{"a", "t", "context c", "b"}
    );
    CHECK(named(R"({"message":{"referenceTaskIds":["a","b"],"taskId":"t"}})") == names{"t", "a", "b"});
}

TEST_CASE("A resource name of the protocol buffers of 0.3 names its task")
{
    CHECK(
        named(R"({"parent":"tasks/a","config":{"name":"tasks/b/pushNotificationConfigs/c","task_id":"d"}})") ==
        names{"a", "b", "d"}
    );
    CHECK(named(R"({"name":"tasks/a/pushNotificationConfigs/c","Name":"tasks/\u0062"})") == names{"a", "b"});
    CHECK(named(R"({"name":"other/a","parent":7,"config":[]})").empty());
}

TEST_CASE("What names no task is passed by, whatever its texts hold, and what may name one is not")
{
    const auto named_behind_first = [](const std::string& members) {
        auto all = named(R"({"taskId":"first",)" + members + "}");
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
