#include "gateway/mcp/http/cancel_notifier.hpp"

#include "gateway/model/snapshot.hpp"
#include "mcp/transport/http_post.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gateway::mcp::http {

// One message on its way.
class cancel_notifier::note {
public:
    note(cancel_notifier& of, settings reached, const model::session_call& in)
        : settings_{std::move(reached)},
          wire_{of.loop_, of.client_, *settings_},
          agent_{in.agent->record.id},
          of_{of}
    {
        wire_.session_id = in.upstream.id;
        wire_.cookies = in.upstream.cookies;
        wire_.speaks = ::mcp::dialect{std::string{in.version}, of.name_};
    }
    virtual ~note() = default;
    note(const note&) = delete;
    note& operator=(const note&) = delete;

    virtual void begin() = 0;
    const std::string& agent() const noexcept { return agent_; }

protected:
    // The last that is done: it destroys this.
    void end() { of_.remove(*this); }

    settings settings_;
    ::mcp::http_wire wire_;

private:
    std::string agent_;
    cancel_notifier& of_;
};

class cancel_notifier::posting final : public note, private ::mcp::http_post_owner {
public:
    posting(cancel_notifier& of, settings reached, const model::session_call& in, ::mcp::outgoing message)
        : note{of, std::move(reached), in}
    {
        ::mcp::http_post_owner& owner = *this;
        post_ = std::make_unique<::mcp::http_post>(wire_, owner, std::move(message), false);
    }

    void begin() override { post_->begin(); }

private:
    void take(std::string_view /*text*/) override {}
    void settled(::mcp::http_post& /*post*/) override { end(); }
    void over(::mcp::http_post& /*post*/, std::optional<core::error> /*why*/, std::optional<::mcp::era> /*says*/)
        override
    {
        // A notification has no answer, and nobody waits for one.
        end();
    }
    void forgotten() override { end(); }

    std::unique_ptr<::mcp::http_post> post_;
};

class cancel_notifier::deletion final : public note, private net::exchange_observer {
public:
    using note::note;

    void begin() override
    {
        auto request = wire_.request("DELETE", nullptr);
        request.head_timeout = settings_->end_session_timeout;
        exchange_ = wire_.start(std::move(request), *this);
    }

private:
    // Whatever it says: many servers do not end sessions.
    void headed(const net::exchange_head& /*head*/) override { end(); }
    void took(std::string_view /*piece*/) override {}
    void ended(core::result<> /*how*/) override { end(); }

    std::unique_ptr<net::exchange> exchange_;
};

cancel_notifier::cancel_notifier(net::loop& on, net::exchange_client& client, const ::mcp::client_info& name)
    : loop_{on},
      client_{client},
      name_{name}
{
}

cancel_notifier::~cancel_notifier() = default;

void cancel_notifier::cancel(settings reached, const model::session_call& in, std::string_view request_id)
{
    auto text = R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)" +
                std::string{request_id} + R"(,"reason":"no answer in time"}})";
    post(std::move(reached), in, {std::move(text), 0, "notifications/cancelled"});
}

void cancel_notifier::answer(settings reached, const model::session_call& in, std::string text)
{
    post(std::move(reached), in, {std::move(text), 0, {}});
}

void cancel_notifier::post(settings reached, const model::session_call& in, ::mcp::outgoing message)
{
    if (has_room(in)) {
        begin(std::make_unique<posting>(*this, std::move(reached), in, std::move(message)));
    }
}

void cancel_notifier::end(settings reached, const model::session_call& of)
{
    if (has_room(of)) {
        begin(std::make_unique<deletion>(*this, std::move(reached), of));
    }
}

bool cancel_notifier::has_room(const model::session_call& in) const
{
    const auto is_its = [&](const auto& each) { return each->agent() == in.agent->record.id; };
    return !stopped_ && under_way_.size() < most &&
           std::ranges::count_if(under_way_, is_its) < std::ptrdiff_t{most_of_agent};
}

void cancel_notifier::begin(std::unique_ptr<note> made)
{
    under_way_.push_back(std::move(made));
    under_way_.back()->begin();
}

void cancel_notifier::remove(const note& ended)
{
    std::erase_if(under_way_, [&](const auto& each) { return each.get() == &ended; });
}

void cancel_notifier::stop()
{
    stopped_ = true;
    under_way_.clear();
}

}  // namespace gateway::mcp::http
