// The requests of a delivery: to its receiver, and to the agent if the receiver needs the whole task; and the meaning of the
// receiver's answer. Pure; any thread.
#pragma once

#include "a2a/method.hpp"
#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/model/snapshot.hpp"
#include "net/client/fetch.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::push {

// Body of a notification that goes out, or the task that has to be asked for before.
struct outgoing_body {
    std::string text;
    std::optional<std::string> missing_task{};  // its id: the receiver knows tasks only, and this is an update of one
};

// The body in the receiver's generation. Fails with internal: it is no notification, or cannot be said there.
core::result<outgoing_body> make_body(const std::string& notification, ::a2a::generation receiver);

// The token goes out under both names that receivers of A2A know; `Cardea-Delivery` has `id`. Public addresses only, and those of
// push_allow; redirects are answers.
net::fetch_request make_delivery(
    const model::push_receiver& receiver,
    std::string body,
    std::string_view id,
    const config::settings& settings
);

// Whether a request can be sent at all: its URL is one, and its fields have no line breaks or other control characters. What cannot
// be sent now never can.
bool can_be_sent(const net::fetch_request& request);

// GetTask of A2A 1.0 with the agent's own credentials: over HTTP+JSON, as a GET, if the agent has no JSON-RPC of 1.0 but that; else
// over JSON-RPC. Fails with upstream_protocol: no path can have the task's id.
core::result<net::fetch_request>
make_task_request(const model::agent_entry& agent, std::string_view task, const config::settings& settings);

// The notification of 1.0 with the task that such a request was answered with, over HTTP+JSON or JSON-RPC. Fails with upstream_status and
// upstream_protocol.
core::result<std::string> read_task_answer(const net::fetch_response& answer, bool rest);

// How a delivery ends; also a metric label. All but the first are failures.
enum class push_end : std::uint8_t {
    delivered,
    rejected,    // a status that another attempt would not change
    redirected,  // 3xx: where to is not for the receiver to say
    forbidden,   // none of the receiver's addresses is allowed
    unreadable,  // it cannot be opened, read or said in the caller's generation
    exhausted,   // limits.push_attempts
    expired,     // timeouts.push_age
};
inline constexpr std::size_t push_ends = static_cast<std::size_t>(push_end::expired) + 1;

std::string_view name(push_end e) noexcept;

struct push_verdict {
    std::optional<push_end> end;  // nullopt: it is tried again
    std::string why;              // for the log: a status, or the code of an error
    core::duration patience{};    // that the receiver asks for; 0: it does not
    bool elsewhere = false;       // another replica delivers it
    bool untried = false;         // the store does not answer: it is no attempt
};

// 2xx has delivered. 408, 425, 429, 5xx, failures of the connection and those of the gateway itself may be tried again, all else not.
push_verdict judge(const core::result<net::fetch_response>& answer);

inline constexpr std::chrono::seconds first_pause{1};
inline constexpr std::chrono::minutes longest_pause{5};

// After so many failed attempts: twice as long after each, less up to half of it by `random` from [0, 1); not less than
// the receiver asks for, up to longest_pause.
core::duration pause_after(std::uint64_t attempts, core::duration patience, double random) noexcept;

}  // namespace gateway::push
