// A transport over HTTP and the loop it lives on, driven by a test, and all that it tells, in words.
#pragma once

#include "mcp/transport/http_transport.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcp_test {

using words = std::vector<std::string>;

inline std::string result_of(std::uint64_t id)
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"result":{}})";
}

inline std::string error_of(std::uint64_t id, int code, const std::string& text)
{
    return R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"error":{"code":)" + std::to_string(code) +
           R"(,"message":")" + text + R"("}})";
}

inline const std::string notice = R"({"jsonrpc":"2.0","method":"notifications/tools/list_changed"})";

inline const mcp::dialect modern{"2026-07-28", {}};

inline mcp::outgoing ask(std::uint64_t id, std::string method, std::string name = {})
{
    auto text = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"("})";
    return {std::move(text), id, std::move(method), std::move(name)};
}

inline mcp::outgoing note(std::string method)
{
    auto text = R"({"jsonrpc":"2.0","method":")" + method + R"("})";
    return {std::move(text), 0, std::move(method)};
}

// Streamable HTTP alone, without the fallback to HTTP+SSE.
inline mcp::transport_factory http_factory(net::loop& on, net::exchange_client& client, mcp::http_settings settings)
{
    return [&on, &client, settings = std::make_shared<const mcp::http_settings>(std::move(settings))](
               mcp::transport_observer& observer
           ) { return mcp::make_http_transport(on, client, settings, observer, {}); };
}

class transport_rig : public mcp::transport_observer {
public:
    explicit transport_rig(std::string url)
    {
        std::signal(SIGPIPE, SIG_IGN);
        loop.timers().start();
        loop.ready().start();
        settings.url = std::move(url);
        settings.first_retry = core::duration{10};
        settings.shortest_retry = core::duration{1};
        settings.longest_retry = core::duration{40};
    }

    // Once the settings are what the test wants.
    void open(bool sse = false)
    {
        open(sse ? mcp::sse_factory(loop, client, settings) : http_factory(loop, client, settings));
    }
    void open(const mcp::transport_factory& made)
    {
        wire = made(*this);
        wire->open();
    }

    // Opened, and a session begun if the server has them.
    void begin()
    {
        open();
        REQUIRE(wait_for("connected"));
        REQUIRE(wire->send(ask(1, "initialize")).has_value());
        REQUIRE(wait_for("received " + result_of(1)));
        wire->settle({});
        told.clear();
    }

    void connected() override { tell("connected"); }
    void received(std::string_view text) override { tell("received " + std::string{text}); }
    void refused(std::string_view beginning, std::size_t) override { tell("refused " + std::string{beginning}); }
    void failed(std::uint64_t request, core::error why, std::optional<mcp::era> says) override
    {
        why_failed = why.detail;
        tell(
            "failed " + std::to_string(request) + " " + std::string{core::name(why.code)} +
            (says ? " " + std::string{mcp::name(*says)} : std::string{})
        );
    }
    void session_lost() override { tell("session_lost"); }
    void stream_changed(mcp::stream_news what) override
    {
        tell(
            what == mcp::stream_news::stands ? "stream up"
            : what == mcp::stream_news::gone ? "stream down"
                                             : "no stream"
        );
    }
    void lost(core::error why) override { tell("lost " + std::string{core::name(why.code)}); }
    void closed() override { tell("closed"); }

    bool has(std::string_view what) const { return std::ranges::find(told, what) != told.end(); }
    bool wait_until(const std::function<bool()>& reached)
    {
        const auto by = std::chrono::steady_clock::now() + test_support::patience;
        while (!reached() && std::chrono::steady_clock::now() < by) {
            run_for(std::chrono::milliseconds{2});
        }
        return reached();
    }
    bool wait_for(std::string_view what)
    {
        const bool came = wait_until([&] { return has(what); });
        if (!came) {
            for (const auto& each : told) {
                MESSAGE("told: ", each);
            }
        }
        return came;
    }
    void run_for(std::chrono::milliseconds some)
    {
        loop.io().restart();
        turns += loop.io().run_for(some);
    }

    net::loop loop;
    net::exchange_client client{loop, "cardea/1"};
    mcp::http_settings settings;
    words told;
    std::size_t turns = 0;  // of the loop; a timer that ends or is started again is one
    std::string why_failed;
    std::function<void(const std::string&)> on_word;
    std::unique_ptr<mcp::transport> wire;

private:
    void tell(std::string what)
    {
        told.push_back(what);
        if (on_word) {
            on_word(what);
        }
    }
};

inline test_support::handler always(test_support::script what)
{
    return [what = std::move(what)](const test_support::recorded_request&) { return what; };
}

// A stream with these events, ended in order.
inline test_support::script events(std::string text, test_support::field_list more = {})
{
    more.emplace_back("Content-Type", "text/event-stream");
    return test_support::answer(200, std::move(text), std::move(more));
}

inline std::string event(const std::string& data, const std::string& id = {})
{
    return (id.empty() ? "" : "id: " + id + "\n") + "data: " + data + "\n\n";
}

// Begins sessions; all else is the test's.
inline test_support::handler in_session(test_support::handler rest)
{
    return [rest = std::move(rest)](const test_support::recorded_request& asked) {
        if (asked.body.find("\"initialize\"") != std::string::npos) {
            return test_support::answer_json(result_of(1), {{"Mcp-Session-Id", "s-1"}});
        }
        return rest(asked);
    };
}

}  // namespace mcp_test
