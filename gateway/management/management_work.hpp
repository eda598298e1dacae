// What the management works on for one body of /rpc. Seen by the management only.
#pragma once

#include "core/json/jsonrpc_server.hpp"
#include "core/memory_budget.hpp"
#include "gateway/management/management.hpp"

#include <cstddef>

namespace gateway::management {

struct management::work {
    rpc_caller caller;
    model::turns& by;  // the line that its caller stands in
    core::memory_share memory;
    std::size_t most = 0;      // bytes of a batch's results, and of a page of a list
    std::size_t document = 0;  // bytes of memory that the requests take
    bool in_batch = false;
    core::batch_answer batch{};    // if it is one
    rpc_result single{};           // else
    bool writes = false;           // the request that is carried out now
    bool wrote = false;            // one of them has
    bool short_of_memory = false;  // for the result that is built now

    // Bytes of the next result.
    std::size_t room() const noexcept
    {
        const auto taken = in_batch ? batch.size_with(0) : 0;
        return taken < most ? most - taken : 0;
    }

    // Holds memory for `bytes` beside what there is. False: there is none.
    bool hold(std::size_t bytes) noexcept
    {
        const bool held = memory.hold(document + batch.capacity() + bytes);
        short_of_memory = short_of_memory || !held;
        return held;
    }
};

}  // namespace gateway::management
