// The answer to one body of POST /rpc: results are added within the bound of a batch and within a share of the memory for all
// answers. Pure; one thread at a time.
#pragma once

#include "core/json/jsonrpc_server.hpp"
#include "core/memory_budget.hpp"
#include "gateway/management/rpc_parameters.hpp"
#include "gateway/model/management_call.hpp"

#include <cstddef>
#include <string_view>

namespace gateway::management {

// The part of the memory for answers that only the admin listener may use: callers cannot keep operators out.
inline constexpr std::uint64_t part_for_operators = 4;

class answer_builder {
public:
    // `longest`: bytes of a batch's results, and of a page of a list. `document`: bytes that the requests take of `memory`.
    answer_builder(core::memory_share memory, std::size_t longest, std::size_t document);

    // Before the first request.
    void set_batch(bool batch) noexcept { in_batch_ = batch; }

    // The next request begins. What has been written cannot be taken back, so a write is answered whatever becomes of the rest.
    void begin(bool writes) noexcept;

    // Bytes of the next result.
    std::size_t room() const noexcept;

    // Holds memory for `bytes` besides what was added. False: there is none.
    bool hold(std::size_t bytes) noexcept;

    // The answer to the request that has begun. `id` is raw JSON text.
    void add(std::string_view id, rpc_result result);

    // There is no memory for the whole answer: nothing of it may be sent.
    bool failed() const noexcept { return short_of_memory_; }

    // Body, card and memory of the answer. Nothing is added after that.
    void finish(model::rpc_answer& answer);

private:
    core::memory_share memory_;
    std::size_t longest_;
    std::size_t document_;
    bool in_batch_ = false;
    core::batch_answer batch_;      // if it is one
    rpc_result single_;             // else
    bool writes_ = false;           // the request that has begun
    bool wrote_ = false;            // one of them has
    bool short_of_memory_ = false;  // for the result that is built now
};

}  // namespace gateway::management
