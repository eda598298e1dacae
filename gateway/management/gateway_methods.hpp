// Methods about the gateway itself: gateway/info, with what needs somebody, gateway/config and gateway/advice. On the control loop's thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/json/json.hpp"
#include "core/json/jsonrpc_server.hpp"
#include "gateway/management/agent_health.hpp"
#include "gateway/management/answer_builder.hpp"
#include "gateway/management/containment.hpp"
#include "gateway/management/pin_book.hpp"
#include "gateway/model/replicas.hpp"
#include "gateway/threads/turns.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::management {

// The process as the parts of it know it that this room does not.
struct process_facts {
    struct listener {
        std::string_view name;
        std::string address;  // HOST:PORT
        bool tls = false;
    };
    struct certificate {
        std::string listener;
        std::string file;
        core::wall_time end{};
    };
    struct latest_reload {
        core::wall_time at{};
        std::string_view trigger;
        std::vector<std::string> problems{};       // not empty: it was refused
        std::vector<std::string> needs_restart{};  // settings in use that take effect with the next start
    };

    core::wall_time started{};
    std::string public_url;
    std::vector<listener> listeners;
    std::vector<certificate> certificates;
    latest_reload reload;
    std::uint64_t connections = 0;
    unsigned overload = 0;  // 0 to 3
    bool store_lasts = false;
    bool store_shared = false;
    std::optional<core::errc> store_trouble{};  // of the latest write
    bool audit_fails = false;
    std::uint64_t lost_lines = 0;  // of the log
    std::size_t bundles = 0;
    std::string no_tries{};  // why nothing can be tried; empty: it can
};

struct attention {
    bool critical = false;
    std::string subject;
    std::string why;
    std::string what_to_do;
    std::string agent{};  // empty: it is about the gateway
};

// About the gateway, without its agents. Pure.
std::vector<attention>
attention_of(const process_facts& facts, std::uint64_t descriptors, std::uint64_t most, core::wall_time now);

// Result of gateway/config: the settings of a configuration::dump(), as text. `omitted`: agents that it lacks. Pure; any thread.
std::string settings_text(const core::json& dumped, std::size_t omitted);

class gateway_methods {
public:
    static constexpr std::size_t most_shown = 50;  // of what needs somebody

    // References outlive it.
    gateway_methods(const agent_planes& planes, threads::turn_lines& turns)
        : planes_{planes},
          turns_{turns}
    {
    }

    // Before the first request.
    struct sources {
        std::function<process_facts()> facts;
        // This works as settings_text(); those who ask at once have one text.
        std::function<net::task<std::shared_ptr<const std::string>>()> configuration;
        const std::string* public_base = nullptr;  // scheme and authority for callers
        // Result of access/explain. Fails with invalid_params: the detail is the path of a parameter, a colon, and what is wrong.
        std::function<net::task<core::result<core::json>>(core::json params)> explain{};
        // Those that share the store, this one too; empty: it is not shared.
        std::function<model::replicas()> replicas{};
    };
    void set_sources(sources from) { from_ = std::move(from); }

    // Before the first request. It outlives this.
    void set_containments(const containment_table& table) { containments_ = &table; }
    void set_pins(const pin_book& book) { pins_ = &book; }

    // References outlive the tasks.
    net::task<rpc_result> info(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;
    net::task<rpc_result> config(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;

    // The replicas that share the store.
    net::task<rpc_result> replicas(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;

    // The two sentences of a code or a reason, such as that of an access line.
    net::task<rpc_result> sentences(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;

    // Why a request is let pass or denied. A shown credential needs the right to write: it may be a guess.
    net::task<rpc_result> explain(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const;

private:
    agent_planes planes_;
    std::vector<attention> contained() const;

    const containment_table* containments_ = nullptr;  // null: nothing is contained
    const pin_book* pins_ = nullptr;                   // null: nothing is compared
    threads::turn_lines& turns_;
    sources from_;
};

}  // namespace gateway::management
