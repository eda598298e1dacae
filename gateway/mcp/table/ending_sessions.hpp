// Sessions of callers that end together, such as those of an agent that is gone: nobody finds them any more, and they end in turns, so
// that the loop does other things too. On the thread of one loop.
#pragma once

#include "core/error.hpp"
#include "gateway/mcp/table/caller_session.hpp"
#include "gateway/mcp/table/session_end.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>

namespace gateway::mcp::table {

class ending_sessions {
public:
    static constexpr std::size_t most_at_once = 256;

    explicit ending_sessions(net::executor on)
        : on_{on}
    {
    }

    // Of begin(). It is here until it has ended.
    void add(std::unique_ptr<caller_session> session, model::session_end why, std::shared_ptr<const core::error> error);

    // Ends them: most_at_once now, unless some are ending already, and the others behind what else is due on the loop.
    void begin();

    // Ends all of them now.
    void end_all();

    // It is over. Null: it is not here.
    std::unique_ptr<caller_session> take(const caller_session& session);

    std::size_t count(std::string_view agent_id) const;

private:
    struct ending {
        std::unique_ptr<caller_session> session;
        model::session_end why;
        std::shared_ptr<const core::error> error;
    };

    void end_some(std::size_t most);

    net::executor on_;
    std::map<const caller_session*, ending> all_;
    bool under_way_ = false;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::table
