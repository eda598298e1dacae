#include "mcp/transport/fallback_transport.hpp"

#include "mcp/transport/http_transport.hpp"
#include "mcp/transport/sse_transport.hpp"

#include <utility>

namespace mcp {
namespace {

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
    void answered_apart(std::uint64_t text_id) override { wire_->answered_apart(text_id); }
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

transport_factory fallback_factory(net::loop& on, net::exchange_client& client, http_settings settings)
{
    auto server = std::make_shared<known_server>(known_server{std::move(settings)});
    return [&on, &client, server = std::move(server)](transport_observer& observer) -> std::unique_ptr<transport> {
        return std::make_unique<fallback_transport>(on, client, server, observer);
    };
}

}  // namespace mcp
