#include "gateway/mcp_path/shared_session.hpp"

#include "gateway/mcp_path/shared_answers.hpp"
#include "gateway/mcp_path/shared_calls.hpp"
#include "mcp/translation/list_subscription.hpp"
#include "mcp/translation/subscription.hpp"

#include <utility>

namespace gateway::mcp_path {

using core::errc;

shared_session::shared_session(
    session_table& in,
    session_name name,
    const shared_owner& owner,
    shared_calls& calls,
    std::string version
)
    : caller_session{in, std::move(name)},
      owner_{owner},
      calls_{calls},
      version_{std::move(version)},
      number_{calls.join(*this)},
      unasked_{executor()}
{
}

core::result<std::shared_ptr<text_queue>> shared_session::request(const mcp::client_message& request)
{
    if (auto here = answer_here(request)) {
        return answered(executor(), std::move(*here));
    }
    const auto server = owner_.server_of(agent().record.id, mcp::era::legacy);
    if (!server) {
        return server.error();
    }
    if ((*server)->protocol_version < version_) {
        const auto why = core::caller_error(errc::session_not_found);
        end(session_end::lost, why);
        return why;
    }
    auto own = request;
    own.client = number_;
    return calls_.request(own, /*cancels_if_left=*/false);
}

core::result<> shared_session::tell(const mcp::client_message& message)
{
    if (message.method == "notifications/cancelled") {
        auto own = message;
        own.client = number_;
        calls_.cancel(own);
    }
    return {};
}

bool shared_session::busy() const
{
    return calls_.is_busy(number_);
}

void shared_session::close(const core::error& error)
{
    calls_.leave(number_, error);
    unasked_.close();
}

std::shared_ptr<text_queue> shared_session::listen()
{
    auto listener = unasked_.listen();
    list_changed(std::exchange(changed_, {}));
    for (const auto& uri : std::exchange(updated_, {})) {
        tell(mcp::resource_updated(uri));
    }
    return listener;
}

void shared_session::list_changed(const mcp::list_set& lists)
{
    if (!unasked_.listened_to()) {
        changed_ |= lists;
        return;
    }
    for (auto& each : mcp::changed_texts({}, lists)) {
        tell(std::move(each));
    }
}

void shared_session::updated(const std::string& uri, std::string_view text)
{
    if (unasked_.listened_to()) {
        tell(std::string{text});
    } else {
        updated_.insert(uri);
    }
}

// Somebody listens.
void shared_session::tell(std::string text)
{
    unasked_.push(std::move(text), text_kind::notification, core::steady_time{});
}

}  // namespace gateway::mcp_path
