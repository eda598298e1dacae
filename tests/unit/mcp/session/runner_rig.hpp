// A runner with a server instead of a real one, and what it tells.
#pragma once

#include "mcp/session/session_runner.hpp"
#include "tests/support/script.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace mcp_test {

using mcp::session_reason;
using mcp::session_state;

class kept_log final : public core::log_sink {
public:
    void write(std::string_view lines) override { text.append(lines) += '\n'; }

    std::string text;
};

// A server instead of a real one: what it is sent is kept, what it says is the test's.
class scripted_server {
public:
    struct line {
        std::string method;
        std::string id;
        std::string text;
    };

    class wire final : public mcp::transport {
    public:
        wire(scripted_server& server, mcp::transport_observer& observer)
            : server_{server},
              observer_{observer}
        {
        }
        ~wire() override { std::erase(server_.wires, this); }

        void open() override
        {
            ++server_.opened;
            if (server_.stuck) {
                return;
            }
            server_.later(*this, [this] {
                if (server_.down) {
                    observer_.lost(core::upstream_error(core::errc::upstream_refused, "nobody there"));
                } else {
                    observer_.connected();
                }
            });
        }
        core::result<> send(mcp::outgoing what) override
        {
            server_.sent.push_back({what.method, std::to_string(what.id), what.text});
            const auto& last = server_.sent.back();
            if (server_.answer) {
                if (auto text = server_.answer(last); !text.empty()) {
                    server_.later(*this, [this, text = std::move(text)] { observer_.received(text); });
                }
            }
            return {};
        }
        void set_trial(bool on) override { server_.trials.push_back(on); }
        std::string last_words() const override { return server_.last_words; }
        void settle(const mcp::dialect& speaks) override { server_.settled = speaks.version; }
        void open_stream(mcp::outgoing listen) override
        {
            ++server_.streams;
            server_.listens.push_back(listen.id);
        }
        void close(bool end_session) override
        {
            server_.ended_sessions += end_session ? 1 : 0;
            if (!server_.holds_ends || this != server_.wires.front()) {
                server_.later(*this, [this] { observer_.closed(); });
            }
        }

        mcp::transport_observer& observer() { return observer_; }

    private:
        scripted_server& server_;
        mcp::transport_observer& observer_;
    };

    explicit scripted_server(net::loop& loop)
        : loop_{loop}
    {
    }

    mcp::transport_factory factory()
    {
        return [this](mcp::transport_observer& observer) -> std::unique_ptr<mcp::transport> {
            auto made = std::make_unique<wire>(*this, observer);
            wires.push_back(made.get());
            return made;
        };
    }

    template <class Function>
    void later(wire& which, Function then)
    {
        boost::asio::post(loop_.get_executor(), [this, &which, then = std::move(then)] {
            if (std::ranges::find(wires, &which) != wires.end()) {
                then();
            }
        });
    }

    void say(const std::string& text) { wires.back()->observer().received(text); }

    std::vector<std::string> methods() const
    {
        std::vector<std::string> all;
        for (const auto& each : sent) {
            all.push_back(each.method);
        }
        return all;
    }

    std::function<std::string(const line&)> answer;
    std::vector<wire*> wires;
    std::vector<line> sent;
    std::vector<std::uint64_t> listens;  // the ids of the requests for streams
    std::string settled;
    std::string last_words;
    std::vector<bool> trials;  // what was told of each connection
    bool down = false;
    bool stuck = false;       // nothing comes of what is opened
    bool holds_ends = false;  // of the first connection that is left
    int opened = 0;
    int streams = 0;
    int ended_sessions = 0;

private:
    net::loop& loop_;
};

inline std::string result(const scripted_server::line& to, const std::string& what)
{
    return R"({"jsonrpc":"2.0","id":)" + to.id + R"(,"result":)" + what + "}";
}

inline std::string failure(const scripted_server::line& to, int code)
{
    return R"({"jsonrpc":"2.0","id":)" + to.id + R"(,"error":{"code":)" + std::to_string(code) +
           R"(,"message":"Method not found"}})";
}

inline std::string unknown(const scripted_server::line& to)
{
    return failure(to, -32601);
}

// Of the legacy era, with tools and nothing else.
inline std::function<std::string(const scripted_server::line&)> server_with(const std::string* tools)
{
    return [tools](const scripted_server::line& asked) -> std::string {
        if (asked.method == "initialize") {
            return result(
                asked,
                R"({"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},)"
                R"("serverInfo":{"name":"s","version":"1"}})"
            );
        }
        if (asked.method == "tools/list") {
            return result(asked, R"({"tools":)" + *tools + "}");
        }
        if (asked.method == "ping") {
            return result(asked, "{}");
        }
        return asked.id == "0" ? "" : unknown(asked);
    };
}

class rig : public mcp::runner_observer {
public:
    rig()
    {
        std::signal(SIGPIPE, SIG_IGN);
        settings.states.backoff_first = core::duration{20};
        settings.states.backoff_longest = core::duration{40};
        settings.states.debounce = core::duration{5};
        server.answer = server_with(&tools);
    }

    // What is posted holds wires, which speak to their server when they end.
    ~rig() override
    {
        runner.reset();
        loop.io().restart();
        loop.io().poll();
    }
    rig(const rig&) = delete;
    rig& operator=(const rig&) = delete;

    void session_changed(session_state state, session_reason why) override { states.emplace_back(state, why); }
    void listed(std::shared_ptr<const mcp::server_lists> what) override { published.push_back(std::move(what)); }
    void walked(const core::result<mcp::walk_outcome>& how) override { walks.push_back(how); }

    void start() { start(server.factory()); }
    void start(mcp::transport_factory made)
    {
        runner = mcp::session_runner::make(loop, settings, std::move(made), *this, log, "agent");
        runner->begin();
    }

    bool wait_until(const std::function<bool()>& reached)
    {
        const auto by = std::chrono::steady_clock::now() + test_support::patience;
        while (!reached() && std::chrono::steady_clock::now() < by) {
            loop.io().restart();
            loop.io().run_for(std::chrono::milliseconds{2});
        }
        return reached();
    }

    bool wait_for(session_state state)
    {
        return wait_until([&] { return runner->state() == state; });
    }

    std::string tools = R"([{"name":"a","inputSchema":{}}])";
    net::loop loop;
    scripted_server server{loop};
    mcp::runner_settings settings;
    kept_log sink;
    core::logger log{sink, core::log_level::debug};
    std::vector<std::pair<session_state, session_reason>> states;
    std::vector<std::shared_ptr<const mcp::server_lists>> published;
    std::vector<core::result<mcp::walk_outcome>> walks;
    std::shared_ptr<mcp::session_runner> runner;
};

}  // namespace mcp_test
