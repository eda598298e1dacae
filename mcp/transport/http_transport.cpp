#include "mcp/transport/http_transport.hpp"

#include "mcp/transport/http_post.hpp"
#include "mcp/transport/http_stream.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

namespace mcp {
namespace {

using core::errc;

// Whether it is no call, and a caller's as the other.
bool is_alike(const http_post& post, bool of_caller) noexcept
{
    return !post.is_call() && post.of_caller() == of_caller;
}

class http_transport final : public transport, private http_post_owner, private net::exchange_observer {
public:
    http_transport(
        net::loop& on,
        net::exchange_client& client,
        std::shared_ptr<const http_settings> settings,
        transport_observer& observer,
        std::function<void(core::error why)> refused
    )
        : settings_{std::move(settings)},
          wire_{on, client, *settings_},
          observer_{observer},
          refused_{std::move(refused)}
    {
    }

    void open() override
    {
        later([this] { observer_.connected(); });
    }

    core::result<> send(outgoing message) override;
    void settle(const dialect& speaks) override { wire_.speaks = speaks; }
    void answered_offloaded(std::uint64_t text_id) override;
    void open_stream(outgoing listen) override;
    void close(bool end_session) override;

private:
    // The reports of messages.
    void take(std::string_view text) override { observer_.received(text); }
    void settled(http_post& post) override;
    void over(http_post& post, std::optional<core::error> why, std::optional<era> says) override;
    void forgotten() override;

    // The reports of the request that ends the session.
    void headed(const net::exchange_head& head) override;
    void took(std::string_view piece) override;
    void ended(core::result<> how) override;

    void begin_anew();
    void drop_all();
    void cancel(std::uint64_t request);
    void advance();
    bool keep_cancellations();
    bool is_telling() const;
    void tell_end();
    void tell_closed();

    // Nothing of it when the transport has ended or was closed since.
    template <class Function>
    void later(Function then)
    {
        net::asio::post(wire_.on.get_executor(), [this, alive = std::weak_ptr<bool>{alive_}, then = std::move(then)] {
            if (!alive.expired() && !closing_) {
                then();
            }
        });
    }

    std::shared_ptr<const http_settings> settings_;
    http_wire wire_;
    transport_observer& observer_;
    std::function<void(core::error why)> refused_;
    bool first_ = true;       // nothing was sent
    bool forgotten_ = false;  // the session is lost, and no other begun
    bool closing_ = false;
    bool closed_ = false;
    std::deque<std::unique_ptr<http_post>> waiting_;
    std::deque<std::unique_ptr<http_post>> under_way_;
    std::unique_ptr<http_stream> stream_;
    std::unique_ptr<net::exchange> ending_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

core::result<> http_transport::send(outgoing message)
{
    if (message.text.size() > settings_->server.max_message) {
        return core::gateway_error(errc::body_too_large, "the message is over max_message");
    }
    if (message.method == "initialize" && !closing_) {
        begin_anew();
    }
    if (closing_ || forgotten_) {
        return core::upstream_error(errc::upstream_reset, "there is no session");
    }
    // In the older era a caller's request that is given up would wait for its answer all the same.
    if (message.cancels != 0 && (wire_.modern() || message.of_caller)) {
        cancel(message.cancels);
    }
    if (wire_.modern() && message.id == 0) {
        return {};
    }
    const bool call = message.of_caller && message.id != 0;
    const auto is_like = [&](const auto& each) { return !call && is_alike(*each, message.of_caller); };
    if (std::ranges::count_if(waiting_, is_like) >= std::ptrdiff_t{most_waiting_posts}) {
        return core::upstream_error(errc::overloaded, "too many messages wait for the server");
    }
    const bool first = std::exchange(first_, false);
    http_post_owner& owner = *this;
    waiting_.push_back(std::make_unique<http_post>(wire_, owner, std::move(message), first));
    advance();
    return {};
}

// The modern era has no answers and no notifications of clients over HTTP: a request ends with its exchange.
void http_transport::cancel(std::uint64_t request)
{
    const auto is = [request](const auto& each) { return each->id() == request; };
    std::erase_if(waiting_, is);
    std::erase_if(under_way_, is);
    advance();
}

// The first message of a session is accepted before the others.
void http_transport::advance()
{
    const auto begins = [](const auto& each) {
        return each->method() == "notifications/initialized" && !each->settled();
    };
    // Calls are as many as whoever sends them lets there be. What else callers say, such as answers to a server that asks without
    // end, has places of its own, and holds up no ping.
    const auto is_full = [this](bool of_callers, std::size_t most) {
        const auto takes_place = [of_callers](const auto& each) {
            return !each->settled() && is_alike(*each, of_callers);
        };
        return std::ranges::count_if(under_way_, takes_place) >= static_cast<std::ptrdiff_t>(most);
    };
    while (!waiting_.empty() && std::ranges::none_of(under_way_, begins)) {
        const bool own_full = is_full(false, most_posts);
        const bool notes_full = is_full(true, most_notes);
        const auto next = std::ranges::find_if(waiting_, [=](const auto& each) {
            return each->is_call() || !(each->of_caller() ? notes_full : own_full);
        });
        if (next == waiting_.end()) {
            return;
        }
        under_way_.push_back(std::move(*next));
        waiting_.erase(next);
        under_way_.back()->begin();
    }
}

void http_transport::answered_offloaded(std::uint64_t text_id)
{
    const auto is = [text_id](const auto& each) { return each->passed_unread() && each->answered_as() == text_id; };
    if (const auto found = std::ranges::find_if(under_way_, is); found != under_way_.end()) {
        (*found)->answered_offloaded();
    }
}

void http_transport::settled(http_post& /*post*/)
{
    advance();
    if (closing_ && !is_telling()) {
        tell_end();
    }
}

void http_transport::over(http_post& post, std::optional<core::error> why, std::optional<era> says)
{
    const auto id = post.id();
    const bool no_session_here = post.refused_initialize();
    const auto is = [&post](const auto& each) { return each.get() == &post; };
    std::erase_if(waiting_, is);
    std::erase_if(under_way_, is);
    advance();
    if (closing_) {
        if (!is_telling()) {
            tell_end();
        }
        return;
    }
    if (why && no_session_here && why->code == errc::upstream_status && says != era::modern && refused_) {
        const auto tell = refused_;
        return tell(std::move(*why));
    }
    if (why) {
        observer_.failed(id, std::move(*why), says);
    }
}

void http_transport::forgotten()
{
    forgotten_ = true;
    drop_all();
    wire_.forget_session();
    if (closing_) {
        return tell_closed();
    }
    observer_.session_lost();
}

void http_transport::drop_all()
{
    waiting_.clear();
    under_way_.clear();
    stream_.reset();
}

void http_transport::begin_anew()
{
    drop_all();
    wire_.forget_session();
    wire_.speaks.reset();
    forgotten_ = false;
}

void http_transport::open_stream(outgoing listen)
{
    if (closing_ || forgotten_) {
        return;
    }
    http_post_owner& owner = *this;
    stream_ = std::make_unique<http_stream>(wire_, owner, observer_, std::move(listen));
    stream_->begin();
}

void http_transport::close(bool end_session)
{
    if (std::exchange(closing_, true)) {
        return;
    }
    const bool ends = end_session && !wire_.session_id.empty() && !wire_.modern();
    if (ends && keep_cancellations()) {
        return;
    }
    drop_all();
    if (ends) {
        return tell_end();
    }
    net::asio::post(wire_.on.get_executor(), [this, alive = std::weak_ptr<bool>{alive_}] {
        if (!alive.expired()) {
            tell_closed();
        }
    });
}

// A call that was given up may go on behind the end of its session: its server hears of that first. False: there is none.
bool http_transport::keep_cancellations()
{
    const auto goes = [](const auto& each) { return each->method() != "notifications/cancelled" || each->settled(); };
    std::erase_if(waiting_, goes);
    std::erase_if(under_way_, goes);
    stream_.reset();
    for (auto* const posts : {&waiting_, &under_way_}) {
        for (const auto& each : *posts) {
            each->await(settings_->end_session_timeout);
        }
    }
    advance();
    return is_telling();
}

bool http_transport::is_telling() const
{
    const auto open = [](const auto& each) { return !each->settled(); };
    return !waiting_.empty() || std::ranges::any_of(under_way_, open);
}

void http_transport::tell_end()
{
    if (ending_ != nullptr || closed_) {
        return;
    }
    auto request = wire_.request("DELETE", nullptr);
    request.head_timeout = settings_->end_session_timeout;
    wire_.show_token(request);  // nothing waits for another one
    wire_.show_cookies(request);
    ending_ = wire_.client.start(std::move(request), *this);
}

void http_transport::headed(const net::exchange_head& /*head*/)
{
    tell_closed();
}

void http_transport::took(std::string_view /*piece*/) {}

void http_transport::ended(core::result<> /*how*/)
{
    tell_closed();
}

void http_transport::tell_closed()
{
    if (!std::exchange(closed_, true)) {
        ending_.reset();
        observer_.closed();
    }
}

}  // namespace

std::unique_ptr<transport> make_http_transport(
    net::loop& on,
    net::exchange_client& client,
    std::shared_ptr<const http_settings> settings,
    transport_observer& observer,
    std::function<void(core::error why)> refused
)
{
    return std::make_unique<http_transport>(on, client, std::move(settings), observer, std::move(refused));
}

}  // namespace mcp
