// One request to a server that wants a token of an OAuth server with each (RFC 6750 section 2.1). Seen by http_wire.cpp only.
#pragma once

#include "core/secret.hpp"
#include "mcp/transport/http_wire.hpp"
#include "net/client/exchange.hpp"

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

namespace mcp {

// Waits for a token before it sends the request. A server that answers 401 has not done what it was asked for (RFC 9110 section
// 15.5.2): with another token it is asked once more. Without a token the exchange ends with what the supply failed with; if there
// is no other token after a 401, that is the answer, without its body.
class authorized_exchange final : public net::exchange, private net::exchange_observer {
public:
    // References outlive it.
    authorized_exchange(http_wire& wire, net::exchange_request request, net::exchange_observer& observer);
    ~authorized_exchange() override = default;
    authorized_exchange(const authorized_exchange&) = delete;
    authorized_exchange& operator=(const authorized_exchange&) = delete;

private:
    void headed(const net::exchange_head& head) override;
    void took(std::string_view piece) override { observer_.took(piece); }
    void ended(core::result<> how) override { observer_.ended(std::move(how)); }

    void ask(core::secret refused);
    void send(core::secret token);
    void go_without(core::error why);

    http_wire& wire_;
    net::exchange_request request_;  // without the token; empty once it is answered
    net::exchange_observer& observer_;
    core::secret sent_;
    std::optional<net::exchange_head> refusal_;  // the first 401
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    std::unique_ptr<net::exchange> under_way_;
};

}  // namespace mcp
