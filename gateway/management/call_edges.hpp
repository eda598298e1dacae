// The pairs of who calls whom: the calls of each principal to each agent since the start, and calls/edges, which shows them. In memory of a bounded
// size: those that have not called for longest are forgotten. On the control loop's thread; time is given.
#pragma once

#include "core/clock.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/call_verdict.hpp"
#include "gateway/threads/turns.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace gateway::management {

class call_edges {
public:
    static constexpr std::size_t most = 10'000;
    static constexpr std::size_t most_bytes = 5 * 512 * 1024;  // of all; with the table of chains 4 MiB

    struct edge {
        std::string name;  // as name_of()
        std::uint64_t calls = 0;
        std::uint64_t failed = 0;   // because of the agent, or of the gateway
        std::uint64_t refused = 0;  // by access, a containment, or a limit of the caller's
        core::wall_time last{};     // to the second or two

        std::string_view provider() const noexcept;  // empty: the callers without a credential
        std::string_view principal() const noexcept;
        std::string_view agent() const noexcept;
    };

    void add(const std::vector<model::call_note>& notes, core::wall_time now);

    // Those that called last first.
    const std::list<edge>& all() const noexcept { return edges_; }

    // About how much memory they take.
    std::size_t bytes() const noexcept { return bytes_; }

private:
    void add_one(std::string name, const model::edge_numbers& numbers, core::wall_time now);
    void forget_last();

    std::list<edge> edges_;
    std::unordered_map<std::string_view, std::list<edge>::iterator> places_;
    std::size_t bytes_ = 0;
};

// The parameters of calls/edges.
struct edge_wishes {
    std::string principal;            // empty: all
    std::string agent;                // empty: all
    std::string_view order{"calls"};  // a constant
    std::size_t limit = 100;
};

class edge_methods {
public:
    // References outlive it.
    edge_methods(const call_edges& edges, const registry& agents, threads::turn_lines& turns)
        : edges_{edges},
          agents_{agents},
          turns_{turns}
    {
    }

    // The edges of agents that are there. References outlive the task.
    net::task<rpc_result> edges(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;

private:
    struct choice {
        std::vector<call_edges::edge> edges;
        std::size_t total = 0;  // of those that are wanted
    };
    choice chosen(const edge_wishes& wishes) const;

    const call_edges& edges_;
    const registry& agents_;
    threads::turn_lines& turns_;
};

}  // namespace gateway::management
