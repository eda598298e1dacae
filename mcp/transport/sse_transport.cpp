#include "core/url.hpp"
#include "mcp/protocol/read_text.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/transport/http_transport.hpp"
#include "net/sse/sse_events.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

namespace mcp {
namespace {

using core::errc;

constexpr const char* no_endpoint = "no endpoint was named";

class sse_transport;

// A message on its way to the endpoint.
class sse_post final : private net::exchange_observer {
public:
    // References outlive it.
    sse_post(sse_transport& owner, outgoing message, http_wire& wire, std::string& endpoint)
        : owner_{owner},
          message_{std::move(message)},
          text_{std::make_shared<const std::string>(std::move(message_.text))},
          wire_{wire},
          endpoint_{endpoint},
          deadline_{wire.on.io()}
    {
    }

    void begin()
    {
        course_ = {endpoint_};
        deadline_.expires_after(patience_for(message_, wire_.settings.server));
        deadline_.async_wait([this, alive = std::weak_ptr{alive_}](net::error_code cancelled) {
            if (!cancelled && !alive.expired()) {
                on_deadline();
            }
        });
        start();
    }

    std::uint64_t id() const noexcept { return message_.id; }
    const std::string& method() const noexcept { return message_.method; }

    // This may be its answer, before the word that it was taken.
    void note_answer(std::uint64_t to) noexcept { answered_ = answered_ || (!message_.of_caller && id() == to); }
    bool answered() const noexcept { return answered_; }
    bool taken() const noexcept { return status_ >= 200 && status_ < 300; }
    bool of_caller() const noexcept { return message_.of_caller; }

private:
    void start()
    {
        auto request = wire_.post(message_, text_);
        request.url = course_.at;
        exchange_ = wire_.start(std::move(request), *this);
    }

    bool follow(const net::exchange_head& head)
    {
        const bool leads = course_.at == endpoint_;
        if (!course_.follow(head)) {
            return false;
        }
        if (leads) {
            endpoint_ = course_.at;
        }
        start();
        return true;
    }

    void headed(const net::exchange_head& head) override;
    void took(std::string_view piece) override
    {
        if (!taken()) {
            body_ += piece;  // why not
        }
    }
    void ended(core::result<> how) override;
    void on_deadline();

    sse_transport& owner_;
    outgoing message_;  // without its text
    std::shared_ptr<const std::string> text_;
    http_wire& wire_;
    std::string& endpoint_;
    http_course course_;
    loop_timer deadline_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    unsigned status_ = 0;
    bool answered_ = false;
    std::string refusal_;
    std::string body_;
    std::unique_ptr<net::exchange> exchange_;
};

class sse_transport final : public transport, private net::exchange_observer {
public:
    sse_transport(
        net::loop& on,
        net::exchange_client& client,
        std::shared_ptr<const http_settings> settings,
        transport_observer& observer
    )
        : settings_{std::move(settings)},
          wire_{on, client, *settings_},
          observer_{observer},
          events_{static_cast<std::size_t>(settings_->server.max_message)},
          deadline_{on.io()}
    {
    }

    void open() override;
    core::result<> send(outgoing message) override;
    void settle(const dialect& speaks) override { wire_.speaks = speaks; }
    void answered_offloaded(std::uint64_t text_id) override;
    void open_stream(outgoing /*listen*/) override {}
    void close(bool end_session) override;

    // The POST is over, one way or the other; `why`: it was not accepted. May destroy it.
    void over(sse_post& post, std::optional<core::error> why, std::optional<era> says);

    // The next message may go.
    void advance();

private:
    void headed(const net::exchange_head& head) override;
    void took(std::string_view piece) override;
    void ended(core::result<> how) override;

    // False: it is no event of this transport, which is lost.
    bool take(const net::sse_event& event);
    bool take_endpoint(std::string_view reference);
    void take_message(const std::string& text);
    void lose(core::error why);
    void end();

    std::shared_ptr<const http_settings> settings_;
    http_wire wire_;
    transport_observer& observer_;
    net::sse_reader events_;
    std::string endpoint_;  // empty: not known yet
    unsigned redirects_ = 0;
    bool streams_ = false;
    bool over_ = false;
    std::uint64_t first_ = 0;  // the first request
    std::deque<std::unique_ptr<sse_post>> waiting_;
    std::deque<std::unique_ptr<sse_post>> under_way_;
    loop_timer deadline_;  // of the endpoint
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    std::unique_ptr<net::exchange> stream_;
};

void sse_post::headed(const net::exchange_head& head)
{
    wire_.take_cookies(course_.at, head);
    if (follow(head)) {
        return;
    }
    status_ = head.status;
    refusal_ = refusal_text(head, message_.method, wire_.settings);
    if (taken()) {
        owner_.advance();
    }
}

void sse_post::ended(core::result<> how)
{
    if (taken() || !how) {
        auto why = taken() ? std::nullopt : std::optional{how.error()};
        return owner_.over(*this, std::move(why), std::nullopt);
    }
    const auto read = read_message(body_, {.bytes = read_at_once});  // a longer one says nothing that we know
    // A call that is refused says nothing of other calls, and what the server says of it may be what the caller has said.
    const auto code = message_.of_caller ? errc::upstream_status : refusal_code(status_);
    const auto quoted = message_.of_caller ? std::string{} : refusal_body(status_, body_, wire_.settings);
    owner_.over(
        *this,
        core::upstream_error(code, refusal_ + quoted),
        era_of_http_answer(status_, read ? &*read : nullptr)
    );
}

// The rest of this answer is of no interest: the answer to the message comes on the stream.
void sse_post::on_deadline()
{
    if (taken()) {
        return owner_.over(*this, std::nullopt, std::nullopt);
    }
    owner_.over(*this, core::upstream_error(errc::upstream_timeout, "no answer to " + message_.method), std::nullopt);
}

void sse_transport::open()
{
    deadline_.expires_after(settings_->server.request_timeout);
    deadline_.async_wait([this, alive = std::weak_ptr{alive_}](net::error_code cancelled) {
        if (!cancelled && !alive.expired() && endpoint_.empty()) {
            lose(core::upstream_error(errc::upstream_timeout, no_endpoint));
        }
    });
    stream_ = wire_.start(wire_.listen({}), *this);
}

core::result<> sse_transport::send(outgoing message)
{
    if (message.text.size() > settings_->server.max_message) {
        return core::gateway_error(errc::body_too_large, "the message is over max_message");
    }
    if (over_ || endpoint_.empty()) {
        return core::upstream_error(errc::upstream_reset, "there is no connection");
    }
    const auto is_like = [&message](const auto& each) { return each->of_caller() == message.of_caller; };
    if (std::ranges::count_if(waiting_, is_like) >= std::ptrdiff_t{most_waiting_posts}) {
        return core::upstream_error(errc::overloaded, "too many messages wait for the server");
    }
    first_ = first_ == 0 ? message.id : first_;
    waiting_.push_back(std::make_unique<sse_post>(*this, std::move(message), wire_, endpoint_));
    advance();
    return {};
}

void sse_transport::advance()
{
    const auto begins = [](const auto& each) {
        return each->method() == "notifications/initialized" && !each->taken();
    };
    // Callers' messages have places of their own, so that they hold up no ping.
    const auto may_go = [this](const auto& each) {
        const auto is_like = [&each](const auto& other) { return other->of_caller() == each->of_caller(); };
        return std::ranges::count_if(under_way_, is_like) < std::ptrdiff_t{most_posts};
    };
    while (std::ranges::none_of(under_way_, begins)) {
        const auto next = std::ranges::find_if(waiting_, may_go);
        if (next == waiting_.end()) {
            return;
        }
        under_way_.push_back(std::move(*next));
        waiting_.erase(next);
        under_way_.back()->begin();
    }
}

void sse_transport::over(sse_post& post, std::optional<core::error> why, std::optional<era> says)
{
    const auto id = post.id();
    const bool answered = post.answered();
    std::erase_if(under_way_, [&post](const auto& each) { return each.get() == &post; });
    advance();
    if (why && !answered) {
        observer_.failed(id, std::move(*why), id != 0 && id == first_ ? says : std::nullopt);
    }
}

void sse_transport::headed(const net::exchange_head& head)
{
    wire_.take_cookies(wire_.url(), head);
    auto target = redirects_ < most_redirects ? redirect_target(wire_.url(), head) : std::string{};
    if (!target.empty()) {
        ++redirects_;
        wire_.moved_to = std::move(target);
        stream_ = wire_.start(wire_.listen({}), *this);
        return;
    }
    streams_ = head.status == 200 && head.has_type("text/event-stream");
    if (!streams_) {
        lose(core::upstream_error(
            head.status == 200 ? errc::upstream_protocol : refusal_code(head.status),
            refusal_text(head, "GET", *settings_) + ", and no stream of events"
        ));
    }
}

void sse_transport::took(std::string_view piece)
{
    const std::weak_ptr<bool> alive{alive_};
    events_.feed(piece);
    while (const auto event = events_.next()) {
        const bool taken = take(*event);
        if (alive.expired() || over_) {
            return;
        }
        if (!taken) {
            return lose(core::upstream_error(errc::upstream_protocol, "no endpoint of the same origin was named first")
            );
        }
    }
    if (events_.too_large()) {
        lose(core::upstream_error(errc::message_too_large, "an event is over max_message"));
    }
}

bool sse_transport::take(const net::sse_event& event)
{
    if (event.type == "endpoint") {
        return !endpoint_.empty() || take_endpoint(event.data);
    }
    if (!event.type.empty() && event.type != "message") {
        return true;
    }
    if (endpoint_.empty()) {
        return false;
    }
    take_message(event.data);
    return true;
}

bool sse_transport::take_endpoint(std::string_view reference)
{
    auto resolved = core::resolved(wire_.url(), reference);
    const auto origin = core::origin_of(resolved);
    if (origin.empty() || origin != core::origin_of(settings_->url)) {
        return false;
    }
    endpoint_ = std::move(resolved);
    deadline_.cancel();
    observer_.connected();
    return true;
}

void sse_transport::take_message(const std::string& text)
{
    // Whoever gets a long one reads it, and says what it answers (offloading_transport.hpp).
    const auto most = std::min(read_at_once, static_cast<std::size_t>(settings_->server.max_message));
    const auto read = read_message(text, {.bytes = most});
    if (const auto id = read ? read->answered() : std::nullopt) {
        answered_offloaded(*id);
    }
    observer_.received(text);
}

void sse_transport::answered_offloaded(std::uint64_t text_id)
{
    for (const auto& each : under_way_) {
        each->note_answer(text_id);
    }
}

void sse_transport::ended(core::result<> how)
{
    if (!how && how.error().code == errc::upstream_timeout && endpoint_.empty()) {
        // The exchange's own time is as long, and may be up first.
        return lose(core::upstream_error(errc::upstream_timeout, no_endpoint));
    }
    lose(how ? core::upstream_error(errc::upstream_reset, "the stream has ended") : how.error());
}

void sse_transport::lose(core::error why)
{
    if (!over_) {
        end();
        observer_.lost(std::move(why));
    }
}

void sse_transport::end()
{
    over_ = true;
    deadline_.cancel();
    stream_.reset();
    waiting_.clear();
    under_way_.clear();
}

void sse_transport::close(bool /*end_session*/)
{
    end();
    net::asio::post(wire_.on.get_executor(), [this, alive = std::weak_ptr<bool>{alive_}] {
        if (!alive.expired()) {
            observer_.closed();
        }
    });
}

using core::errc;

// The knowledge that the connections of one server share.
struct known_server {
    http_settings settings;
    bool sse = false;  // it took `initialize` over HTTP+SSE
};

class fallback_transport final : public transport, private transport_observer {
public:
    fallback_transport(
        net::loop& on,
        net::exchange_client& client,
        std::shared_ptr<known_server> server,
        transport_observer& observer
    )
        : on_{on},
          client_{client},
          server_{std::move(server)},
          observer_{observer}
    {
        transport_observer& self = *this;
        wire_ =
            make_http_transport(on_, client_, settings(), self, [this](core::error why) { fall_back(std::move(why)); });
    }

    void open() override { wire_->open(); }
    core::result<> send(outgoing message) override;
    void settle(const dialect& speaks) override { wire_->settle(speaks); }
    std::size_t queued() const noexcept override { return wire_->queued(); }
    bool fell_back() const noexcept override { return stage_ == stage::sse; }
    void answered_offloaded(std::uint64_t text_id) override { wire_->answered_offloaded(text_id); }
    void open_stream(outgoing listen) override { wire_->open_stream(std::move(listen)); }
    void close(bool end_session) override { wire_->close(end_session); }

private:
    enum class stage : std::uint8_t { http, connecting, sse };

    void connected() override;
    void received(std::string_view text) override { observer_.received(text); }
    void refused(std::string_view beginning, std::size_t limit) override { observer_.refused(beginning, limit); }
    void failed(std::uint64_t request, core::error why, std::optional<era> says) override;
    void session_lost() override { observer_.session_lost(); }
    void stream_changed(stream_news news) override { observer_.stream_changed(news); }
    void lost(core::error why) override;
    void closed() override { observer_.closed(); }

    std::shared_ptr<const http_settings> settings() const { return {server_, &server_->settings}; }
    void fall_back(std::optional<core::error> why);

    net::loop& on_;
    net::exchange_client& client_;
    std::shared_ptr<known_server> server_;
    transport_observer& observer_;
    stage stage_ = stage::http;
    outgoing asked_;                           // `initialize`
    std::optional<core::error> first_answer_;  // to it, if it was posted before
    std::unique_ptr<transport> wire_;
};

core::result<> fallback_transport::send(outgoing message)
{
    if (stage_ == stage::connecting) {
        return core::upstream_error(errc::upstream_reset, "there is no session");
    }
    if (stage_ != stage::http || message.method != "initialize") {
        return wire_->send(std::move(message));
    }
    asked_ = message;
    if (!server_->sse) {
        return wire_->send(std::move(message));
    }
    fall_back(std::nullopt);
    return {};
}

// The previous transport may be ended here by its own report.
void fallback_transport::fall_back(std::optional<core::error> why)
{
    first_answer_ = std::move(why);
    stage_ = stage::connecting;
    transport_observer& self = *this;
    wire_ = make_sse_transport(on_, client_, settings(), self);
    wire_->open();
}

void fallback_transport::connected()
{
    if (stage_ != stage::connecting) {
        return observer_.connected();
    }
    stage_ = stage::sse;
    server_->sse = true;
    const auto id = asked_.id;
    if (const auto sent = wire_->send(asked_); !sent) {
        failed(id, sent.error(), std::nullopt);
    }
}

void fallback_transport::failed(std::uint64_t request, core::error why, std::optional<era> says)
{
    if (stage_ == stage::sse && request == asked_.id) {
        server_->sse = false;
    }
    observer_.failed(request, std::move(why), says);
}

void fallback_transport::lost(core::error why)
{
    if (stage_ != stage::connecting) {
        return observer_.lost(std::move(why));
    }
    server_->sse = false;
    auto told = first_answer_.value_or(why);
    told.detail = (first_answer_ ? told.detail + "; " : std::string{}) + "over HTTP+SSE: " + why.detail;
    observer_.failed(asked_.id, std::move(told), std::nullopt);
}

}  // namespace

transport_factory sse_factory(net::loop& on, net::exchange_client& client, http_settings settings)
{
    return [&on, &client, settings = std::make_shared<const http_settings>(std::move(settings))](
               transport_observer& observer
           ) { return make_sse_transport(on, client, settings, observer); };
}

std::unique_ptr<transport> make_sse_transport(
    net::loop& on,
    net::exchange_client& client,
    std::shared_ptr<const http_settings> settings,
    transport_observer& observer
)
{
    return std::make_unique<sse_transport>(on, client, std::move(settings), observer);
}

transport_factory fallback_factory(net::loop& on, net::exchange_client& client, http_settings settings)
{
    auto server = std::make_shared<known_server>(known_server{std::move(settings)});
    return [&on, &client, server = std::move(server)](transport_observer& observer) -> std::unique_ptr<transport> {
        return std::make_unique<fallback_transport>(on, client, server, observer);
    };
}

}  // namespace mcp
