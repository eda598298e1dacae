#include "mcp/transport/offloading_transport.hpp"

#include <deque>
#include <span>
#include <utility>

namespace mcp {
namespace {

class offloading_transport final : public transport, private transport_observer {
public:
    offloading_transport(
        const transport_factory& made,
        apart_reading read,
        std::size_t largest,
        transport_observer& observer
    )
        : read_{std::move(read)},
          most_{most_behind + largest_behind * largest},
          observer_{observer}
    {
        transport_observer& self = *this;
        wire_ = made(self);
    }

    void open() override { wire_->open(); }
    core::result<> send(outgoing message) override { return wire_->send(std::move(message)); }
    void set_trial(bool on) override { wire_->set_trial(on); }
    std::string last_words() const override { return wire_->last_words(); }
    void settle(const dialect& speaks) override { wire_->settle(speaks); }
    bool fell_back() const noexcept override { return wire_->fell_back(); }
    std::size_t queued() const noexcept override { return wire_->queued(); }
    void open_stream(outgoing listen) override { wire_->open_stream(std::move(listen)); }

    void close(bool end_session) override
    {
        over_ = true;
        behind_.clear();
        wire_->close(end_session);
    }

private:
    // The texts that came after one that is being read.
    struct later {
        std::string text;
        std::function<void()> tell;  // empty: `text` is received
    };
    static_assert(sizeof(later) <= behind_cost);

    void connected() override
    {
        tell([this] { observer_.connected(); });
    }
    void received(std::string_view text) override;
    void refused(std::string_view beginning, std::size_t limit) override
    {
        if (!reading_) {
            return observer_.refused(beginning, limit);
        }
        tell([this, text = std::string{beginning}, limit] { observer_.refused(text, limit); });
    }
    void failed(std::uint64_t request, core::error why, std::optional<era> says) override
    {
        tell([this, request, why = std::move(why), says] { observer_.failed(request, why, says); });
    }
    void session_lost() override
    {
        tell([this] { observer_.session_lost(); });
    }
    void stream_changed(stream_news news) override
    {
        tell([this, news] { observer_.stream_changed(news); });
    }
    void lost(core::error why) override
    {
        tell([this, why = std::move(why)] {
            over_ = true;
            observer_.lost(why);
        });
    }
    void closed() override { observer_.closed(); }

    template <class Function>
    void tell(Function what)
    {
        if (over_) {
            return;
        }
        if (reading_) {
            behind_.push_back({{}, std::move(what)});
        } else {
            what();
        }
    }

    void read(std::string text);
    void tell_answered(const read_text& what);
    void go_on();

    apart_reading read_;
    std::size_t most_;
    transport_observer& observer_;
    bool reading_ = false;
    bool over_ = false;      // nothing is told any more but closed()
    std::size_t bytes_ = 0;  // of the text that is being read, and of those behind it
    std::deque<later> behind_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    std::unique_ptr<transport> wire_;
};

void offloading_transport::received(std::string_view text)
{
    if (over_) {
        return;
    }
    if (!reading_) {
        return text.size() <= read_at_once ? observer_.received(text) : read(std::string{text});
    }
    if (bytes_ + (behind_.size() + 1) * behind_cost + text.size() > most_) {
        over_ = true;
        behind_.clear();
        return observer_.lost(core::upstream_error(core::errc::upstream_protocol, "it says more than can be read"));
    }
    bytes_ += text.size();
    behind_.push_back({std::string{text}, {}});
}

void offloading_transport::read(std::string text)
{
    reading_ = true;
    bytes_ += text.size();
    read_(std::move(text), [this, alive = std::weak_ptr{alive_}](const std::shared_ptr<const read_text>& done) {
        if (alive.expired()) {
            return;
        }
        reading_ = false;
        bytes_ -= done->text.size();
        if (!over_) {
            tell_answered(*done);
            observer_.received_long(*done);
        }
        if (!alive.expired()) {
            go_on();
        }
    });
}

// The texts that wait for the answer need not wait any longer.
void offloading_transport::tell_answered(const read_text& what)
{
    for (const auto& each : what.batch.empty() ? std::span{&what.whole, 1} : std::span{what.batch}) {
        if (const auto id = each.read ? each.read->answered() : std::nullopt) {
            wire_->answered_offloaded(*id);
        }
    }
}

// Each that is told may destroy this, or close it.
void offloading_transport::go_on()
{
    const std::weak_ptr<bool> alive{alive_};
    while (!alive.expired() && !reading_ && !over_ && !behind_.empty()) {
        auto next = std::move(behind_.front());
        behind_.pop_front();
        if (next.tell) {
            next.tell();
            continue;
        }
        bytes_ -= next.text.size();
        if (next.text.size() > read_at_once) {
            read(std::move(next.text));
        } else {
            observer_.received(next.text);
        }
    }
}

}  // namespace

void transport_observer::received_long(const read_text& what)
{
    received(what.text);
}

transport_factory reading_apart(transport_factory made, apart_reading read, std::size_t largest)
{
    return [made = std::move(made), read = std::move(read), largest](transport_observer& observer
           ) -> std::unique_ptr<transport> {
        return std::make_unique<offloading_transport>(made, read, largest, observer);
    };
}

}  // namespace mcp
