#include "gateway/upgrade/upgrade_messages.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <exception>
#include <optional>
#include <string>
#include <utility>

TEST_SUITE_BEGIN("gateway/upgrade/handover_channel");

namespace {

using namespace std::chrono_literals;
using gateway::upgrade::framed;
using gateway::upgrade::handover_word;

std::string frame_of(handover_word word, std::string content = {})
{
    auto frame = framed({word, std::move(content)});
    REQUIRE(frame.has_value());
    return *frame;
}

// A channel, and the other side of its pair.
struct rig {
    rig()
    {
        std::array<int, 2> ends{};
        REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0);
        channel.emplace(loop.get_executor(), core::descriptor{ends[0]});
        other = core::descriptor{ends[1]};
    }

    // The outcome of an operation, which is the loop's only work.
    template <class Value>
    core::result<Value> outcome(net::task<core::result<Value>> work)
    {
        std::optional<core::result<Value>> out;
        net::asio::co_spawn(loop.get_executor(), std::move(work), [&](const std::exception_ptr& bug, auto value) {
            CHECK(bug == nullptr);
            out.emplace(std::move(value));
        });
        while (!out) {
            loop.io().run_one();
        }
        return std::move(*out);
    }

    // All that has come.
    std::string received() const
    {
        std::string all;
        std::array<char, 4096> piece{};
        for (;;) {
            const auto count = ::recv(other.number(), piece.data(), piece.size(), MSG_DONTWAIT);
            if (count <= 0) {
                return all;
            }
            all.append(piece.data(), static_cast<std::size_t>(count));
        }
    }

    void say(const std::string& text) const
    {
        REQUIRE(::send(other.number(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
    }

    net::loop loop;
    std::optional<gateway::upgrade::handover_channel> channel;
    core::descriptor other;
};

}  // namespace

TEST_CASE("What one side sends the other one gets, and what that says is heard")
{
    rig x;
    const auto hello = frame_of(handover_word::hello, "text");
    CHECK(x.outcome(x.channel->send(hello, 5s)).has_value());
    CHECK(x.received() == hello);
    x.say(frame_of(handover_word::failed, "why"));
    const auto heard = x.outcome(x.channel->receive(5s));
    REQUIRE(heard.has_value());
    CHECK(heard->word == handover_word::failed);
    CHECK(heard->content == "why");
}

TEST_CASE("Who has taken a part of a frame gets nothing behind it, and is heard all the same")
{
    rig x;
    const auto large = frame_of(handover_word::tasks, std::string(1'500'000, 'x'));
    const auto cut = x.outcome(x.channel->send(large, 20ms));
    REQUIRE_FALSE(cut.has_value());
    CHECK(cut.error().code == core::errc::upstream_timeout);
    const auto part = x.received();
    CHECK_FALSE(part.empty());
    CHECK(part == large.substr(0, part.size()));
    CHECK(part.size() < large.size());
    const auto later = x.outcome(x.channel->send(frame_of(handover_word::free), 5s));
    REQUIRE_FALSE(later.has_value());
    CHECK(later.error().code == core::errc::upstream_reset);
    CHECK(x.received().empty());
    x.say(frame_of(handover_word::failed, "too much"));
    const auto heard = x.outcome(x.channel->receive(5s));
    REQUIRE(heard.has_value());
    CHECK(heard->content == "too much");
}

TEST_CASE("Silence, the other side's end and cancel() each end what is waited for, and say which it was")
{
    rig x;
    CHECK(x.outcome(x.channel->receive(10ms)).error().code == core::errc::upstream_timeout);
    x.other.reset();
    CHECK(x.outcome(x.channel->receive(5s)).error().code == core::errc::upstream_reset);
    x.channel->cancel();
    CHECK(x.outcome(x.channel->receive(5s)).error().code == core::errc::draining);
    CHECK(x.outcome(x.channel->send(frame_of(handover_word::free), 5s)).error().code == core::errc::draining);
}

TEST_SUITE_END();
