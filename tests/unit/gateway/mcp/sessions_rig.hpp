// Sessions with programs whose lines are the test's, on a loop and a clock of its own.
#pragma once

#include "gateway/mcp/programs/program_sessions.hpp"
#include "mcp/transport/stdio_transport.hpp"
#include "tests/support/script.hpp"
#include "tests/unit/mcp/calls/client_texts.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mcp_path_test {

using namespace std::chrono_literals;
using core::errc;
using gateway::mcp::programs::begun_session;
using gateway::mcp::programs::program_sessions;
using gateway::mcp::table::session_key;
using gateway::mcp::table::text_queue;
using gateway::model::session_end;
using mcp_test::client_text;
using reader = std::shared_ptr<text_queue>;

inline std::string message(const std::string& id, const std::string& method, const std::string& params = "{}")
{
    return R"({"jsonrpc":"2.0",)" + (id.empty() ? "" : R"("id":)" + id + ",") + R"("method":")" + method +
           R"(","params":)" + params + "}";
}

inline std::string answer_text(const std::string& id, const std::string& result = "{}")
{
    return R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":)" + result + "}";
}

inline const std::string opening = message(
    "0",
    "initialize",
    R"({"protocolVersion":"2025-11-25","capabilities":{"elicitation":{},"roots":{}},"clientInfo":{"name":"c","version":"1.0"}})"
);

inline const std::string opened = answer_text(
    "0",
    R"({"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"prompts":{}},"serverInfo":{"name":"s"}})"
);

class quiet final : public core::log_sink {
public:
    void write(std::string_view lines) override { text.append(lines) += '\n'; }
    std::string text;
};

// Programs instead of real ones, in the order of their start.
class fake_programs {
public:
    class fake final : public mcp::transport {
    public:
        fake(fake_programs& of, mcp::transport_observer& observer)
            : of_{of},
              observer_{observer}
        {
            of_.alive.push_back(this);
        }
        ~fake() override { std::erase(of_.alive, this); }

        void open() override
        {
            of_.started.push_back(this);
            number_ = of_.started.size() - 1;
            of_.lines.emplace_back();
            later([this] {
                if (of_.broken) {
                    observer_.lost(core::upstream_error(errc::session_misconfigured, "no such program"));
                } else {
                    observer_.connected();
                }
            });
        }
        core::result<> send(mcp::outgoing sent) override
        {
            if (of_.refuses) {
                return *of_.refuses;
            }
            of_.lines[number_].push_back(sent.text);
            of_.messages.push_back(sent);
            if (of_.opens && sent.text.find(R"("method":"initialize")") != std::string::npos) {
                later([this] { observer_.received(of_.opened); });
            }
            return {};
        }
        void settle(const mcp::dialect& /*speaks*/) override {}
        void open_stream(mcp::outgoing /*listen*/) override { ++of_.streams; }
        void close(bool /*end_session*/) override
        {
            ++of_.closed;
            const bool runs = std::ranges::find(of_.started, this) != of_.started.end();
            if (of_.exits || !runs) {
                later([this] { observer_.closed(); });
            }
        }

        mcp::transport_observer& observer() { return observer_; }

    private:
        template <class Function>
        void later(Function then)
        {
            boost::asio::post(of_.loop.get_executor(), [&of = of_, this, then = std::move(then)] {
                if (std::ranges::find(of.alive, this) != of.alive.end()) {
                    then();
                }
            });
        }

        fake_programs& of_;
        mcp::transport_observer& observer_;
        std::size_t number_ = 0;
    };

    explicit fake_programs(net::loop& on)
        : loop{on}
    {
    }

    mcp::transport_factory factory()
    {
        return [this](mcp::transport_observer& observer) { return std::make_unique<fake>(*this, observer); };
    }

    void say(const std::string& text, std::size_t number = 0) { started[number]->observer().received(text); }
    void fail(std::uint64_t call, std::size_t number = 0)
    {
        started[number]->observer().failed(call, core::upstream_error(errc::upstream_status, "status 500"), {});
    }
    void die(std::size_t number = 0)
    {
        started[number]->observer().lost(core::upstream_error(errc::session_crashed, "signal 9"));
    }
    void exit(std::size_t number) { started[number]->observer().closed(); }
    bool runs(std::size_t number) const { return std::ranges::find(alive, started[number]) != alive.end(); }

    net::loop& loop;
    std::vector<fake*> alive;
    std::vector<fake*> started;
    std::vector<std::vector<std::string>> lines;  // that each was sent
    std::vector<mcp::outgoing> messages;          // to any
    std::string opened = mcp_path_test::opened;
    bool opens = true;    // each answers `initialize` by itself
    bool broken = false;  // none starts
    bool exits = true;    // each does when it is to end; else by exit()
    std::optional<core::error> refuses;
    int closed = 0;
    int streams = 0;  // of what is said unasked that were asked for
};

class rig {
public:
    rig()
    {
        std::signal(SIGPIPE, SIG_IGN);
        loop.timers().start();
        loop.ready().start();
    }
    ~rig()
    {
        sessions.reset();
        poll();
    }
    rig(const rig&) = delete;
    rig& operator=(const rig&) = delete;

    std::shared_ptr<gateway::model::agent_entry> new_entry() const
    {
        auto entry = std::make_shared<gateway::model::agent_entry>();
        entry->record.id = "a";
        entry->record.mcp = server;
        entry->record.card = card;
        return entry;
    }

    void poll()
    {
        loop.io().restart();
        loop.io().poll();
    }

    bool wait_until(const std::function<bool()>& reached)
    {
        const auto by = std::chrono::steady_clock::now() + test_support::patience;
        while (!reached() && std::chrono::steady_clock::now() < by) {
            loop.io().restart();
            loop.io().run_for(2ms);
        }
        return reached();
    }

    // A session that is open.
    std::string begin(const std::optional<std::string>& whose = std::nullopt)
    {
        auto begun = sessions->begin(new_entry(), whose.value_or(principal), client_text{opening});
        if (!begun) {
            return std::string{core::name(begun.error().code)};
        }
        poll();
        sent_initialize = begun->answer->take();
        return begun->handle;
    }

    session_key key(const std::string& handle) const { return {handle, "a", principal}; }

    reader request(const std::string& handle, const std::string& text)
    {
        auto asked = sessions->request(key(handle), client_text{text});
        poll();
        return asked ? *asked : nullptr;
    }

    void tell(const std::string& handle, const std::string& text)
    {
        const auto told = sessions->tell(key(handle), client_text{text});
        if (!told) {
            troubles.push_back(told.error().code);
        }
        poll();
    }

    void after(core::duration time)
    {
        now += time;
        sessions->sweep(now);
        poll();
    }

    std::uint64_t ended(session_end why) const { return sessions->counts().ended[static_cast<std::size_t>(why)]; }

    net::loop loop;
    mcp::start_turns turns{loop, 4, 1h};
    quiet sink;
    core::logger log{sink, core::log_level::debug};
    fake_programs programs{loop};
    core::steady_time now{100h};
    std::string principal = "p";  // of sessions whose test does not say; empty: callers are not told apart
    std::string card;             // inline; empty: none
    bool modern = false;          // what is known of the server
    core::mcp_server server = [] {
        core::mcp_server made;
        made.transport = core::mcp_transport::stdio;
        made.warm = 0;
        return made;
    }();
    std::function<mcp::transport_factory(const gateway::model::agent_entry&)> reach =
        [this](const gateway::model::agent_entry&) { return programs.factory(); };
    std::unique_ptr<program_sessions> sessions =
        std::make_unique<program_sessions>(gateway::mcp::table::local_session_services{
            loop,
            turns,
            [this](const gateway::model::agent_entry& agent) { return reach(agent); },
            [this](const core::agent&) { return modern; },
            [this] { return now; },
            log,
        });
    std::optional<std::string> sent_initialize;  // its answer
    std::vector<errc> troubles;
};

// What waits; "over", or the failure's name, if nothing comes any more; "" if nothing has come yet.
inline std::string next(const reader& from)
{
    if (from == nullptr) {
        return "refused";
    }
    if (auto text = from->take()) {
        return *text;
    }
    if (!from->over()) {
        return "";
    }
    return from->failure() ? std::string{core::name(from->failure()->code)} : "over";
}

}  // namespace mcp_path_test
