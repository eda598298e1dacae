// Where the gateway's own exchanges go: what an address means to net/upstream, kept from one request to the next. Seen by exchange.cpp
// only. One thread.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/client/exchange.hpp"
#include "net/upstream/upstream.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>

namespace net {

using exchange_target = std::shared_ptr<const upstream_target>;

class exchange_targets {
public:
    static constexpr std::size_t most = 1024;  // that are kept; with one more all are made again
    static constexpr core::duration longest_trust = std::chrono::minutes{5};  // how old authorities are at most

    // Fails with upstream_protocol: no http or https URL; and with upstream_tls: a file that cannot be used.
    core::result<exchange_target> find(const exchange_request& request);

    // The same for a connection that has yet to be made: with what the files say now.
    core::result<exchange_target> find_for_new(const exchange_request& request, core::steady_time now);

private:
    struct known {
        tls_client_files tls;
        std::shared_ptr<const core::address_rule> addresses;
        core::secret proxy;
        exchange_target target;
    };

    // How the files were when they were read: a text that is another one if they have changed.
    struct reading {
        std::string files;
        core::steady_time at;
    };

    std::unordered_map<std::string, known> known_;       // by URL, with the further parameter
    std::unordered_map<std::string, reading> readings_;  // by the names of the files
    client_contexts contexts_;
};

}  // namespace net
