// Connections to agents: where an agent is, one connection to it, and the pool of those that can be used again. A pool
// belongs to one loop; a target is an immutable value that all loops share.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ip.hpp"
#include "core/url.hpp"
#include "net/http1/head.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/stream.hpp"
#include "net/tls/tls_context.hpp"
#include "net/upstream/connect_race.hpp"
#include "net/upstream/connection_life.hpp"
#include "net/upstream/proxies.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace net {

struct upstream_target {
    // Equal keys share connections: scheme, host, port, the TLS context's files as they were read, `addresses`, and `through`.
    std::string key;
    std::string host;
    std::string port;
    std::string certified{};  // the name that its certificate has to be for; empty: `host`
    std::string authority;    // for the Host field: without the scheme's default port
    std::string path;         // origin-form, with the query if the URL has one; at least "/"
    std::shared_ptr<const core::address_rule> addresses;  // what may_connect() asks; null: any address
    tls_context tls;                                      // null: plain
    std::shared_ptr<const proxy> through;                 // null: connections go to the host itself
    // In front of the path of each request, which a proxy takes in absolute form (RFC 9112 section 3.2.2) if it makes no tunnel; empty: it
    // gets none.
    std::string absolute;
    std::string tunnel{};  // the host and port for which a proxy is asked; empty: none is
    // Gives one end of a connection to a server within the process, connected; a closed one: there is no room. Called on any loop. Empty:
    // the server is reached over the network.
    std::function<core::descriptor()> dial{};
};

// Contexts for agents, one for each set of files, so that the authorities are read and kept once.
class client_contexts {
public:
    // Fails as make_client_tls().
    core::result<tls_context> get(const tls_client_files& files);

    // From now on files are read again, and what is made from them shares no connections with what was made before.
    void renew();
    unsigned generation() const noexcept { return generation_; }

private:
    unsigned generation_ = 0;
    std::map<std::array<std::string, 3>, tls_context> made_;
};

// From an http or https URL. `own_proxy`: as net::proxy_to(). Fails with config_invalid: a URL that is none of these, a file that cannot be
// used, a proxy that is none.
core::result<upstream_target> make_target(
    const std::string& url,
    const tls_client_files& files,
    client_contexts& contexts,
    std::shared_ptr<const core::address_rule> addresses = nullptr,
    const core::secret& own_proxy = {}
);

// Adds the head of a request, `pieces` of which have room for five, as the proxy of the target takes it. All outlive the pieces.
void add_head(pieces& request, std::string_view head, const upstream_target& to);

// An answer to such a request that is the proxy's own: it does not know the gateway. Its status as a detail.
std::optional<core::error> refusal_of_proxy(unsigned status, const upstream_target& to);

class upstream_connection final {
public:
    upstream_connection(loop& owner, std::shared_ptr<const upstream_target> target, std::size_t head_limit);
    upstream_connection(const upstream_connection&) = delete;
    upstream_connection& operator=(const upstream_connection&) = delete;

    // Resolves, if the name is not known, connects to those of the addresses that may_connect() says (net/upstream/connect_race.hpp),
    // shakes hands. The listener is set when it has ended. Fails with upstream_forbidden if there are none of them. With a proxy, connects to
    // that one, and first asks it for a tunnel (RFC 9110 section 9.3.6) if the target has TLS; fails with upstream_proxy.
    void connect(signal& listener);

    // Asked whenever the listener was set: an answer of the proxy is read here.
    bool connecting();
    const std::optional<core::error>& failure() const noexcept { return failure_; }

    // Who is woken by what happens on this connection; null: nobody.
    void set_listener(signal* listener) noexcept;

    stream& side() noexcept { return side_; }
    http1::response_parser& parser() noexcept { return parser_; }
    const upstream_target& target() const noexcept { return *target_; }

    // Whether it has carried an exchange before: an end before the first byte of an answer may then be the agent's
    // idle timeout crossing our request.
    bool reused() const noexcept { return reused_; }
    void mark_reused() noexcept { reused_ = true; }

    // Whether another call may have it now: its life is not over, and its address is still one of the host's. While the host has no
    // known addresses, the one that it has stays good.
    bool usable(core::steady_time now) noexcept;

    // A call takes it: its name stays in use.
    void note_use(core::steady_time now) noexcept;

    // Whether a target of the same key may have it: its address is one that the target allows.
    bool suits(const upstream_target& target) const noexcept;

    connection_life& life() noexcept { return life_; }

    // Whether the agent's side had ended the connection before anything beyond its first `bytes` written bytes came:
    // it ended in order (a FIN: end of stream, or EPIPE where our bytes then met no socket), and its kernel acknowledged
    // nothing more. What was written since then cannot have been processed, whatever it asks for.
    bool ended_before(std::uint64_t bytes) noexcept;

    void close() noexcept;

private:
    void on_resolved(error_code ec);
    void begin(const address_list& found);
    void on_connected(core::descriptor socket, std::size_t place);
    void on_refused(error_code last);
    void on_opened(error_code ec);
    void ask_for_tunnel();
    void read_tunnel_answer();
    void shake_hands();
    void fail(core::errc code, std::string detail);
    void finish();

    std::shared_ptr<const upstream_target> target_;
    loop& loop_;
    resolver::name_ptr name_;             // null: the host is an address
    resolver::ticket lookup_;             // while the name is being looked up
    std::unique_ptr<connect_race> race_;  // while it connects
    std::string tunnel_request_;          // while the proxy is asked for a tunnel
    unsigned interim_ = 0;                // answers to that
    asio::ip::address address_;           // since then
    unsigned checked_ = 0;                // name_->changes when address_ was found to be one of the name's
    connection_life life_;
    stream side_;
    http1::response_parser parser_;
    std::optional<core::error> failure_;
    signal* listener_ = nullptr;
    bool connecting_ = false;
    bool reused_ = false;
};

using upstream_lease = std::unique_ptr<upstream_connection>;

// 0 to less than 1. Any thread.
double random_share();

struct pool_settings {
    std::size_t head_limit = 64 * 1024;
    std::size_t idle_connections = 256;  // per target
    life_settings life{};
    double (*random)() = random_share;
};

class upstream_pool final : public timed {
public:
    upstream_pool(loop& owner, pool_settings settings);
    ~upstream_pool() override;  // close() comes first

    // A connection that was used before and is open as far as can be known, or null. One that its agent may be about to close stays where it
    // is, and shows for how long the agent keeps it.
    upstream_lease take_idle(const upstream_target& target);

    // A new one, not yet connected.
    upstream_lease make(std::shared_ptr<const upstream_target> target);

    // After an exchange that left it clean: for the next one. Else: discard().
    void give_back(upstream_lease connection);
    void discard(upstream_lease connection);

    // Closes what is idle of this target: its host is down, or it is not called any more. What carries an exchange stays.
    void drop_idle(std::string_view key);

    // Closes what is idle and keeps nothing from now on.
    void close();

    std::size_t idle() const noexcept { return idle_count_; }

    void on_due() override {}
    void on_sweep(core::steady_time now) override;

private:
    struct resting {
        std::vector<upstream_lease> list;
        keepalive_estimate trust{};
        core::steady_time used{};  // when a connection was given back
    };

    loop& loop_;
    pool_settings settings_;
    std::unordered_map<std::string, resting> idle_;  // by target
    std::size_t idle_count_ = 0;
    bool closed_ = false;
};

}  // namespace net
