#include "gateway/mcp/http/cancel_notifier.hpp"

#include "gateway/model/snapshot.hpp"
#include "mcp/transport/http_post.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace gateway::mcp::http {

// One message on its way, or the DELETE of a session.
class cancel_notifier::note final : private ::mcp::http_post_owner, private net::exchange_observer {
public:
    note(cancel_notifier& of, settings reached, const model::session_call& in, std::optional<::mcp::outgoing> message)
        : settings_{std::move(reached)},
          wire_{of.loop_, of.client_, *settings_},
          agent_{in.agent->record.id},
          of_{of}
    {
        wire_.session_id = in.upstream.id;
        wire_.cookies = in.upstream.cookies;
        wire_.speaks = ::mcp::dialect{std::string{in.version}, of.name_};
        if (message) {
            ::mcp::http_post_owner& owner = *this;
            post_ = std::make_unique<::mcp::http_post>(wire_, owner, std::move(*message), false);
        }
    }

    void begin()
    {
        if (post_ != nullptr) {
            return post_->begin();
        }
        auto request = wire_.request("DELETE", nullptr);
        request.head_timeout = settings_->end_session_timeout;
        deletion_ = wire_.start(std::move(request), *this);
    }

    const std::string& agent() const noexcept { return agent_; }

private:
    // The last that is done: it destroys this. A notification has no answer, nobody waits for one, and many servers do not end
    // sessions, whatever they say.
    void end() { of_.remove(*this); }

    void take(std::string_view /*text*/) override {}
    void settled(::mcp::http_post& /*post*/) override { end(); }
    void over(::mcp::http_post& /*post*/, std::optional<core::error> /*why*/, std::optional<::mcp::era> /*says*/)
        override
    {
        end();
    }
    void forgotten() override { end(); }
    void headed(const net::exchange_head& /*head*/) override { end(); }
    void took(std::string_view /*piece*/) override {}
    void ended(core::result<> /*how*/) override { end(); }

    settings settings_;
    ::mcp::http_wire wire_;
    std::string agent_;
    cancel_notifier& of_;
    std::unique_ptr<::mcp::http_post> post_;  // null: it is a DELETE
    std::unique_ptr<net::exchange> deletion_;
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
    post(std::move(reached), in, ::mcp::outgoing{std::move(text), 0, "notifications/cancelled"});
}

void cancel_notifier::answer(settings reached, const model::session_call& in, std::string text)
{
    post(std::move(reached), in, ::mcp::outgoing{std::move(text), 0, {}});
}

void cancel_notifier::end(settings reached, const model::session_call& of)
{
    post(std::move(reached), of, std::nullopt);
}

void cancel_notifier::post(settings reached, const model::session_call& in, std::optional<::mcp::outgoing> message)
{
    const auto is_its = [&](const auto& each) { return each->agent() == in.agent->record.id; };
    if (stopped_ || under_way_.size() >= most ||
        std::ranges::count_if(under_way_, is_its) >= std::ptrdiff_t{most_of_agent}) {
        return;
    }
    under_way_.push_back(std::make_unique<note>(*this, std::move(reached), in, std::move(message)));
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
