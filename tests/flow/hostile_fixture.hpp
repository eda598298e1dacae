// The gateway's own binary in front of MCP servers that break things (hostile_server.cpp) and of one A2A agent that has to be
// served all the while.
#pragma once

#include "core/json/json.hpp"
#include "tests/flow/child_process.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flow {

// What /proc says of a process.
struct process_facts {
    std::size_t descriptors = 0;
    std::size_t threads = 0;
    std::vector<pid_t> children;    // zombies included
    std::size_t zombies = 0;        // of these
    std::uint64_t peak_memory = 0;  // bytes that were resident at once, shared ones included; 0 under a sanitizer
    double cpu_seconds = 0;
};

process_facts facts_of(pid_t process);

// Neither gone nor a zombie.
bool is_running(pid_t process);

class hostile_gateway {
public:
    // Agents of MCP, as YAML in flow style after the id; add `words`, the agent of A2A.
    class agents {
    public:
        // One that is a hostile_server with this habit, under the id of its habit or another. `more` is YAML in flow style,
        // beginning with a comma.
        agents& add(std::string_view habit, std::string_view more = "", std::size_t number = 0);
        agents& add_as(std::string_view id, std::string_view habit, std::string_view more = "", std::size_t number = 0);
        agents& declare(std::string_view id, std::string_view yaml);

    private:
        friend class hostile_gateway;
        struct one {
            std::string id;
            std::string habit;  // empty: `more` is all of it
            std::string more;
            std::size_t number = 0;
        };
        std::vector<one> all_;
    };

    explicit hostile_gateway(const agents& which);

    pid_t id() const noexcept { return process_->id(); }
    child_process& process() noexcept { return *process_; }
    std::uint16_t port() const noexcept { return port_; }

    test_support::http_response card(std::string_view agent) const;
    // How many skills the card has; nothing: there is none.
    std::optional<std::size_t> skills(std::string_view agent) const;
    // Of agents/get, on the admin listener if it is for operators.
    core::json session(std::string_view agent, bool for_operators = true) const;

    // Whether the session gets into this state, with this reason if it is not empty.
    bool reaches(
        std::string_view agent,
        std::string_view state,
        std::string_view reason = "",
        std::chrono::milliseconds timeout = test_support::patience
    );

    // The first line of this event that has all of the texts.
    std::optional<std::string> event(std::string_view name, std::string_view text = "", std::string_view other = "");

    // The process ids that a server has left, a line for each start.
    std::vector<pid_t> pids(std::string_view agent, std::string_view suffix = "") const;

    // How long the card of the A2A agent takes, which has to be right; and /healthz has to be.
    std::chrono::milliseconds served_within() const;

private:
    test_support::scratch_directory folder_;
    std::unique_ptr<child_process> process_;
    std::uint16_t port_ = 0;
    std::uint16_t admin_port_ = 0;
};

// Asks again until it is so, reading the gateway's log meanwhile; false: it was not in time.
bool becomes_true(
    hostile_gateway& gateway,
    const std::function<bool()>& question,
    std::chrono::milliseconds timeout = test_support::patience
);

}  // namespace flow
