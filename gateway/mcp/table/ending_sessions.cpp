#include "gateway/mcp/table/ending_sessions.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <utility>

namespace gateway::mcp::table {

void ending_sessions::add(
    std::unique_ptr<caller_session> session,
    model::session_end why,
    std::shared_ptr<const core::error> error
)
{
    session->leave();
    const auto* const name = session.get();
    all_.emplace(name, ending{std::move(session), why, std::move(error)});
}

void ending_sessions::begin()
{
    if (!under_way_) {
        end_some(most_at_once);
    }
}

void ending_sessions::end_all()
{
    while (!all_.empty()) {
        end_some(all_.size());
    }
}

// One may end others meanwhile, and more may come.
void ending_sessions::end_some(std::size_t most)
{
    under_way_ = true;
    for (; most > 0 && !all_.empty(); --most) {
        const auto& how = all_.begin()->second;
        const auto error = how.error;
        how.session->end(how.why, *error);
    }
    under_way_ = !all_.empty();
    if (!under_way_) {
        return;
    }
    net::asio::post(on_, [this, alive = std::weak_ptr{alive_}] {
        if (!alive.expired()) {
            end_some(most_at_once);
        }
    });
}

std::unique_ptr<caller_session> ending_sessions::take(const caller_session& session)
{
    auto found = all_.extract(&session);
    return found.empty() ? nullptr : std::move(found.mapped().session);
}

std::size_t ending_sessions::count(std::string_view agent_id) const
{
    return static_cast<std::size_t>(std::ranges::count_if(all_, [&](const auto& each) {
        return each.first->agent().record.id == agent_id;
    }));
}

}  // namespace gateway::mcp::table
