// A TCP proxy on 127.0.0.1 that breaks what passes, by a plan that its seed decides: between a gateway and a scripted agent.
// Knows no HTTP. In its own thread; every pause is a timer of its loop.
#pragma once

#include "tests/support/fault_plan.hpp"
#include "tests/support/scripted_agent.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace test_support {

struct proxy_faults {
    bool down = false;                          // nobody listens, and open connections are reset
    on_accept accepts = on_accept::serve;       // what becomes of connections that begin now
    std::chrono::milliseconds accept_delay{0};  // before anything of a connection passes
    direction_faults to_agent{};
    direction_faults to_caller{};
};

// Everything may be called from any thread. Destruction resets all connections and joins the thread.
class fault_proxy {
public:
    // Connections go to this port of 127.0.0.1.
    explicit fault_proxy(std::uint16_t agent_port, const proxy_faults& faults = {}, std::uint64_t seed = 1);
    ~fault_proxy();
    fault_proxy(const fault_proxy&) = delete;
    fault_proxy& operator=(const fault_proxy&) = delete;

    std::uint16_t port() const noexcept;
    std::string url(std::string_view path = "") const;  // "http://127.0.0.1:<port>" + path

    // Holds when it returns, for open connections too: for what they pass from now on, with limits that count from zero.
    void set(const proxy_faults& faults);
    void heal() { set({}); }

    std::size_t accepted_connections() const noexcept;

private:
    class server;
    std::unique_ptr<server> server_;
};

}  // namespace test_support
