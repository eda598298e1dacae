// The stream of a server's own messages over streamable HTTP: a GET, made again when it has ended, for as long as this lives, or
// `subscriptions/listen` in the modern era, of which each needs an id of its own. Seen by http_transport.cpp only.
#pragma once

#include "mcp/transport/http_post.hpp"
#include "mcp/transport/http_wire.hpp"
#include "mcp/transport/transport.hpp"
#include "net/client/exchange.hpp"
#include "net/sse/sse_events.hpp"

#include <memory>
#include <optional>
#include <string>

namespace mcp {

class http_stream final : private net::exchange_observer {
public:
    // `listen`: the request for it, which is sent once; empty: a GET. `observer` hears what comes; `owner` hears that the session is
    // forgotten, and nothing else. References outlive it, and each report may destroy it.
    http_stream(http_wire& wire, http_post_owner& owner, transport_observer& observer, outgoing listen);
    ~http_stream() override = default;
    http_stream(const http_stream&) = delete;
    http_stream& operator=(const http_stream&) = delete;

    void begin();

private:
    void headed(const net::exchange_head& head) override;
    void took(std::string_view piece) override;
    void ended(core::result<> how) override;

    void start();
    bool follow(const net::exchange_head& head);
    bool gets() const noexcept { return listen_.text.empty(); }
    void tell(stream_news news);
    void none_offered();
    void judge();
    void retry();
    void begin_after(core::duration delay);

    http_wire& wire_;
    http_post_owner& owner_;
    transport_observer& observer_;
    outgoing listen_;
    net::sse_reader events_;
    bool streams_ = false;
    bool named_session_ = false;
    unsigned status_ = 0;
    http_course course_;
    std::string body_;       // of what is no stream
    unsigned failures_ = 0;  // in a row
    core::steady_time stands_since_{};
    bool gap_ = false;  // what was said since it ended in order was not heard
    std::optional<stream_news> told_;
    loop_timer pause_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    std::unique_ptr<net::exchange> exchange_;
};

}  // namespace mcp
