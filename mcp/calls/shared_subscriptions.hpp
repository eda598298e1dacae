// Which of the clients that share one session with a server is subscribed to which resource (MCP 2025-11-25, server/resources
// "Subscriptions"). The server has one subscription for each resource: made for the first client, ended with the last. Requests
// about one resource are carried out one after the other. Pure: no I/O, no clock; one thread.
#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace mcp {

class shared_subscriptions {
public:
    static constexpr std::size_t most_of_one = 1000;         // resources of one client
    static constexpr std::size_t most_of_principal = 5'000;  // of all clients of one principal
    static constexpr std::size_t most = 10'000;              // of all clients
    static constexpr std::size_t longest_uri = 4096;         // bytes

    // A session of a caller; `principal` is always the same for one number, and empty if callers are not told apart.
    struct subscriber {
        std::uint64_t number = 0;  // never 0
        std::string_view principal{};
    };

    using client_number = std::uint64_t;  // never 0
    using ticket = std::uint64_t;         // of a client's request; the caller numbers them

    // The next request to the server about this resource.
    struct question {
        bool subscribes = false;
        std::string uri;
    };

    // The outcome of a step.
    struct outcome {
        std::optional<question> ask;    // its answer is told with answered()
        std::vector<ticket> done;       // these are answered with an empty result
        std::optional<ticket> carried;  // this one with what the server has just answered
    };

    // A client's request. Fails with invalid_params (the URI is empty or over longest_uri) and overloaded (most_of_one,
    // most_of_principal, most).
    core::result<outcome> subscribe(const subscriber& who, std::string_view uri, ticket request);
    outcome unsubscribe(const subscriber& who, std::string_view uri, ticket request);

    // The server's answer to the question about `uri`, or that none comes: then it was not carried out.
    outcome answered(std::string_view uri, bool success);

    // The client has gone. Its requests are over.
    std::vector<outcome> leave(client_number client);

    // The server has lost its session: it has no subscriptions any more, and answers nothing. Whose requests fail with that.
    std::vector<ticket> lose();

    // After the server has lost its subscriptions: the next resource that clients are still subscribed to. Nothing: there is none.
    std::optional<question> restore();

    // The question that restore() has just given could not be sent: it comes again.
    void keep_lapsed(const std::string& uri);

    // Those who are subscribed to the resource that a server says was updated, or to one that it is a part of, with what they
    // are subscribed to.
    void each_subscriber(
        std::string_view updated,
        const std::function<void(client_number client, const std::string& uri)>& tell
    ) const;

    // The client is subscribed to a resource, or a request of it is under way.
    bool has(client_number client) const noexcept { return clients_.contains(client); }

    // Resources of all clients that they are subscribed to, or about which a request is under way.
    std::size_t size() const noexcept { return held_; }

private:
    enum class asked : std::uint8_t { nothing, subscribe, unsubscribe };

    struct waiting {
        client_number client = 0;  // 0: it has gone
        ticket request = 0;
        bool subscribes = false;
    };

    struct resource {
        std::set<client_number> clients;
        std::deque<waiting> requests;  // the first may be what the server was asked for
        asked under_way = asked::nothing;
        bool carries = false;  // what is under way was asked for by the first request
        bool stands = false;   // at the server
    };
    using resources = std::map<std::string, resource, std::less<>>;

    // How often a client is named in each resource: as subscribed, and by its requests. The keys are those of resources_.
    struct named {
        std::string principal;
        std::map<std::string_view, unsigned> in{};  // never empty
    };

    bool has_room(const subscriber& who, std::string_view uri) const;
    outcome put(const subscriber& who, std::string_view uri, ticket request, bool subscribes);
    void advance(resources::iterator at, outcome& out);
    bool carry_out_here(resources::iterator at, outcome& out);
    void end_first(resources::iterator at, bool success, outcome& out);
    void subscribe(resources::iterator to, client_number client);
    void unsubscribe(resources::iterator from, client_number client);
    void name(resources::iterator in, client_number client);
    void forget(resources::iterator in, client_number client);

    resources resources_;
    std::set<std::string, std::less<>> lapsed_;  // that may have to be subscribed to again
    std::map<client_number, named> clients_;
    std::map<std::string, std::size_t, std::less<>> of_principals_;  // of held_; never 0
    std::size_t held_ = 0;
};

}  // namespace mcp
