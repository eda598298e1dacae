// The resources that one client of the legacy era is subscribed to on a server of the modern one: one `subscriptions/listen` for all
// of them, made again when they change (MCP 2026-07-28, basic/patterns/subscriptions). On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/eras/legacy_client_calls.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "mcp/calls/client_message.hpp"
#include "mcp/translation/modern_messages.hpp"
#include "net/loop/shared_budget.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp::eras {

class session_subscriptions {
public:
    static constexpr std::size_t most = 1000;
    static constexpr std::size_t most_bytes = 256 * 1024;  // of all URIs, which go up again with each change
    static constexpr std::size_t most_asking = 64;         // requests that the server has not acknowledged
    static constexpr std::size_t longest_uri = 4096;
    // Before one that has ended is made again; doubles until one has lived for the longest.
    static constexpr core::duration shortest_pause{1'000};
    static constexpr core::duration longest_pause{30'000};
    static constexpr core::duration spread{10'000
    };  // behind it: the sessions that a server loses come back one after the other

    struct services {
        std::function<core::steady_time()> clock;
        modern_upstream ask;
        std::function<void(std::string text)> say;  // to whoever listens to what is said unasked
        core::duration patience;                    // with a server that does not acknowledge
        double late = 0;                            // from [0, 1): when in the spread
        net::shared_budget* kept = nullptr;         // bytes, of what is kept for all sessions; null: without limit
    };

    // `terms` outlive it.
    session_subscriptions(services with, const ::mcp::client_terms& terms);
    session_subscriptions(const session_subscriptions&) = delete;
    session_subscriptions& operator=(const session_subscriptions&) = delete;

    // `resources/subscribe`, answered when the server has acknowledged it: with -32602 if it does not tell of this resource, and
    // as the server refuses. What comes fails as modern_program::request(), with upstream_timeout and with overloaded (a limit
    // above is reached, or no more may be kept).
    void subscribe(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader);

    // `resources/unsubscribe`, answered at once, and with it whoever still waits to be subscribed to that resource.
    void unsubscribe(const ::mcp::client_message& request, table::text_queue& reader);

    // One that has ended is made again, and one that nobody acknowledges ends.
    void sweep();

    bool any() const noexcept { return !uris_.empty() || !asking_.empty(); }

    // All of them end, and none is made again.
    void stop(const core::error& why);

private:
    // The URI is one of uris_.
    struct asking {
        std::string id;  // of the client's request, raw
        std::string uri;
        std::weak_ptr<table::text_queue> reader;
        bool sent;  // next_ asks for it; else the one after that
    };

    core::result<> add(const ::mcp::client_message& request, const std::string& uri);
    void remove(std::string_view uri);
    void change();
    void listen();
    void look();
    void look_at_next();
    void take(std::string_view text);
    void acknowledged(std::string_view text);
    void refused(std::string_view answer);
    std::vector<asking> take_sent();
    void ended();
    void fail(const core::error& why);

    services with_;
    const ::mcp::client_terms& terms_;
    net::budget_share kept_;
    std::set<std::string, std::less<>> uris_;
    std::size_t bytes_ = 0;                                    // of uris_
    std::vector<std::pair<std::string, std::string>> fields_;  // of the latest request's header, for the server
    std::vector<asking> asking_;
    std::shared_ptr<table::text_queue> current_;  // null: none is acknowledged
    std::shared_ptr<table::text_queue> next_;     // not acknowledged yet; null: none is
    bool again_ = false;                          // uris_ has changed since next_ was sent
    core::steady_time since_;                     // next_ was sent
    core::steady_time acknowledged_at_;           // current_ was
    core::steady_time again_at_ = core::steady_time::max();
    core::duration pause_ = shortest_pause;
    bool lost_ = false;  // one has ended, and what the server would have said since then was not heard
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::eras
