// Everything that can be configured, as one validated value. Every default stands here and nowhere else;
// docs/configuration.md is generated from the table in config/schema.cpp that names these members.
#pragma once

#include "core/access.hpp"
#include "core/agent.hpp"
#include "core/call_limits.hpp"
#include "core/clock.hpp"
#include "core/log.hpp"
#include "core/mcp_bundle.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace config {

using namespace std::chrono_literals;  // NOLINT(google-global-names-in-headers): units for the defaults below

struct endpoint {
    std::string host;  // an IP address, or a name to bind to; without brackets
    std::uint16_t port = 0;

    friend bool operator==(const endpoint&, const endpoint&) = default;
};

// PEM files: the certificate with its chain, and its key.
struct certificate_files {
    std::string cert;
    std::string key;
    std::vector<std::string> names;  // whom it is shown to; empty: the DNS names in it

    friend bool operator==(const certificate_files&, const certificate_files&) = default;
};

struct card_settings {
    core::duration ttl = 5min;     // how long a card is fresh when the agent does not say
    core::duration min_ttl = 10s;  // bounds for what the agent says
    core::duration max_ttl = 24h;
    core::duration stale_if_error = 1h;    // how much longer a card is served while the agent fails
    core::duration negative_ttl = 5s;      // how long a failure is remembered
    core::duration timeout = 5s;           // for one whole fetch, all addresses that are tried included
    std::uint64_t max_size = 1024 * 1024;  // of a fetched card
    core::card_shape shape = core::card_shape::automatic;
    core::signature_policy signatures = core::signature_policy::strip;
    std::string signing_key;                   // PEM: what cards are signed with
    std::string retired_keys;                  // JWK Set: earlier keys, published beside it
    std::string trusted_keys;                  // JWK Set: whose signatures count
    std::vector<std::string> key_set_origins;  // https origins that a signature's `jku` may name
    std::uint64_t background = 32;             // fetches under way beyond which none is begun that nobody asks for
};

struct timeout_settings {
    core::duration handshake = 10s;          // a caller's TLS handshake
    core::duration header = 10s;             // a request head, from its first byte or from the connection's start
    core::duration body = 60s;               // a request body, whole
    core::duration body_grace = 10s;         // by which it may fall behind limits.body_rate
    core::duration idle = 75s;               // a kept connection between two requests
    core::duration write = 30s;              // a caller that takes nothing
    core::duration connect = 3s;             // name resolution, TCP and TLS to an agent
    core::duration dns = 2s;                 // one lookup of an agent's name
    core::duration upstream_head = 10min;    // from a request that may start work to the head of the agent's answer
    core::duration upstream_read = 30s;      // the same of a request that only reads
    core::duration upstream_idle = 5min;     // between two pieces of an agent's answer
    core::duration stream_keep_alive = 15s;  // a caller of a silent stream gets a comment; 0: never
    core::duration upstream_keep = 60s;      // an unused connection to an agent
    core::duration upstream_max_age = 600s;  // a connection to an agent, minus up to a fifth
    core::duration push = 10s;               // one attempt to deliver a push notification
    core::duration push_age = 24h;           // how long that is tried
    core::duration linger = 2s;              // what a caller still sends after an early answer is read and dropped
    core::duration drain_delay = 0s;         // connections are still accepted after the gateway is told to stop
    core::duration drain_idle = 2s;          // an idle connection when connections are not accepted any more
    core::duration drain = 30s;              // unary calls in flight when the gateway is told to stop
    core::duration drain_streams = 30s;      // streams in flight when the gateway is told to stop
    core::duration task = 24h;               // how long it is known whose a task is, after it was seen last
    core::duration http2_age = 1h;           // a caller's connection over HTTP/2, minus up to a fifth; 0: any age
};

struct limit_settings {
    std::uint64_t stream_body = 10 * 1024 * 1024;   // a request body that is passed through as it comes: 413
    std::uint64_t body = 10 * 1024 * 1024;          // a request body: 413
    std::uint64_t body_memory = 256 * 1024 * 1024;  // bodies that are held at a time, by the whole process: 503
    std::uint64_t linger_bytes = 16 * 1024 * 1024;  // of what is dropped after an early answer
    std::uint64_t lingering = 256;                  // connections at a time where that is done, of the whole process
    std::uint64_t header = 32 * 1024;               // a request head: 431
    std::uint64_t header_fields = 100;              // its fields: 431
    std::uint64_t header_value = 16 * 1024;         // the value of one of them: 431
    std::uint64_t target = 8 * 1024;                // its target: 414
    std::uint64_t upstream_header = 64 * 1024;      // an answer's head: 502
    std::uint64_t sse_event = 10 * 1024 * 1024;     // one event of a stream: the stream is cut
    std::uint64_t upstream_connections = 256;       // idle connections kept per agent and worker
    std::uint64_t upstream_requests = 10'000;       // on one connection to an agent
    std::uint64_t rpc_batch = 50;                   // calls in one management batch
    std::uint64_t rpc_body = 64 * 1024;             // a request body of /rpc on listen: 413
    std::uint64_t rpc_answer = 4 * 1024 * 1024;     // the answer to a batch, or a page of a list
    std::uint64_t rpc_memory = 64 * 1024 * 1024;    // all answers of /rpc that are being built or sent: 503
    std::uint64_t body_rate = 1000;                 // bytes a second of a request body; slower: 408; 0: any
    std::uint64_t read_ahead = 16 * 1024;           // bytes behind a request that is being answered; more are not read
    std::uint64_t requests = 1000;                  // on one connection, which then closes
    std::uint64_t streams = 10'000;                 // of events, open at a time per worker: 503
    std::uint64_t hops = 4;                         // gateways of this kind that a request has come through: 508
    std::uint64_t tasks = 100'000;                  // of which it is known whose they are
    std::uint64_t failed_credentials = 10;          // from one address in a second, per worker: 429
    std::uint64_t metrics_connections = 64;         // open at a time: 503
    std::uint64_t push_config = 2 * 1024;           // bytes of a caller's push configuration: -32602
    std::uint64_t push_body = 1024 * 1024;          // of a push notification of an agent: 413
    std::uint64_t push_queue = 10'000;              // notifications that wait: 503
    std::uint64_t push_queue_agent = 1000;          // of one agent: 503
    std::uint64_t push_queue_bytes = 64 * 1024 * 1024;  // of all of them: 503
    std::uint64_t push_attempts = 30;                   // to deliver one
    std::uint64_t connections = 0;                      // of callers, open at a time: 503; 0: 45 % of the descriptors
    std::uint64_t program_starts = 0;                   // programs of MCP servers, at a time; 0: one for each core
    std::uint64_t history_agents = 2000;                // agents whose calls of the last day are remembered
    std::uint64_t http2_streams = 256;             // of a caller's connection whose work has not ended: REFUSED_STREAM
    std::uint64_t http2_resets = 100;              // streams reset in a second, ten times as many at once: GOAWAY
    std::uint64_t http2_control = 50;              // frames without use in a second, the same
    std::uint64_t upstream_http2_connections = 8;  // open per origin and worker
    std::uint64_t grpc_message = 4 * 1024 * 1024;  // one message of a call, either way: RESOURCE_EXHAUSTED
};

// How gRPC callers reach agents that have no name of their own.
struct grpc_settings {
    std::string public_address;  // host:port, as cards show it; empty: that of public_url
    std::string default_agent;   // the agent of calls that name none; empty: such calls are refused
};

struct mcp_settings {
    core::duration walk = 5min;  // between walks over the lists of a server that has sessions; 0: never
    // Hex or base64 of 32 bytes each. The first seals session ids, all of them open them; none: the gateway makes one.
    std::vector<core::secret> session_keys;
    std::vector<std::string> origins;  // as cors_settings::origins, of which this is the previous name
    // Streams of events keep this for clients that resume one.
    std::uint64_t replay_events = 256;               // of one stream
    std::uint64_t replay_stream = 1024 * 1024;       // bytes of one stream
    std::uint64_t replay_memory = 64 * 1024 * 1024;  // bytes of all of them; 0: no stream can be resumed
    core::duration replay_time = 5min;               // that an event is kept
    std::vector<core::mcp_bundle> bundles;           // in the order of the file; names are unique
};

// The web pages that may call the gateway (Fetch standard, "CORS protocol").
struct cors_settings {
    std::vector<std::string> origins;  // of pages, besides the gateway's own; the port may be `*`
    bool credentials = false;          // they may send cookies and client certificates
    core::public_documents documents = core::public_documents::automatic;
};

// Defaults of agents.
struct agent_defaults {
    core::breaker_settings breaker;
    core::endpoint_defaults endpoints;
    core::call_limits calls;
    core::pin_mode pin = core::pin_mode::warn;
};

// Approved cards, tools and instructions of agents that are kept in a file.
struct pin_file_settings {
    std::string file;  // empty: none
};

// The calls that belong together: of one trace, or of one context.
struct chain_settings {
    std::uint64_t in_flight = 256;  // at a time: 508
    std::uint64_t calls = 0;        // in one window: 508; 0: any number
    core::duration window = 10min;
};

// Deadlines that callers announce.
struct deadline_settings {
    std::vector<std::string> fields{"X-Envoy-Expected-Rq-Timeout-Ms", "X-Request-Timeout-Ms"};
};

// When the gateway itself has too much to do: the marks of levels 1, 2 and 3.
struct overload_settings {
    std::array<core::duration, 3> lag{50ms, 200ms, 500ms};  // of the loop that runs latest
    std::array<std::uint64_t, 3> memory{85, 92, 95};        // percent of the control group's limit
};

// Cardea's part in traces.
struct trace_settings {
    std::string endpoint;  // of a collector of OpenTelemetry, no trailing slash; empty: it takes none
    double sample = 0.1;   // of the traces that begin here
};

struct reload_settings {
    bool watch = true;  // the file is read again when it changes
};

struct handover_settings {
    core::duration timeout = 60s;  // how long a new process may be silent before it serves
};

struct error_settings {
    bool a2x = false;  // callers of A2A 0.3 without a credential get the JSON-RPC error of A2X
    core::error_edition profile = core::error_edition::v1_0_1;
};

struct debug_settings {
    bool core = false;  // a crash may leave the memory on disk, with the secrets in it
};

// Lookups of agents' names.
struct dns_settings {
    core::duration refresh = 30s;  // from one lookup to the next
    core::duration stale = 5min;   // how long addresses stay valid while lookups fail
};

// How a store that several replicas share is used; nothing for the others.
struct store_settings {
    std::string password_file;    // read at each connection; empty: libpq's PGPASSWORD and PGPASSFILE
    core::duration timeout = 3s;  // of one operation, with its settlement
    core::duration poll = 1s;     // from one look for changes to the next
    bool notify = true;           // changes are looked for as soon as the database says that there are some
};

// This process among those that share a store.
struct replica_settings {
    std::string name;  // in logs and lists; empty: the name of the host
    std::string url;   // where the others reach `listen`; no trailing slash; empty: nowhere
};

// The settings of the process.
struct process_settings {
    endpoint listen{"127.0.0.1", 4000};
    endpoint admin{"127.0.0.1", 4001};
    endpoint metrics{};                          // for scraping alone; without a host: none
    std::uint64_t metrics_agents = 1000;         // agents with series of their own
    bool admin_programs = false;                 // who reaches admin may have programs started as MCP servers
    bool console = true;                         // admin has the page for operators, and tries agents for them
    bool http2 = true;                           // all listeners speak HTTP/2 too
    std::vector<certificate_files> tls;          // of listen; empty: no TLS
    std::vector<certificate_files> admin_tls;    // of admin
    std::vector<certificate_files> metrics_tls;  // of metrics
    std::string public_url;                      // no trailing slash; empty: http(s):// and the address that listen got
    std::vector<std::string> trusted_proxies;    // addresses and blocks of core/ip.hpp
    core::secret proxy;                          // of connections to agents and other servers, as core::agent::proxy
    std::vector<std::string> no_proxy;           // hosts of core/proxy.hpp that are connected to directly
    std::vector<std::string> hosts;  // names of Host that are answered, `*` for all; empty: see docs/configuration.md
    std::string agent_hosts;         // as core::valid_host_pattern(): a name for each agent; empty: none
    std::uint64_t workers = 0;       // 0: one per core
    core::push_mode push = core::push_mode::passthrough;  // of agents that do not say
    std::vector<std::string> push_allow;                  // blocks, besides public addresses, of callers' push URLs
    bool push_sign = false;                               // deliveries have a signature of cards.signing_key
    core::log_level log_level = core::log_level::info;
    core::log_format log_format = core::log_format::automatic;
    std::string
        store;  // `memory`, `sqlite:PATH` or `postgresql://...`; empty: a file below the user's state directory (gateway/lifecycle/open_store.hpp)
    store_settings store_options;
    replica_settings replica;
    core::access_settings access;
    core::admin_access admin_access = core::admin_access::loopback;
    core::registration_settings registration;
    core::rate_limits rate_limits;
    std::string audit = "off";  // `off`, `stdout` or `file:PATH`
    debug_settings debug;
    trace_settings trace;
    card_settings cards;
    timeout_settings timeouts;
    limit_settings limits;
    grpc_settings grpc;
    dns_settings dns;
    cors_settings cors;
    mcp_settings mcp;
    agent_defaults defaults;
    pin_file_settings pins;
    chain_settings chains;
    deadline_settings deadlines;
    overload_settings overload;
    error_settings errors;
    reload_settings reload;
    handover_settings handover;
};

class rule_places;

struct settings : process_settings {
    std::vector<core::agent> agents;           // in the order of the file; ids are unique
    std::shared_ptr<const rule_places> rules;  // of their policies and those of `access`; null: there is no file
};

}  // namespace config
