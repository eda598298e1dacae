// Requests from within the process: a call that a bridge or a bundle makes for its caller. One takes the phases of any other request, so
// that no rule is written twice; only its caller's credential has been looked at before.
#pragma once

#include "core/access.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/secret.hpp"
#include "gateway/model/request_record.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"
#include "net/server/caller_exchange.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gateway::model {

// The caller for whom something within the process calls an agent. Immutable.
struct inner_caller {
    std::shared_ptr<const core::principal> principal;  // null: an anonymous caller
    std::string address;                               // of the caller, behind the proxies that are trusted
    std::string host;                                  // that it asked, as Host gives it
    bool secure = false;                               // it came over TLS, to here or to such a proxy
    // Fields of its request that an inner one has too: its credentials, for agents that get tokens for them, the way that it came and its
    // trace. Never logged.
    std::vector<std::pair<std::string, core::secret>> fields;
    std::optional<bridge_direction> bridge;  // that makes the call; nullopt: a bundle does
    std::string bundle;                      // that the caller called; empty: none
    const net::loop* home = nullptr;         // of the worker that has the caller's request; null: none has
};

using inner_caller_pointer = std::shared_ptr<const inner_caller>;

struct inner_request {
    inner_caller_pointer caller;  // not null
    std::string method = "POST";
    std::string target;                                       // in origin-form, such as /agents/<id>/mcp
    std::vector<std::pair<std::string, std::string>> fields;  // beside those of the caller
    std::shared_ptr<const std::string> body;                  // null: none
    core::duration head_timeout{30'000};                      // from the start until the head of the answer
    core::duration stream_timeout{0};                         // between two pieces of an event stream; 0: none
    std::uint64_t max_size = 8 * 1024 * 1024;                 // of a body that is no event stream
};

// The whole answer; of an event stream its text, up to the end of that.
struct inner_reply {
    net::exchange_head head;
    std::string body;
};

// The callers of requests within the process, to its servers (net::upstream_target::dial) and from them (inner_calls), by a number that
// stands in a field of the request. It counts on connections of the process alone: callers' own fields of that name stay behind. Any thread.
class inner_callers {
public:
    static constexpr std::string_view field_name = "Cardea-Caller";

    // For as long as this, the caller has a number. Movable.
    class place {
    public:
        place() = default;
        place(inner_callers& of, std::uint64_t number) noexcept
            : of_{&of},
              number_{number}
        {
        }
        place(place&& other) noexcept
            : of_{std::exchange(other.of_, nullptr)},
              number_{other.number_}
        {
        }
        place& operator=(place&& other) noexcept
        {
            std::swap(of_, other.of_);
            std::swap(number_, other.number_);
            return *this;
        }
        ~place();

        // The value of the field.
        std::string text() const { return std::to_string(number_); }

    private:
        inner_callers* of_ = nullptr;  // null: there is none
        std::uint64_t number_ = 0;
    };

    // `caller` is not null. This outlives the place.
    place put(inner_caller_pointer caller);

    // Null: no caller has this number.
    inner_caller_pointer find(std::string_view number) const;

private:
    mutable std::mutex mutex_;
    std::unordered_map<std::uint64_t, inner_caller_pointer> callers_;
    std::uint64_t last_ = 0;
};

// As accepted_socket::sender of connections on which the admin listener sends requests of operators on (gateway/console/try.hpp): they are
// those of any caller, with credentials of their own.
inline std::shared_ptr<const void> console_sender() noexcept
{
    static constexpr char mark = 0;
    return {std::shared_ptr<void>{}, &mark};
}

// On the control loop.
class inner_calls {
public:
    // Gives a connection to the worker of that loop, or else to the one that has the fewest.
    using server = std::function<void(net::accepted_socket, const net::loop* home)>;

    // The references outlive this. Connections that it makes have `callers` as their sender, which finds the caller of each request.
    inner_calls(net::loop& control, inner_callers& callers, server serve);

    // Works as net::exchange_client::start(): a caller that leaves is told to the agent when the exchange is destroyed.
    std::unique_ptr<net::exchange> start(inner_request request, net::exchange_observer& observer);

    // The answer, whatever its status, once it is whole. Fails as an exchange ends, and with message_too_large for a stream that is longer
    // than max_size.
    net::task<core::result<inner_reply>> ask(inner_request request);

    // Closes what no exchange has. The loop would wait for it.
    void close() { client_.close(); }

private:
    inner_callers& callers_;
    server serve_;
    net::exchange_client client_;
};

}  // namespace gateway::model
