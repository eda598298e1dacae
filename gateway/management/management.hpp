// The management methods of POST /rpc: JSON-RPC 2.0 over HTTP 200, errors with a stable code in error.data.code.
// On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "core/memory_budget.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/call_book.hpp"
#include "gateway/management/call_edges.hpp"
#include "gateway/management/call_history.hpp"
#include "gateway/management/card_methods.hpp"
#include "gateway/management/containment_methods.hpp"
#include "gateway/management/gateway_methods.hpp"
#include "gateway/management/pin_methods.hpp"
#include "gateway/management/read_methods.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/management/write_methods.hpp"
#include "gateway/model/management_call.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/threads/turns.hpp"
#include "net/loop/types.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::management {

class management {
public:
    // References outlive it.
    management(
        const config::settings& settings,
        registry& agents,
        cards::card_plane& cards,
        sessions::session_plane& sessions,
        threads::turn_lines& turns
    );

    // Before the first request.
    void set_bundles(read_methods::next_bundle described) { reads_.set_bundles(std::move(described)); }

    // Before the first request. It outlives this.
    void set_containments(containment_table& table)
    {
        reads_.set_containments(table);
        gateway_.set_containments(table);
        containments_.set_table(table);
    }

    // Before the first request. It outlives this.
    void set_pins(pin_book& book)
    {
        gateway_.set_pins(book);
        pins_.set_book(book);
    }

    void set_sources(gateway_methods::sources from)
    {
        reads_.set_public_base(*from.public_base);
        gateway_.set_sources(std::move(from));
    }

    // Before the first request: applies what other replicas have written before it is asked. Without it nobody else writes.
    using refresher = std::function<net::task<core::result<>>()>;
    void set_refresher(refresher refresh) { refresh_ = std::move(refresh); }

    // The name of a method, such as `agents/list`, or "other"; the dotted spellings are the same methods.
    static std::string_view method_name(std::string_view wire_name) noexcept;

    // A whole body, one request or a batch.
    net::task<model::rpc_answer> handle(std::string body, rpc_caller caller);

    // Adds outcomes of calls that workers have seen, for the health of agents.
    void note_calls(const std::vector<model::call_note>& notes, core::steady_time now)
    {
        calls_.add(notes, now);
        history_.add(notes, now);
        edges_.add(notes, std::chrono::system_clock::now());
    }
    const call_book& calls() const noexcept { return calls_; }

    // For all answers that are being built or sent, also those of others than the methods (`limits.rpc_memory`). Any thread.
    core::memory_budget& memory() noexcept { return memory_; }

    // Answer to a registration, as write_methods::enroll().
    net::task<model::registration_answer> enroll(std::string body, model::registrant by);

private:
    struct method;
    static const method* find(std::string_view wire_name) noexcept;
    net::task<std::optional<rpc_result>> refresh(const core::rpc_request& request, const rpc_caller& caller);

    template <auto Group, auto Method>
    static net::task<rpc_result>
    run(management& self, core::rpc_request request, const rpc_caller& caller, answer_builder& answer);

    net::task<rpc_result>
    carry_out(const method* method, core::rpc_request request, const rpc_caller& caller, answer_builder& answer);

    const config::settings& settings_;
    threads::turn_lines& turns_;
    refresher refresh_;
    core::memory_budget memory_;  // of all answers
    call_book calls_;
    call_history history_;
    call_edges edges_;
    read_methods reads_;
    card_methods cards_;
    gateway_methods gateway_;
    containment_methods containments_;
    pin_methods pins_;
    edge_methods edge_methods_;
    write_methods writes_;
};

}  // namespace gateway::management
