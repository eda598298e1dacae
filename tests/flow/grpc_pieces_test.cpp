// Requests of A2A's own services that are longer than what is held: they pass as they come, and no faster than the agent takes them.
#include "tests/flow/access_fixture.hpp"
#include "tests/flow/grpc_fixture.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("flow/grpc_pieces");

namespace {

namespace raw = test_support::http2;
namespace h2 = test_support::h2;
using flow::grpc_answer;
using flow::grpc_message;
using flow::grpc_relayed;
using flow::http2_caller;
using flow::pb_field;

constexpr std::string_view v1_send = "/lf.a2a.v1.A2AService/SendMessage";
constexpr std::size_t held = 64 * 1024;
constexpr std::size_t first_window = 65'535;

// A SendMessageResponse of 1.0 with a message.
std::string answer()
{
    return grpc_message(pb_field(2, pb_field(1, "m-2") + std::string("\x20\x02", 2)));
}

// A SendMessageRequest of 1.0 whose message has a text of `size` bytes, then these fields, and further ones of the request.
std::string
send_request(std::string_view tenant, std::size_t size, std::string_view more = {}, std::string_view behind = {})
{
    const auto parts = pb_field(5, pb_field(1, std::string(size, 'x')));
    return (tenant.empty() ? std::string{} : pb_field(1, tenant)) +
           pb_field(2, pb_field(1, "m-1") + std::string("\x20\x01", 2) + parts + std::string{more}) +
           std::string{behind};
}

// Sends the body of a request on stream 1, as the gateway gives credit for it.
class upload {
public:
    explicit upload(http2_caller& caller, raw::field_lines more = {}, std::string_view path = v1_send)
        : caller_{caller}
    {
        caller_.send(raw::headers_frame(1, flow::grpc_fields(path, std::move(more)), raw::end_headers));
    }

    // All of it, in frames of at most so many bytes. False: the answer is whole, or the stream was reset, before that.
    bool send(std::string_view body, bool last, std::size_t most = 16'384)
    {
        while (!body.empty()) {
            const auto size = std::min({body.size(), most, stream_, connection_});
            if (size == 0) {
                if (!await_credit()) {
                    return false;
                }
                continue;
            }
            put(body.substr(0, size), last && size == body.size());
            body.remove_prefix(size);
        }
        return true;
    }

    // All of it in frames of 1,000 bytes with so much padding. No frame is cut to fit into what is left of a window.
    bool send_padded(std::string_view body, std::size_t padding)
    {
        while (!body.empty()) {
            const auto size = std::min<std::size_t>(body.size(), 1'000);
            const auto all = size + (padding == 0 ? 0 : padding + 1);
            if (std::min(stream_, connection_) < all) {
                if (!await_credit()) {
                    return false;
                }
                continue;
            }
            std::string payload = padding == 0 ? std::string{} : std::string{static_cast<char>(padding)};
            payload.append(body.substr(0, size)).append(padding, '\0');
            put(payload, size == body.size(), padding == 0 ? 0 : raw::padded);
            body.remove_prefix(size);
        }
        return true;
    }

    // Sends as much as the gateway takes, which has nothing more to say once it answers a PING. Gives the bytes that it took in all.
    std::size_t send_what_is_taken(std::string_view body)
    {
        for (bool more = true; more;) {
            for (auto size = std::min({body.size(), stream_, connection_}); size > 0;
                 size = std::min({body.size(), stream_, connection_})) {
                put(body.substr(0, std::min<std::size_t>(size, 16'384)), false);
                body.remove_prefix(std::min<std::size_t>(size, 16'384));
            }
            caller_.send(raw::ping_frame());
            caller_.until([&](const auto& each) {
                note(each);
                return each.type == raw::ping && (each.flags & raw::ack) != 0;
            });
            more = stream_ > 0 && connection_ > 0 && !body.empty();
        }
        return sent_;
    }

private:
    bool await_credit()
    {
        const bool came = caller_.until([&](const auto& each) {
            note(each);
            return over_ || each.type == raw::window_update;
        });
        return came && !over_;
    }

    void put(std::string_view bytes, bool last, unsigned flags = 0)
    {
        caller_.send(raw::frame(raw::data, flags | (last ? raw::end_stream : 0U), 1, bytes));
        stream_ -= bytes.size();
        connection_ -= bytes.size();
        sent_ += bytes.size();
    }

    bool note(const raw::read_frame& each)
    {
        over_ = over_ || (each.stream == 1 && (each.type == raw::rst_stream || (each.flags & raw::end_stream) != 0));
        if (each.type == raw::window_update) {
            (each.stream == 0 ? connection_ : stream_) += raw::number_in(each.payload);
        }
        return over_ || (stream_ > 0 && connection_ > 0);
    }

    http2_caller& caller_;
    std::size_t stream_ = first_window;
    std::size_t connection_ = first_window;
    std::size_t sent_ = 0;
    bool over_ = false;
};

// Whether the answer on stream 1 has the field, which may have come while the request was sent.
bool has(http2_caller& caller, std::string_view name)
{
    const auto here = [&] { return !caller.field(1, name).empty(); };
    return here() || caller.until([&](const auto&) { return here(); });
}

// An agent that begins its answer with the first bytes of a message, and does not end it.
struct slow_agent {
    explicit slow_agent(const grpc_relayed::adjustment& adjust = {}, bool takes_bodies = true)
        : relayed{
              [this](const test_support::recorded_request& request) {
                  came += request.body.size();
                  if (request.body.empty() || std::exchange(told, true)) {
                      return h2::script{};
                  }
                  return h2::script{h2::head{{{":status", "200"}, {"content-type", "application/grpc"}}}};
              },
              adjust,
              options(takes_bodies)
          }
    {
    }

    static test_support::http2_agent_options options(bool takes_bodies)
    {
        test_support::http2_agent_options out;
        out.answers_pieces = true;
        out.takes_bodies = takes_bodies;
        return out;
    }

    std::atomic<std::size_t> came = 0;
    bool told = false;
    grpc_relayed relayed;
};

}  // namespace

TEST_CASE("An agent gets the beginning of a large message before its end")
{
    slow_agent agent;
    http2_caller caller{agent.relayed.port()};
    const auto body = grpc_message(send_request("a", 1024 * 1024));
    upload up{caller};
    REQUIRE(up.send(std::string_view{body}.substr(0, 200'000), false));
    // The head of its answer says so.
    REQUIRE(has(caller, ":status"));
    CHECK(agent.came > 0);
    CHECK(agent.came < 200'000);
}

TEST_CASE("A deadline that is over while a large message comes is 4, also if the agent has less time for its head")
{
    for (const auto timeout : {core::duration{50}, core::duration{10'000}}) {
        CAPTURE(timeout.count());
        const grpc_relayed relayed{
            [](const auto&) { return h2::script{}; },
            [timeout](auto& settings) { settings.agents[0].timeout = timeout; }
        };
        http2_caller caller{relayed.port()};
        upload up{caller, {{"grpc-timeout", "200m"}}};
        const auto body = grpc_message(send_request("a", 1024 * 1024));
        REQUIRE(up.send(std::string_view{body}.substr(0, 100'000), false));
        REQUIRE(caller.answered(1));
        CHECK(caller.field(1, "grpc-status") == "4");
    }
}

TEST_CASE("A large message passes byte for byte, whatever its frames are, and without the gateway's tenant")
{
    for (const auto most : {std::size_t{16'384}, std::size_t{16'383}, std::size_t{1'000}}) {
        CAPTURE(most);
        grpc_relayed relayed{
            [](const auto&) { return grpc_answer(answer()); },
            [](auto& settings) { settings.grpc.default_agent.clear(); }
        };
        http2_caller caller{relayed.port()};
        upload up{caller};
        REQUIRE(up.send(grpc_message(send_request("a", 200'000, pb_field(8, "r"))), true, most));
        REQUIRE(caller.answered(1));
        CHECK(caller.field(1, "grpc-status") == "0");
        CHECK(caller.body(1) == answer());
        CHECK((relayed.agent.request(0).body == grpc_message(send_request({}, 200'000, pb_field(8, "r")))));
    }
}

TEST_CASE("Padding, and frames that leave a rest of a window, hold no body up")
{
    for (const std::string_view path : {v1_send, std::string_view{"/agents/a/x"}}) {
        for (const std::size_t padding : {0U, 10U, 50U, 255U}) {
            CAPTURE(path);
            CAPTURE(padding);
            grpc_relayed relayed{
                [](const auto&) { return grpc_answer(answer()); },
                [](auto& settings) { settings.agents[0].relay_paths = {"/**"}; }
            };
            http2_caller caller{relayed.port()};
            upload up{caller, {}, path};
            const auto body = grpc_message(send_request({}, 300'000));
            REQUIRE(up.send_padded(body, padding));
            REQUIRE(caller.answered(1));
            CHECK(caller.field(1, ":status") == "200");
            CHECK((relayed.agent.request(0).body == body));
        }
    }
}

TEST_CASE("A request around what is held passes the same")
{
    const auto overhead = grpc_message(send_request("a", 60'000)).size() - 60'000;
    for (const auto size : {held - 1, held, held + 1}) {
        CAPTURE(size);
        grpc_relayed relayed{[](const auto&) { return grpc_answer(answer()); }};
        http2_caller caller{relayed.port()};
        const auto body = grpc_message(send_request("a", size - overhead));
        REQUIRE(body.size() == size);
        upload up{caller};
        REQUIRE(up.send(body, true));
        REQUIRE(caller.answered(1));
        CHECK(caller.field(1, "grpc-status") == "0");
        CHECK((relayed.agent.request(0).body == grpc_message(send_request({}, size - overhead))));
    }
}

TEST_CASE("While an agent takes nothing, its caller may not send on")
{
    slow_agent agent{{}, /*takes_bodies=*/false};
    http2_caller caller{agent.relayed.port()};
    upload up{caller};
    const auto body = grpc_message(send_request("a", 1024 * 1024));
    REQUIRE(up.send(std::string_view{body}.substr(0, held + 1'000), false));
    REQUIRE(has(caller, ":status"));
    CHECK(up.send_what_is_taken(std::string_view{body}.substr(held + 1'000)) <= 3 * held);
    CHECK(agent.came <= first_window);
}

TEST_CASE("A tenant that comes late or twice, or a task that does, resets the agent's stream")
{
    const auto refused =
        [](std::string_view tenant, std::string_view more, std::string_view behind, std::size_t size = 200'000) {
            slow_agent agent;
            http2_caller caller{agent.relayed.port()};
            upload up{caller};
            up.send(grpc_message(send_request(tenant, size, more, behind)), true);
            CHECK(has(caller, "grpc-status"));
            // The agent hears nothing of a request that came whole.
            CHECK((size < 2 * held || agent.relayed.agent.wait_for_resets(1)));
            return caller.field(1, "grpc-status");
        };
    CHECK(refused("a", {}, pb_field(1, "a")) == "3");
    CHECK(refused({}, {}, pb_field(1, "a")) == "3");
    CHECK(refused("a", pb_field(3, "t-1"), {}) == "3");
    CHECK(refused("a", pb_field(2, "c-1"), {}) == "3");
    CHECK(refused("a", {}, pb_field(2, pb_field(1, "m-2"))) == "3");
    CHECK(refused("a", {}, "\x13") == "3");
    // Its length is in the beginning of the request, and its text is not.
    const auto border = held - grpc_message(send_request({}, 60'000)).size() + 60'000 - 3;
    CHECK(refused({}, pb_field(15, std::string(200'000, 'y')), pb_field(1, "b")) == "3");
    for (std::size_t behind = 0; behind < 6; ++behind) {
        CAPTURE(behind);
        CHECK(
            refused({}, {}, pb_field(1, std::string(50, 'b')) + pb_field(15, std::string(behind, 'z')), border) == "3"
        );
    }
}

TEST_CASE("A message that is longer or shorter than its prefix says, and one behind it, are refused while they pass")
{
    const auto outcome = [](const std::string& body) {
        slow_agent agent;
        http2_caller caller{agent.relayed.port()};
        upload up{caller};
        up.send(body, true);
        CHECK(has(caller, "grpc-status"));
        CHECK(agent.relayed.agent.wait_for_resets(1));
        return caller.field(1, "grpc-status");
    };
    const auto good = grpc_message(send_request("a", 200'000));
    CHECK(outcome(good.substr(0, good.size() - 1)) == "3");
    CHECK(outcome(good + "x") == "3");
    CHECK(outcome(good + grpc_message("x")) == "3");
}

TEST_CASE("A message above the held size is measured by its prefix")
{
    constexpr std::size_t limit = 200'000;
    const auto overhead = send_request("a", 150'000).size() - 150'000;
    for (const auto size : {limit - 1, limit, limit + 1}) {
        CAPTURE(size);
        grpc_relayed relayed{
            [](const auto&) { return grpc_answer(answer()); },
            [](auto& settings) { settings.limits.grpc_message = limit; }
        };
        http2_caller caller{relayed.port()};
        const auto message = send_request("a", size - overhead);
        REQUIRE(message.size() == size);
        upload up{caller};
        up.send(grpc_message(message), true);
        CHECK(has(caller, "grpc-status"));
        CHECK(caller.field(1, "grpc-status") == (size <= limit ? "0" : "8"));
        CHECK(relayed.agent.requests().size() == (size <= limit ? 1 : 0));
    }
}

TEST_CASE("A redirect of a request of which the agent has a part is not followed")
{
    test_support::http2_agent_options options;
    options.answers_pieces = true;
    bool told = false;
    grpc_relayed relayed{
        [&](const test_support::recorded_request& request) {
            if (request.body.empty() || std::exchange(told, true)) {
                return h2::script{};
            }
            return h2::script{h2::head{{{":status", "307"}, {"location", "/elsewhere"}}, true}};
        },
        {},
        std::move(options)
    };
    http2_caller caller{relayed.port()};
    upload up{caller};
    up.send(grpc_message(send_request("a", 1024 * 1024)), true);
    CHECK(has(caller, "grpc-status"));
    CHECK(caller.field(1, "grpc-status") == "2");
    CHECK(relayed.agent.wait_for_resets(1));
}

TEST_CASE("A large compressed message passes to the agent that its metadata names")
{
    grpc_relayed relayed{[](const auto&) { return grpc_answer(answer()); }};
    http2_caller caller{relayed.port()};
    upload up{caller, {{"grpc-encoding", "gzip"}, {"cardea-agent", "a"}}};
    const auto body = grpc_message(std::string(150'000, 'z'), '\1');
    REQUIRE(up.send(body, true));
    REQUIRE(caller.answered(1));
    CHECK(caller.field(1, "grpc-status") == "0");
    CHECK((relayed.agent.request(0).body == body));
}

TEST_CASE("A large message is gathered for an agent that speaks otherwise")
{
    grpc_relayed relayed{
        [](const auto& request) {
            const bool old = request.header(":path").starts_with("/a2a.v1.");
            return grpc_answer(
                old ? grpc_message(pb_field(2, pb_field(1, "m") + std::string("\x20\x02", 2))) : answer()
            );
        },
        [](auto& settings) { settings.agents[0].dialects = {core::a2a_dialect::v03_grpc}; }
    };
    http2_caller caller{relayed.port()};
    upload up{caller};
    REQUIRE(up.send(grpc_message(send_request("a", 200'000)), true));
    REQUIRE(caller.answered(1));
    CHECK(caller.field(1, "grpc-status") == "0");
    CHECK(relayed.agent.request(0).header(":path") == "/a2a.v1.A2AService/SendMessage");
    CHECK(relayed.agent.request(0).body.size() > 200'000);
}

TEST_CASE("A large message may not refer to a task of another principal, wherever it says so")
{
    const auto task = grpc_message(pb_field(1, pb_field(1, "t-ci") + pb_field(3, std::string("\x08\x02", 2))));
    grpc_relayed relayed{
        [&](const auto&) { return grpc_answer(task); },
        [](auto& settings) {
            const auto url = settings.agents[0].url;
            settings = flow::guarded(url);
            for (auto& each : settings.agents) {
                each.dialects = {core::a2a_dialect::v1_grpc};
                each.call = flow::everybody_known;
                each.discover = flow::everybody_known;
            }
        }
    };
    const raw::field_lines ci{{"x-api-key", "key-of-ci"}};
    const raw::field_lines mallory{{"authorization", "Bearer mallory-token-0123456789"}};
    const auto status = [&](const raw::field_lines& who, std::string_view more) {
        http2_caller caller{relayed.port()};
        upload up{caller, who};
        up.send(grpc_message(send_request("seen", 150'000, more)), true);
        CHECK(has(caller, "grpc-status"));
        return caller.field(1, "grpc-status");
    };
    CHECK(status(ci, {}) == "0");
    CHECK(status(ci, pb_field(8, "t-ci")) == "0");
    CHECK(status(mallory, pb_field(8, "t-ci")) == "5");
    CHECK(relayed.agent.wait_for_resets(1));
}

TEST_SUITE_END();
