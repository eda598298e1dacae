#include "mcp/session/caller_lane.hpp"

#include "mcp/calls/client_method.hpp"
#include "mcp/protocol/refused_message.hpp"

#include <boost/asio/post.hpp>

#include <chrono>
#include <utility>

namespace mcp {

using core::errc;

class caller_lane::end final : public transport {
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

caller_lane::caller_lane(net::executor on, send_function send)
    : link_{std::make_shared<link>(link{on, std::move(send)})}
{
}

caller_lane::~caller_lane()
{
    abandon();
}

void caller_lane::open()
{
    link_->is_open = true;
    link_->waiting.clear();
    if (link_->other != nullptr) {
        link_->other->later(&end::begin);
    }
}

void caller_lane::close()
{
    if (std::exchange(link_->is_open, false) && link_->other != nullptr && link_->other->connected()) {
        link_->other->lose();
    }
}

void caller_lane::abandon()
{
    link_->is_open = false;
    link_->send = nullptr;
    if (auto* const other = std::exchange(link_->other, nullptr)) {
        other->later(&end::lose);
    }
}

void caller_lane::take(std::string_view text, std::optional<std::uint64_t> answered)
{
    link_->heard = std::chrono::steady_clock::now();
    link_->waiting.erase(answered.value_or(0));
    if (link_->other != nullptr && link_->other->connected()) {
        link_->other->observer().received(text);
    }
}

void caller_lane::take_too_long(std::string_view beginning, std::size_t limit)
{
    link_->heard = std::chrono::steady_clock::now();
    link_->waiting.erase(answered_by(addressee_of(beginning, false)).value_or(0));
    if (link_->other != nullptr && link_->other->connected()) {
        link_->other->observer().refused(beginning, limit);
    }
}

std::optional<std::uint64_t> caller_lane::answered_by(const addressee& whom) const
{
    const auto& waiting = link_->waiting;
    return whom.to_nobody() && waiting.size() == 1 ? std::optional{*waiting.begin()} : whom.numbered();
}

bool caller_lane::is_busy(core::steady_time now, core::duration silence) const
{
    return !link_->waiting.empty() && now - link_->heard < silence;
}

void caller_lane::fail(std::uint64_t request, core::error why)
{
    link_->waiting.erase(request);
    if (link_->other != nullptr && link_->other->connected()) {
        link_->other->observer().failed(request, std::move(why), std::nullopt);
    }
}

transport_factory caller_lane::factory()
{
    return [over = link_](transport_observer& observer) { return std::make_unique<end>(over, observer); };
}

}  // namespace mcp
