#include "mcp/session/requests.hpp"

#include "mcp/protocol/message.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace mcp {

requests::requests(session_context& host, connections& over, failure_handler failed)
    : host_{host},
      connections_{over},
      failed_{std::move(failed)}
{
}

std::uint64_t requests::begin(purpose use)
{
    const auto id = next_id();
    open_.emplace(id, open_request{use, std::nullopt});
    return id;
}

std::uint64_t requests::begin(purpose use, core::duration patience, std::string method)
{
    const auto id = begin(use);
    auto& deadline = open_.at(id).deadline.emplace(host_.loop.get_executor());
    deadline.expires_after(patience);
    deadline.async_wait(
        [this, id, method = std::move(method), alive = std::weak_ptr<bool>{alive_}](net::error_code cancelled) {
            if (!cancelled && !alive.expired() && waits(id) && connections_.current() != nullptr) {
                failed_(id, core::upstream_error(core::errc::upstream_timeout, "no answer to " + method), true);
            }
        }
    );
    return id;
}

void requests::send(outgoing message)
{
    auto* const current = connections_.current();
    if (current == nullptr || muted_) {
        return;
    }
    const auto id = message.id;
    const auto sent = current->wire->send(std::move(message));
    if (sent) {
        ++host_.counts.sent;
        return;
    }
    if (id == 0) {
        return;
    }
    net::asio::post(
        host_.loop.get_executor(),
        [this, id, of = current->number, why = sent.error(), alive = std::weak_ptr<bool>{alive_}] {
            if (!alive.expired() && connections_.current() != nullptr && connections_.current()->number == of) {
                failed_(id, why, false);
            }
        }
    );
}

std::optional<purpose> requests::take(std::uint64_t id)
{
    const auto found = open_.find(id);
    if (found == open_.end()) {
        return std::nullopt;
    }
    const auto use = found->second.use;
    open_.erase(found);
    return use;
}

bool requests::any() const
{
    return std::ranges::any_of(open_, [](const auto& each) { return each.second.use != purpose::listen; });
}

std::optional<std::uint64_t> requests::meant_by(const addressee& whom) const
{
    if (!whom.answer || whom.other) {
        return std::nullopt;
    }
    if (whom.id) {
        return open_.contains(*whom.id) ? whom.id : std::nullopt;
    }
    std::optional<std::uint64_t> only;
    for (const auto& [id, each] : open_) {
        if (each.use == purpose::listen) {
            continue;
        }
        if (only) {
            return std::nullopt;
        }
        only = id;
    }
    return only;
}

void requests::cancel(std::uint64_t id)
{
    outgoing message{cancelled_notification(id, "not needed any more"), 0, "notifications/cancelled"};
    message.cancels = id;
    send(std::move(message));
}

void requests::cancel_all(purpose use)
{
    std::erase_if(open_, [&](const auto& each) {
        const bool ends = each.second.use == use;
        if (ends) {
            cancel(each.first);
        }
        return ends;
    });
}

void requests::end_all(purpose use)
{
    std::erase_if(open_, [use](const auto& each) { return each.second.use == use; });
}

void requests::keep_latest(purpose use, std::size_t most)
{
    const auto is = [use](const auto& each) { return each.second.use == use; };
    auto extra = std::ranges::count_if(open_, is) - static_cast<std::ptrdiff_t>(most);
    std::erase_if(open_, [&](const auto& each) { return is(each) && extra-- > 0; });
}

}  // namespace mcp
