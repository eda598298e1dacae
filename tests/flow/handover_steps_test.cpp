// The new process of a hand-over, with this test as the one that it follows: at each step the old one may end without a word.
#include "gateway/upgrade/upgrade_state.hpp"
#include "tests/flow/handover_fixture.hpp"
#include "tests/support/listening_socket.hpp"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/handover_steps");

namespace {

using flow::child_process;
using gateway::upgrade::handover_word;
using test_support::listening_socket;

// Two listening sockets, a pair, and a gateway that has them.
class follower {
public:
    explicit follower(std::vector<std::string> more = {})
    {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
        ours_ = core::descriptor{ends[0]};
        const core::descriptor theirs{ends[1]};
        const timeval patience{10, 0};
        ::setsockopt(ours_.number(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        std::vector<std::string> arguments{"run", "--store", "memory"};
        arguments.insert(arguments.end(), {"--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"});
        arguments.insert(arguments.end(), more.begin(), more.end());
        const flow::handed_over passed{
            {"LISTEN_FDS=3", "LISTEN_FDNAMES=traffic:admin:handover"},
            {traffic_.number(), admin_.number(), theirs.number()}
        };
        process_.emplace(CARDEA_BIN, std::move(arguments), passed);
    }

    child_process& process() noexcept { return *process_; }
    std::uint16_t admin_port() const noexcept { return admin_.port(); }
    std::uint16_t port() const noexcept { return traffic_.port(); }

    void say(handover_word word, std::string content = {}) const
    {
        const auto frame = gateway::upgrade::framed({word, std::move(content)});
        REQUIRE(frame.has_value());
        send(*frame);
    }
    void send(std::string_view bytes) const
    {
        REQUIRE(::send(ours_.number(), bytes.data(), bytes.size(), MSG_NOSIGNAL) == static_cast<long>(bytes.size()));
    }

    // The addresses that the sockets are for.
    void greet() const
    {
        gateway::upgrade::handover_hello hello;
        hello.configured.listen = config::endpoint{"127.0.0.1", 0};
        hello.configured.admin = config::endpoint{"127.0.0.1", 0};
        say(handover_word::hello, content_of(hello));
    }

    // Its next message; nothing: it has ended, or is silent.
    std::optional<gateway::upgrade::handover_message> hear()
    {
        for (;;) {
            auto read = reader_.next();
            REQUIRE(read.has_value());
            if (*read) {
                return *read;
            }
            std::array<char, 1000> block{};
            const auto count = ::recv(ours_.number(), block.data(), block.size(), 0);
            if (count <= 0) {
                return std::nullopt;
            }
            reader_.add({block.data(), static_cast<std::size_t>(count)});
        }
    }

    void leave() { ours_.reset(); }

    bool listens()
    {
        const auto line = process_->wait_for_line([](auto each) {
            return each.find(R"("event":"listening")") != std::string_view::npos;
        });
        return line && flow::listening_port(*line, "traffic") == port() &&
               flow::listening_port(*line, "admin") == admin_port();
    }

private:
    listening_socket traffic_;
    listening_socket admin_;
    core::descriptor ours_;
    gateway::upgrade::handover_reader reader_;
    std::optional<child_process> process_;
};

handover_word word_of(const std::optional<gateway::upgrade::handover_message>& message)
{
    return message ? message->word : handover_word{};
}

}  // namespace

TEST_CASE("If the old process ends without a word at any step, the new one serves alone")
{
    for (int steps = 0; steps < 5; ++steps) {
        CAPTURE(steps);
        follower next;
        if (steps > 0) {
            next.greet();
        }
        if (steps > 1) {
            CHECK(word_of(next.hear()) == handover_word::prepared);
        }
        if (steps > 2) {
            next.say(handover_word::store_closed);
        }
        if (steps > 3) {
            CHECK(word_of(next.hear()) == handover_word::ready);
        }
        next.leave();
        REQUIRE(next.listens());
        CHECK(test_support::request(next.admin_port(), "GET", "/readyz").status == 200);
        CHECK(test_support::request(next.port(), "GET", "/agents/none/.well-known/agent-card.json").status == 404);
        next.process().signal(SIGTERM);
        CHECK(next.process().wait() == 0);
    }
}

TEST_CASE("The new process touches no store and accepts nobody before the old one says that it may")
{
    follower next;
    test_support::http_client early{next.admin_port()};
    early.send(test_support::request_text("GET", "/readyz"));
    next.greet();
    const auto prepared = next.hear();
    REQUIRE(word_of(prepared) == handover_word::prepared);
    CHECK(gateway::upgrade::prepared_in(prepared->content).has_value());
    CHECK_FALSE(early.closed_by_peer(std::chrono::milliseconds{200}));
    CHECK(next.process().err().find("listening") == std::string::npos);
    next.say(handover_word::store_closed);
    CHECK(word_of(next.hear()) == handover_word::ready);
    CHECK(early.read_response().status == 200);
}

TEST_CASE("What the old process passes is there, and a message of a newer version is passed over")
{
    follower next;
    next.greet();
    CHECK(word_of(next.hear()) == handover_word::prepared);
    gateway::upgrade::upgrade_state state;
    state.counts = {7, 2, 1};
    state.memory.emplace().records.push_back({"kept", R"({"url":"http://127.0.0.1:1/"})", 41, core::wall_time{}});
    const auto frames = gateway::upgrade::frames_of(state);
    REQUIRE(frames.has_value());
    for (const auto& each : *frames) {
        next.send(each);
    }
    next.say(static_cast<handover_word>(60), "of a newer version");
    next.say(handover_word::store_closed);
    CHECK(word_of(next.hear()) == handover_word::ready);
    const auto page = test_support::request(next.admin_port(), "GET", "/metrics").body;
    CHECK(page.find("cardea_handovers_total{outcome=\"completed\"} 7") != std::string::npos);
    CHECK(page.find("cardea_agents 1") != std::string::npos);
}

TEST_CASE("A new process says why it ends, and ends with 2")
{
    follower next{{"--agent", "a=nonsense"}};
    next.greet();
    const auto last = next.hear();
    REQUIRE(word_of(last) == handover_word::failed);
    CHECK(last->content.find("--agent") != std::string::npos);
    CHECK(next.process().wait() == 2);
}

TEST_CASE("A greeting that is not understood ends the new process with 2")
{
    const std::string other = content_of(gateway::upgrade::handover_hello{.speaks = 2, .configured = {}});
    for (const auto& content : {other, std::string{"?"}}) {
        follower next;
        next.say(handover_word::hello, content);
        CHECK(word_of(next.hear()) == handover_word::failed);
        CHECK(next.process().wait() == 2);
    }
    follower next;
    next.send("\1\xff\xff\xff\xff");
    CHECK(next.process().wait() == 2);
}

TEST_CASE("A new process with another address closes the socket of the old one and binds its own")
{
    follower next;
    gateway::upgrade::handover_hello hello;
    hello.configured.listen = config::endpoint{"127.0.0.1", 4};
    next.say(handover_word::hello, content_of(hello));
    CHECK(word_of(next.hear()) == handover_word::prepared);
    next.say(handover_word::store_closed);
    CHECK(word_of(next.hear()) == handover_word::ready);
    const auto line = next.process().wait_for_line([](auto each) {
        return each.find(R"("event":"listening")") != std::string_view::npos;
    });
    REQUIRE(line.has_value());
    CHECK(flow::listening_port(*line, "traffic") != next.port());
    CHECK(flow::listening_port(*line, "admin") == next.admin_port());  // of the service manager
}

TEST_SUITE_END();
