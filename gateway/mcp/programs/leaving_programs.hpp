// Programs that nobody needs any more, until they have exited, and those that may not start before that: one on its way out
// still has what only one may have, such as a port, a lock or memory. On the thread of one loop.
#pragma once

#include "gateway/mcp/programs/program.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::mcp::programs {

class leaving_programs {
public:
    // `gone` is called with the agent of each that has exited, not from within a call of its own.
    leaving_programs(net::executor on, std::function<void(const std::string& agent_id)> gone);

    // Ends it in order, and keeps it until it is gone; what it refers to lives as long. It is not held any more. `principal`: who had
    // it; empty: nobody in particular.
    void add(std::unique_ptr<program> used, std::string_view agent_id, std::string_view principal);

    std::size_t count(std::string_view agent_id) const;
    std::size_t count(std::string_view agent_id, std::string_view principal) const;
    bool empty() const noexcept { return all_.empty(); }

    // One that is held; it is here until start_held() or add().
    void hold(program& waits, std::string agent_id, std::string principal);

    // Those of the agent start whose principal may. False: there are none.
    bool start_held(std::string_view agent_id, const std::function<bool(const std::string& principal)>& may);

private:
    struct leaving {
        std::unique_ptr<program> used;
        std::string agent_id;
        std::string principal;
    };
    struct held {
        program* waits;
        std::string agent_id;
        std::string principal;
    };

    void drop(const program* gone);

    net::executor on_;
    std::function<void(const std::string& agent_id)> gone_;
    std::list<leaving> all_;
    std::vector<held> held_;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
};

}  // namespace gateway::mcp::programs
