// Connections to agents: where an agent is, and one connection of HTTP/1.1 to it. A connection belongs to one loop; a target is an immutable
// value that all loops share.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ip.hpp"
#include "core/url.hpp"
#include "net/http1/body_reader.hpp"
#include "net/http1/chunked.hpp"
#include "net/http1/head.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/stream.hpp"
#include "net/tls/tls_context.hpp"
#include "net/upstream/agent_side.hpp"
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
    // Equal keys share connections: scheme, host, port, the TLS context's files as they were read, `addresses`, `through` and `http2`.
    std::string key;
    bool http2 = false;  // over_http2(); else HTTP/1.1
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

// A target to which HTTP/2 is spoken: chosen by ALPN, or with prior knowledge without TLS (RFC 9113 section 3). A proxy is asked for a
// tunnel then, whatever the scheme is.
upstream_target over_http2(upstream_target made);

class upstream_connection final : public agent_side {
public:
    upstream_connection(loop& owner, std::shared_ptr<const upstream_target> target, std::size_t head_limit);

    // Resolves, if the name is not known, connects to those of the addresses that may_connect() says (net/upstream/connect_race.hpp),
    // shakes hands. The listener is set when it has ended. Fails with upstream_forbidden if there are none of them; with upstream_tls also if
    // HTTP/2 is wanted and the agent does not choose it. With a proxy, connects to that one, and first asks it for a tunnel (RFC 9110
    // section 9.3.6) if the target has TLS or HTTP/2; fails with upstream_proxy.
    void connect(signal& listener) override;

    // Asked whenever the listener was set: an answer of the proxy is read here.
    bool connecting() override;
    const std::optional<core::error>& failure() const noexcept override { return failure_; }

    // Who is woken by what happens on this connection; null: nobody.
    void set_listener(signal* listener) noexcept override;

    stream& side() noexcept { return side_; }
    const upstream_target& target() const noexcept override { return *target_; }
    int socket() noexcept override { return side_.wire().number(); }

    void send(const agent_request& request) override;
    void send_body(std::string_view data, bool last) override;
    bool sending() const noexcept override { return side_.writing(); }
    error_code send_error() const noexcept override { return side_.write_error(); }
    bool unprocessed() noexcept override;
    core::result<bool> read_head(http1::method to) override;
    const http1::response_head& head() const noexcept override { return parser_.head(); }
    void consume_head() override;
    bool answering() const noexcept override { return headed_ || interim_ > 0 || !side_.received().empty(); }
    core::result<std::string_view> take() override;
    bool release() override;
    void rewind() override;
    bool body_done() const noexcept override { return body_.done(); }
    bool full() const noexcept override { return side_.full(); }
    std::uint64_t announced() const noexcept override { return body_.announced(); }
    void widen() override { side_.reserve(large_block); }
    bool ready() const noexcept override { return side_.received().size() > taken_ || side_.ended(); }
    void arm() override { side_.arm(); }
    bool ended() const noexcept override { return side_.ended(); }
    error_code end_reason() const noexcept override { return side_.read_error(); }
    std::uint64_t bytes_in() const noexcept override { return side_.bytes_in(); }
    bool reusable() const noexcept override
    {
        return body_.done() && head().keep_alive && !side_.writing() && !side_.closed();
    }
    upstream_connection* to_keep() noexcept override { return this; }

    // Whether it has carried an exchange before: an end before the first byte of an answer may then be the agent's
    // idle timeout crossing our request.
    bool reused() const noexcept override { return reused_; }

    // The pool has it now, for the next call.
    void rest() noexcept;

    // Whether another call may have it now: its life is not over, and its address is still one of the host's. While the host has no
    // known addresses, the one that it has stays good.
    bool usable(core::steady_time now) noexcept;

    // A call takes it: its name stays in use.
    void note_use(core::steady_time now) noexcept;

    // Whether a target of the same key may have it: its address is one that the target allows.
    bool suits(const upstream_target& target) const noexcept;

    // The agent's side has ended the connection in order, and its kernel has acknowledged no more than the first `bytes` that were written:
    // what came after them cannot have been processed.
    bool ended_before(std::uint64_t bytes) noexcept;

    connection_life& life() noexcept { return life_; }

    void close() noexcept override;

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
    void add_body(pieces& out, std::string_view data, bool last);

    std::shared_ptr<const upstream_target> target_;
    loop& loop_;
    resolver::name_ptr name_;             // null: the host is an address
    resolver::ticket lookup_;             // while the name is being looked up
    std::unique_ptr<connect_race> race_;  // while it connects
    std::string tunnel_request_;          // while the proxy is asked for a tunnel
    unsigned interim_ = 0;                // answers to that, and later to the request
    asio::ip::address address_;           // since then
    unsigned checked_ = 0;                // name_->changes when address_ was found to be one of the name's
    connection_life life_;
    stream side_;
    http1::response_parser parser_;
    http1::body_reader body_;        // of the answer
    http1::chunk_header chunk_{0};   // of what is being sent
    std::uint64_t sent_before_ = 0;  // bytes written before the request
    std::size_t head_length_ = 0;    // of the answer, until it is consumed
    std::size_t taken_ = 0;          // bytes received and not released
    std::optional<core::error> failure_;
    signal* listener_ = nullptr;
    bool connecting_ = false;
    bool reused_ = false;
    bool chunked_ = false;  // the request
    bool headed_ = false;   // the head of the answer has come
};

}  // namespace net
