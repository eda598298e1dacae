#include "gateway/mcp/table/caller_session.hpp"

#include "gateway/mcp/table/session_table.hpp"

#include <utility>

namespace gateway::mcp::table {

caller_session::caller_session(session_table& in, session_name name)
    : in_{in},
      name_{std::move(name)},
      began_{in.now()},
      last_use_{began_}
{
}

void caller_session::end(model::session_end why, const core::error& error)
{
    if (!std::exchange(over_, true)) {
        share_.give_back();
        close(error);
        in_.over(*this, why);
    }
}

core::steady_time caller_session::now() const
{
    return in_.now();
}

net::executor caller_session::executor() const
{
    return in_.executor();
}

}  // namespace gateway::mcp::table
