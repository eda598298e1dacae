// Calls by gRPC and what their callers may do: credentials, agents that are hidden, tasks of others, names of hosts, limits of rates.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/grpc_fixture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("flow/grpc_access");

namespace {

using flow::get_request;
using flow::grpc_answer;
using flow::grpc_message;
using flow::grpc_relayed;
using flow::http2_caller;
using flow::pb_field;
using flow::status_of;
using flow::v1_get;
using test_support::http2::field_lines;

const field_lines ci{{"x-api-key", "key-of-ci"}};
const field_lines mallory{{"authorization", "Bearer mallory-token-0123456789"}};
const field_lines unknown{{"authorization", "Bearer nobody-has-this-0123456789"}};

// Makes what flow::guarded() makes, with agents that are all called by gRPC 1.0.
void guard(config::settings& settings)
{
    const auto url = settings.agents[0].url;
    settings = flow::guarded(url);
    for (auto& each : settings.agents) {
        each.dialects = {core::a2a_dialect::v1_grpc};
    }
}

// With agents of this dialect, which everybody who is known may call.
void guard_for_all(config::settings& settings, core::a2a_dialect dialect)
{
    guard(settings);
    for (auto& each : settings.agents) {
        each.dialects = {dialect};
        each.call = flow::everybody_known;
        each.discover = flow::everybody_known;
    }
}

// A Task in a SendMessageResponse.
std::string task_of(std::string_view id)
{
    return grpc_message(pb_field(1, pb_field(1, id) + pb_field(3, std::string("\x08\x02", 2))));
}

}  // namespace

TEST_CASE("Credentials are metadata: none is 16, a wrong one is 16, and one without the right is 7")
{
    grpc_relayed relayed{[](const auto&) { return grpc_answer(grpc_message(pb_field(1, "t"))); }, guard};
    const auto get = [&](std::string_view agent, const field_lines& with) {
        return status_of(relayed.port(), v1_get, grpc_message(get_request(agent)), with);
    };
    CHECK(get("open", {}) == "0");
    CHECK(get("seen", {}) == "16");
    CHECK(get("seen", unknown) == "16");
    CHECK(get("seen", mallory) == "7");
    CHECK(get("seen", ci) == "0");
    CHECK(get("sends", ci) == "7");
    CHECK(relayed.agent.requests().size() == 2);
    CHECK(relayed.agent.request(1).header("x-api-key").empty());
}

TEST_CASE("An agent that the caller may not know of is one that does not exist")
{
    grpc_relayed relayed{[](const auto&) { return grpc_answer(grpc_message(pb_field(1, "t"))); }, guard};
    const auto answer = [&](std::string_view agent) {
        http2_caller caller{relayed.port()};
        caller.send(flow::grpc_call(1, v1_get, grpc_message(get_request(agent)), mallory));
        REQUIRE(caller.answered(1));
        CHECK(caller.field(1, "grpc-status") == "12");
        return caller.field(1, "grpc-message") + caller.field(1, "cardea-error");
    };
    CHECK(answer("secret") == answer("ghost"));
    CHECK(relayed.agent.requests().empty());
}

TEST_CASE("A task of another principal is not found")
{
    grpc_relayed relayed{
        [](const test_support::recorded_request& request) {
            const bool sends = request.header(":path").ends_with("SendMessage");
            return grpc_answer(sends ? task_of("t-ci") : grpc_message(pb_field(1, "t-ci")));
        },
        [](auto& settings) { guard_for_all(settings, core::a2a_dialect::v1_grpc); }
    };
    const auto port = relayed.port();
    const auto message = grpc_message(pb_field(1, "seen") + pb_field(2, pb_field(1, "m")));
    CHECK(status_of(port, "/lf.a2a.v1.A2AService/SendMessage", message, ci) == "0");
    CHECK(status_of(port, v1_get, grpc_message(get_request("seen", "t-ci")), ci) == "0");
    CHECK(relayed.agent.request(1).header("grpc-accept-encoding") == "identity");
    CHECK(status_of(port, v1_get, grpc_message(get_request("seen", "t-ci")), mallory) == "5");
    const auto names = [](std::string_view fields) {
        return grpc_message(pb_field(1, "seen") + pb_field(2, pb_field(1, "m") + std::string{fields}));
    };
    const std::string_view send = "/lf.a2a.v1.A2AService/SendMessage";
    CHECK(status_of(port, send, names(pb_field(3, "t-ci")), mallory) == "5");
    CHECK(status_of(port, send, names(pb_field(8, "t-ci")), mallory) == "5");
    CHECK(relayed.agent.requests().size() == 2);
    // Tasks that cannot be read cannot be told apart.
    auto packed = mallory;
    packed.emplace_back("cardea-agent", "seen");
    CHECK(status_of(port, v1_get, grpc_message("packed", '\1'), packed) == "12");
}

TEST_CASE("A task of another principal has no other name by which an agent of 0.3 would find it")
{
    grpc_relayed relayed{
        [](const auto&) { return grpc_answer(task_of("t-ci")); },
        [](auto& settings) { guard_for_all(settings, core::a2a_dialect::v03_grpc); }
    };
    const auto ask = [&](std::string_view method, std::string_view message, field_lines with) {
        with.emplace_back("cardea-agent", "seen");
        return status_of(relayed.port(), "/a2a.v1.A2AService/" + std::string{method}, grpc_message(message), with);
    };
    CHECK(ask("SendMessage", pb_field(1, pb_field(1, "m")), ci) == "0");
    CHECK(ask("GetTask", pb_field(1, "tasks/t-ci"), ci) == "0");
    CHECK(ask("GetTaskPushNotificationConfig", pb_field(1, "tasks/t-ci/pushNotificationConfigs/c"), ci) == "0");
    REQUIRE(relayed.agent.requests().size() == 3);
    for (const std::string method :
         {"GetTask",
          "CancelTask",
          "TaskSubscription",
          "GetTaskPushNotificationConfig",
          "DeleteTaskPushNotificationConfig"}) {
        CAPTURE(method);
        CHECK(ask(method, pb_field(1, "tasks/t-ci"), mallory) == "5");
        for (const auto* const name :
             {"t-ci",
              "x/t-ci",
              "/tasks/t-ci",
              "x/tasks/t-ci",
              "tasks/n/t-ci",
              "tasks//tasks/t-ci",
              "tasks/n/pushNotificationConfigs/t-ci"}) {
            CAPTURE(name);
            const auto status = ask(method, pb_field(1, name), mallory);
            CHECK((status == "3" || status == "5"));
        }
        CHECK(ask(method, pb_field(1, "n"), ci) == "3");
    }
    CHECK(relayed.agent.requests().size() == 3);
}

TEST_CASE("A task is its caller's whatever else its answer holds, and an answer that is none is refused")
{
    constexpr std::string_view not_a_number{"\x11\0\0\0\0\0\0\xF8\x7F", 9};
    const auto metadata = pb_field(6, pb_field(1, pb_field(1, "x") + pb_field(2, not_a_number)));
    const auto text = pb_field(6, pb_field(1, pb_field(1, "\xFF")));
    for (const auto& [more, status] : {std::pair{metadata, "0"}, {text, "0"}, {std::string{"\x0B\x0C"}, "13"}}) {
        CAPTURE(status);
        grpc_relayed relayed{
            [&](const auto&) {
                return grpc_answer(grpc_message(
                    pb_field(1, pb_field(1, "t-ci") + pb_field(2, "c") + pb_field(3, std::string("\x08\x02", 2)) + more)
                ));
            },
            [](auto& settings) { guard_for_all(settings, core::a2a_dialect::v1_grpc); }
        };
        const auto message = grpc_message(pb_field(1, "seen") + pb_field(2, pb_field(1, "m")));
        CHECK(status_of(relayed.port(), "/lf.a2a.v1.A2AService/SendMessage", message, ci) == status);
        if (status == std::string_view{"0"}) {
            CHECK(status_of(relayed.port(), v1_get, grpc_message(get_request("seen", "t-ci")), mallory) == "5");
            CHECK(relayed.agent.requests().size() == 1);
        }
    }
}

TEST_CASE("A task in a long answer is known to be its caller's, if there is room to look at it")
{
    const auto long_task = grpc_message(pb_field(
        1,
        pb_field(1, "t-ci") + pb_field(3, std::string("\x08\x02", 2)) +
            pb_field(4, pb_field(1, std::string(600'000, 'x')))
    ));
    for (const bool fits : {true, false}) {
        const std::uint64_t memory = fits ? 64 * 1024 * 1024 : 512 * 1024;
        grpc_relayed relayed{
            [&](const test_support::recorded_request& request) {
                const bool sends = request.header(":path").ends_with("SendMessage");
                return grpc_answer(sends ? long_task : grpc_message(pb_field(1, "t-ci")));
            },
            [&](auto& settings) {
                guard(settings);
                settings.limits.body_memory = memory;
                for (auto& each : settings.agents) {
                    each.call = flow::everybody_known;
                    each.discover = flow::everybody_known;
                }
            }
        };
        http2_caller caller{relayed.port()};
        const auto message = grpc_message(pb_field(1, "seen") + pb_field(2, pb_field(1, "m")));
        caller.send(flow::grpc_call(1, "/lf.a2a.v1.A2AService/SendMessage", message, ci));
        for (const std::uint32_t stream : {0U, 1U}) {
            caller.send(test_support::http2::update_frame(stream, 16 * 1024 * 1024));
        }
        REQUIRE(caller.answered(1) == fits);
        if (!fits) {
            break;  // within the message: the stream is reset
        }
        CHECK(caller.body(1) == long_task);
        CHECK(caller.field(1, "grpc-status") == "0");
        CHECK(status_of(relayed.port(), v1_get, grpc_message(get_request("seen", "t-ci")), ci) == "0");
        CHECK(status_of(relayed.port(), v1_get, grpc_message(get_request("seen", "t-ci")), mallory) == "5");
    }
}

TEST_CASE("A host name is an agent's, and nothing may contradict it")
{
    grpc_relayed relayed{
        [](const auto&) { return grpc_answer(grpc_message(pb_field(1, "t"))); },
        [](auto& settings) {
            settings.agents[0].hosts = {"dice.test"};
            settings.grpc.default_agent.clear();
        }
    };
    const auto get = [&](std::string_view host, std::string_view tenant, field_lines more = {}) {
        auto fields = flow::grpc_fields(v1_get, std::move(more));
        fields[2].second = host;
        http2_caller caller{relayed.port()};
        namespace raw = test_support::http2;
        caller.send(raw::headers_frame(1, fields, raw::end_headers));
        caller.send(raw::frame(raw::data, raw::end_stream, 1, grpc_message(get_request(tenant))));
        REQUIRE(caller.answered(1));
        return caller.field(1, "grpc-status");
    };
    CHECK(get("dice.test", {}) == "0");
    CHECK(get("dice.test", "a") == "0");
    CHECK(get("dice.test", "b") == "3");
    CHECK(get("dice.test", {}, {{"cardea-agent", "b"}}) == "3");
    CHECK(get("dice.test", {}, {{"cardea-agent", "a"}}) == "0");
    CHECK(relayed.agent.requests().size() == 3);
}

TEST_CASE("Rates are limited, and so are streams")
{
    {
        grpc_relayed relayed{
            [](const auto&) { return grpc_answer(grpc_message(pb_field(1, "t"))); },
            [](auto& settings) { settings.rate_limits.agent = {.rate = 1, .burst = 1}; }
        };
        CHECK(status_of(relayed.port(), v1_get, grpc_message(get_request({}))) == "0");
        CHECK(status_of(relayed.port(), v1_get, grpc_message(get_request({}))) == "8");
    }
    grpc_relayed relayed{
        [](const auto&) {
            return test_support::h2::script{
                test_support::h2::head{{{":status", "200"}, {"content-type", "application/grpc"}}},
                test_support::h2::data{grpc_message(flow::working("t"))}
            };
        },
        [](auto& settings) { settings.limits.streams = 1; }
    };
    const auto message = grpc_message(pb_field(2, pb_field(1, "m")));
    http2_caller first{relayed.port()};
    first.send(flow::grpc_call(1, flow::v1_stream, message));
    REQUIRE(first.until([&](const auto&) { return !first.body(1).empty(); }));
    CHECK(status_of(relayed.port(), flow::v1_stream, message) == "14");
}

TEST_SUITE_END();
