// Methods that read agents: agents/list, agents/get and agents/health. On the control loop's thread.
#pragma once

#include "core/json/jsonrpc_server.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/call_book.hpp"
#include "gateway/management/call_history.hpp"
#include "gateway/management/containment.hpp"
#include "gateway/management/health_order.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/threads/turns.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::management {

// A page of agents in the answer to a list, as text: `{"jsonrpc":"2.0","id":…,"result":{"agents":[…],"next":…}}`; or of others that have
// ids, under another name. Pure.
class record_page {
public:
    // `id` is the request's, raw JSON text. The page has at most `limit` agents and, but for its first one, at most `most`
    // bytes.
    record_page(std::string_view id, std::size_t limit, std::size_t most, std::string_view list = "agents");

    // One agent's record, a JSON object. False: it does not fit, and the page is full.
    bool add(std::string_view agent, std::string_view record);

    bool full() const noexcept { return cut_ || count_ == limit_; }

    // Whether an agent did not fit.
    bool cut() const noexcept { return cut_; }

    // Memory that it takes.
    std::size_t capacity() const noexcept { return text_.capacity(); }

    // The whole answer. `more`: agents follow, behind the last one here. `members`: further ones of the result, each with a
    // comma in front.
    std::string finish(bool more, std::string_view members = {});

private:
    std::string text_;
    std::string last_;
    std::size_t limit_;
    std::size_t most_;
    std::size_t count_ = 0;
    bool cut_ = false;
};

// How calls go. Both outlive what has them.
struct call_records {
    const call_book& book;
    const call_history& history;
};

class read_methods {
public:
    // References outlive it.
    read_methods(
        const registry& agents,
        const cards::card_plane& cards,
        const sessions::session_plane& sessions,
        const call_records& calls,
        threads::turn_lines& turns
    );

    // References outlive the tasks.
    net::task<rpc_result> list(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;
    net::task<rpc_result> get(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;

    // Health of one agent, or of a page of them with a count of all.
    net::task<rpc_result> health(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;

    // History of the calls of one agent, or of the gateway.
    net::task<rpc_result> stats(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;

    // The bundles of agents, with their members and the names that differ from those of the members.
    net::task<rpc_result> bundles(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;

    // Gives the first bundle behind this name, as text; its name is empty if there is none.
    using next_bundle = std::function<std::pair<std::string, std::string>(const std::string& after)>;
    void set_bundles(next_bundle described) { bundles_ = std::move(described); }

    // Scheme and authority of the gateway for callers; it outlives this, and may change.
    void set_public_base(const std::string& base) { public_base_ = &base; }

    // Before the first request. It outlives this.
    void set_containments(const containment_table& table) { containments_ = &table; }

    // An agent's record, a JSON object, as the caller may see it.
    std::string record_text(const registered_agent& agent, const rpc_caller& caller) const;

private:
    struct known;

    next_bundle bundles_;

    std::vector<std::string> stderr_of(const registered_agent& agent, const rpc_caller& caller) const;
    core::json record_of(const registered_agent& agent) const;
    known known_of(const registered_agent& agent, core::steady_time now) const;
    core::json health_record(
        const known& known,
        core::steady_time now,
        const rpc_caller& caller,
        const health_wishes& wishes
    ) const;
    net::task<rpc_result> health_of_all(
        core::rpc_request request,
        const rpc_caller& caller,
        answer_builder& answer,
        health_wishes wishes
    ) const;

    const std::string* public_base_ = nullptr;  // null: not known yet
    void add_containment(core::json& to, const registered_agent& agent) const;

    const containment_table* containments_ = nullptr;  // null: nothing is contained
    const registry& registry_;
    const cards::card_plane& cards_;
    const sessions::session_plane& sessions_;
    call_records calls_;
    threads::turn_lines& turns_;
};

}  // namespace gateway::management
