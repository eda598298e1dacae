#include "mcp/session/shared_channel.hpp"

#include "mcp/calls/client_method.hpp"
#include "mcp/protocol/read_text.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <utility>

namespace mcp {

using core::errc;

class shared_channel::end final : public transport {
public:
    end(std::shared_ptr<link> over, transport_observer& observer)
        : link_{std::move(over)},
          observer_{observer}
    {
    }
    ~end() override { leave(); }
    end(const end&) = delete;
    end& operator=(const end&) = delete;

    void open() override
    {
        if (auto* const before = std::exchange(link_->other, this)) {
            before->later(&end::lose);
        }
        later(&end::begin);
    }

    core::result<> send(outgoing message) override
    {
        if (!connected_ || link_->other != this || !link_->is_open) {
            return core::upstream_error(errc::upstream_reset, "the session with the server is lost");
        }
        note(message);
        const auto id = message.id;
        auto sent = link_->send(std::move(message));
        if (!sent) {
            link_->waiting.erase(id);
        }
        return sent;
    }

    void settle(const dialect& /*speaks*/) override {}
    void open_stream(outgoing /*listen*/) override {}

    void close(bool /*end_session*/) override
    {
        leave();
        later(&end::closed);
    }

    // The session is ready, or the lane has gone: whichever comes while this waits.
    void begin()
    {
        if (connected_ || link_->other != this) {
            return;
        }
        if (!link_->send) {
            lose();
        } else if (link_->is_open) {
            connected_ = true;
            observer_.connected();
        }
    }

    void lose()
    {
        if (link_->other == this) {
            link_->other = nullptr;
        }
        observer_.lost(core::upstream_error(errc::upstream_reset, "the session with the server is lost"));
    }

    bool connected() const noexcept { return connected_; }
    transport_observer& observer() noexcept { return observer_; }

    // Behind what is being done.
    void later(void (end::*then)())
    {
        net::asio::post(link_->on, [this, then, alive = std::weak_ptr<bool>{alive_}] {
            if (!alive.expired()) {
                (this->*then)();
            }
        });
    }

private:
    void closed() { observer_.closed(); }

    void note(const outgoing& message)
    {
        auto& waiting = link_->waiting;
        if (message.id != 0 && !stays_open(message.method)) {
            if (waiting.empty()) {
                link_->heard = std::chrono::steady_clock::now();
            }
            waiting.insert(message.id);
        }
        waiting.erase(message.cancels);
    }

    void leave()
    {
        if (link_->other == this) {
            link_->other = nullptr;
        }
    }

    std::shared_ptr<link> link_;
    transport_observer& observer_;
    bool connected_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

shared_channel::shared_channel(net::executor on, send_function send)
    : link_{std::make_shared<link>(link{on, std::move(send)})}
{
}

shared_channel::~shared_channel()
{
    abandon();
}

void shared_channel::open()
{
    link_->is_open = true;
    link_->waiting.clear();
    if (link_->other != nullptr) {
        link_->other->later(&end::begin);
    }
}

void shared_channel::close()
{
    if (std::exchange(link_->is_open, false) && link_->other != nullptr && link_->other->connected()) {
        link_->other->lose();
    }
}

void shared_channel::abandon()
{
    link_->is_open = false;
    link_->send = nullptr;
    if (auto* const other = std::exchange(link_->other, nullptr)) {
        other->later(&end::lose);
    }
}

void shared_channel::take(std::string_view text, std::optional<std::uint64_t> answered)
{
    link_->heard = std::chrono::steady_clock::now();
    link_->waiting.erase(answered.value_or(0));
    if (link_->other != nullptr && link_->other->connected()) {
        link_->other->observer().received(text);
    }
}

void shared_channel::take_too_long(std::string_view beginning, std::size_t limit)
{
    link_->heard = std::chrono::steady_clock::now();
    link_->waiting.erase(answered_by(addressee_of(beginning, false)).value_or(0));
    if (link_->other != nullptr && link_->other->connected()) {
        link_->other->observer().refused(beginning, limit);
    }
}

std::optional<std::uint64_t> shared_channel::answered_by(const addressee& whom) const
{
    const auto& waiting = link_->waiting;
    return whom.to_nobody() && waiting.size() == 1 ? std::optional{*waiting.begin()} : whom.numbered();
}

bool shared_channel::is_busy(core::steady_time now, core::duration silence) const
{
    return !link_->waiting.empty() && now - link_->heard < silence;
}

void shared_channel::fail(std::uint64_t request, core::error why)
{
    link_->waiting.erase(request);
    if (link_->other != nullptr && link_->other->connected()) {
        link_->other->observer().failed(request, std::move(why), std::nullopt);
    }
}

transport_factory shared_channel::factory()
{
    return [over = link_](transport_observer& observer) { return std::make_unique<end>(over, observer); };
}

}  // namespace mcp
