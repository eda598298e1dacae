#include "mcp/transport/offloading_transport.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("mcp/transport/offloading_transport");

namespace {

using words = std::vector<std::string>;

std::string text_of(std::size_t bytes, char first = 'a')
{
    std::string out(bytes, 'x');
    out.front() = first;
    return out;
}

// What a transport tells, and a reader that reads when the test says so.
class apart_rig : public mcp::transport_observer {
public:
    static constexpr std::size_t largest = 3;

    class wire final : public mcp::transport {
    public:
        wire(apart_rig& of, mcp::transport_observer& observer)
            : of_{of}
        {
            of_.inner = &observer;
        }
        ~wire() override { of_.inner = nullptr; }
        void open() override {}
        core::result<> send(mcp::outgoing /*message*/) override { return {}; }
        void settle(const mcp::dialect& /*speaks*/) override {}
        void open_stream(mcp::outgoing /*listen*/) override {}
        void close(bool /*end_session*/) override { ++of_.closes; }

    private:
        apart_rig& of_;
    };

    void read_next()
    {
        auto next = std::move(asked.front());
        asked.erase(asked.begin());
        next.second(mcp::read_apart(std::move(next.first), {}));
    }

    void connected() override { told.emplace_back("connected"); }
    void received(std::string_view text) override { told.push_back(std::string{text.substr(0, 1)}); }
    void received_long(const mcp::read_text& what) override
    {
        told.push_back("long " + what.text.substr(0, 1));
        if (on_long) {
            on_long();
        }
    }
    void refused(std::string_view beginning, std::size_t) override
    {
        told.push_back("refused " + std::string{beginning});
    }
    void failed(std::uint64_t request, core::error /*why*/, std::optional<mcp::era>) override
    {
        told.push_back("failed " + std::to_string(request));
    }
    void session_lost() override { told.emplace_back("session_lost"); }
    void stream_changed(mcp::stream_news) override { told.emplace_back("stream"); }
    void lost(core::error why) override { told.push_back("lost " + std::string{core::name(why.code)}); }
    void closed() override { told.emplace_back("closed"); }

    mcp::transport_observer* inner = nullptr;
    words told;
    int closes = 0;
    std::function<void()> on_long;
    std::vector<std::pair<std::string, std::function<void(std::shared_ptr<const mcp::read_text>)>>> asked;
    std::unique_ptr<mcp::transport> outer = mcp::reading_apart(
        [this](mcp::transport_observer& observer) { return std::make_unique<wire>(*this, observer); },
        [this](std::string text, auto done) { asked.emplace_back(std::move(text), std::move(done)); },
        largest
    )(*this);
};

const auto why = core::upstream_error(core::errc::upstream_reset);

}  // namespace

TEST_CASE("Only texts over the limit are read elsewhere, and what comes behind one is told behind it")
{
    apart_rig x;
    x.inner->received(text_of(mcp::read_at_once - 1, '1'));
    x.inner->received(text_of(mcp::read_at_once, '2'));
    CHECK(x.told == words{"1", "2"});
    CHECK(x.asked.empty());
    x.inner->received(text_of(mcp::read_at_once + 1, '3'));
    REQUIRE(x.asked.size() == 1);
    x.inner->received("4");
    x.inner->failed(5, why, std::nullopt);
    x.inner->refused("6", 1);
    x.inner->received(text_of(mcp::read_at_once + 1, '7'));
    x.inner->session_lost();
    x.inner->lost(why);
    CHECK(x.told == words{"1", "2"});
    x.read_next();
    CHECK(x.told == words{"1", "2", "long 3", "4", "failed 5", "refused 6"});
    x.read_next();
    CHECK(x.told.size() == 9);
    CHECK(x.told[6] == "long 7");
    CHECK(x.told.back() == "lost upstream_reset");
}

TEST_CASE("Who closes it, or lets go of it, while a text is being read hears of nothing but the end")
{
    apart_rig x;
    x.inner->received(text_of(mcp::read_at_once + 1));
    x.inner->received("b");
    SUBCASE("closed before")
    {
        x.outer->close(true);
        x.read_next();
        x.inner->closed();
        CHECK(x.closes == 1);
        CHECK(x.told == words{"closed"});
    }
    SUBCASE("closed by what it hears")
    {
        x.on_long = [&] { x.outer->close(true); };
        x.read_next();
        CHECK(x.told == words{"long a"});
    }
    SUBCASE("let go of by what it hears")
    {
        x.on_long = [&] { x.outer.reset(); };
        x.read_next();
        CHECK(x.told == words{"long a"});
    }
    SUBCASE("let go of before")
    {
        x.outer.reset();
        x.read_next();
        CHECK(x.told.empty());
    }
}

TEST_CASE("A server that says more than may wait behind a long text is lost, at the limit and not before")
{
    constexpr std::size_t piece = 1024 * 1024;
    constexpr std::size_t cost = piece + mcp::behind_cost;
    apart_rig x;
    x.inner->received(text_of(piece));
    std::size_t left = mcp::most_behind + mcp::largest_behind * apart_rig::largest - piece;
    for (; left > 2 * cost; left -= cost) {
        x.inner->received(text_of(piece));
    }
    SUBCASE("one byte more")
    {
        x.inner->received(text_of(left - mcp::behind_cost + 1));
    }
    SUBCASE("an empty one more")
    {
        x.inner->received(text_of(left - mcp::behind_cost));
        CHECK(x.told.empty());
        x.inner->received("");
    }
    CHECK(x.told == words{"lost upstream_protocol"});
    x.inner->received("z");
    x.read_next();
    CHECK(x.told.size() == 1);
}

TEST_SUITE_END();
