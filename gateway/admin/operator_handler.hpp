// The common part of the listeners that are not for callers: words for what goes wrong. On the control loop's thread.
#pragma once

#include "core/log.hpp"
#include "gateway/responses/answer.hpp"
#include "net/server/server_connection.hpp"

#include <optional>
#include <string_view>

namespace gateway::admin {

class operator_handler : public net::http_handler {
public:
    // `listener` is what log lines call it, and static. `log` outlives the handler.
    operator_handler(std::string_view listener, const core::logger& log) noexcept;

    net::routine<> refuse(net::server_connection& caller, core::error why) override;
    void failed(std::string_view problem) noexcept override;
    void on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept override;

protected:
    // 403 to a request that has come through a gateway of this kind, whatever it is for: an address that somebody has given to an agent
    // or to a push notification led here, and the peer that is trusted here is the gateway itself. Nothing: it has come through none.
    static std::optional<responses::answer> refusal_of_relayed(const net::server_connection& caller);

private:
    std::string_view listener_;
    const core::logger& log_;
};

}  // namespace gateway::admin
