// Methods on what agents say of themselves, and what of it is approved: agents/pins and agents/approve. On the control loop's thread.
#pragma once

#include "core/json/jsonrpc_server.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/pin_book.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/threads/turns.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <functional>
#include <string>

namespace gateway::management {

class pin_methods {
public:
    static constexpr std::size_t most_shown = 1000;     // agents of one answer
    static constexpr std::size_t most_approved = 2000;  // items of one request

    // References outlive it.
    pin_methods(const registry& agents, threads::turn_lines& turns)
        : registry_{agents},
          turns_{turns}
    {
    }

    // Before the first request. It outlives this.
    void set_book(pin_book& book) { book_ = &book; }

    // References outlive the tasks.
    net::task<rpc_result> pins(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);
    net::task<rpc_result> approve(core::rpc_request request, const rpc_caller& caller, answer_builder& answer);

private:
    std::function<std::string(core::json pins)> writer_of(const registered_agent& agent) const;

    const registry& registry_;
    threads::turn_lines& turns_;
    pin_book* book_ = nullptr;  // not null since set_book()
};

}  // namespace gateway::management
