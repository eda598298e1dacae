// The programs of one server that are started ahead, and those of all servers that are ending. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "gateway/mcp/programs/program.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/session/start_turns.hpp"
#include "mcp/transport/transport.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::mcp::programs {

// Programs of one server that are started ahead, and not spoken to, so that they fit any client. None is used twice.
class process_pool {
public:
    using retire_function = std::function<void(std::unique_ptr<program> used)>;

    // `retire` takes each that nobody needs any more; one that has ended by itself too.
    process_pool(::mcp::start_place turns, ::mcp::transport_factory make, retire_function retire);
    ~process_pool();
    process_pool(const process_pool&) = delete;
    process_pool& operator=(const process_pool&) = delete;

    // The one that has been started longest, else one that begins to start, or is held.
    std::unique_ptr<program> take(bool held = false);

    // Keeps so many waiting from now on; a program that ends meanwhile is not replaced before the next call, so that a program that does not
    // stay up is not started again and again.
    void keep(std::size_t wanted);

    std::size_t size() const noexcept { return waiting_.size(); }

private:
    class warm final : public program_observer {
    public:
        warm(process_pool& of, std::unique_ptr<program> held)
            : of_{of},
              held_{std::move(held)}
        {
            held_->set_observer(this);
        }

        std::unique_ptr<program> release()
        {
            held_->set_observer(nullptr);
            return std::move(held_);
        }

    private:
        // A server's words before the first message to it are noise: a greeting, a log line.
        void said(std::string_view /*text*/) override {}
        void said_too_much(std::string_view /*beginning*/, std::size_t /*limit*/) override {}
        void failed(std::uint64_t /*call*/, core::error /*why*/) override {}
        void ended(core::error /*why*/) override { of_.drop(*this); }

        process_pool& of_;
        std::unique_ptr<program> held_;
    };

    void drop(const warm& gone);

    ::mcp::start_place turns_;
    ::mcp::transport_factory make_;
    retire_function retire_;
    std::list<warm> waiting_;
};

// Programs on their way out, and those that are held until one has exited: it still has what only one may have, such as a port, a lock
// or memory.
class terminating_processes {
public:
    // `gone` is called with the agent of each that has exited, not from within a call of its own.
    terminating_processes(net::executor on, std::function<void(const std::string& agent_id)> gone);

    // Ends it in order, and keeps it until it is gone; what it refers to lives as long. It is not held any more. `principal`: who had
    // it; empty: nobody in particular. `silently` as of program::stop().
    void add(std::unique_ptr<program> used, std::string_view agent_id, std::string_view principal, bool silently);

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

// The programs of one agent that program_sessions keeps.
struct agent_programs {
    agent_programs(
        std::shared_ptr<const model::agent_entry> of,
        ::mcp::start_place turns,
        ::mcp::transport_factory make,
        process_pool::retire_function retire
    )
        : agent{std::move(of)},
          warm{turns, std::move(make), std::move(retire)}
    {
    }

    std::shared_ptr<const model::agent_entry> agent;
    process_pool warm;
    core::steady_time last_use;  // a session was there
};

}  // namespace gateway::mcp::programs
