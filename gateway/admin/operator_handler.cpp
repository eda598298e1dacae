#include "gateway/admin/operator_handler.hpp"

#include "net/upstream/via.hpp"

#include <utility>

namespace gateway::admin {

operator_handler::operator_handler(std::string_view listener, const core::logger& log) noexcept
    : listener_{listener},
      log_{log}
{
}

std::optional<responses::answer> operator_handler::refusal_of_relayed(const net::server_connection& caller)
{
    if (net::way_of(caller.head().fields).hops == 0) {
        return std::nullopt;
    }
    return responses::explained_answer(
        core::errc::origin_forbidden,
        "This request has come through a Cardea gateway, as its Via says; operators' pages are not for those."
    );
}

net::routine<> operator_handler::refuse(net::server_connection& caller, core::error why)
{
    auto reply = responses::error_answer(why.code, {});
    co_await responses::send_answer(caller, std::move(reply));
}

void operator_handler::failed(std::string_view problem) noexcept
{
    log_.write(core::log_level::error, "internal_error", {{"where", listener_}, {"what", problem}});
}

void operator_handler::on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept
{
    if (how == net::handshake::failed) {
        log_.write(
            core::log_level::debug,
            "handshake_failed",
            {{"listener", listener_}, {"peer", peer}, {"reason", why}}
        );
    }
}

}  // namespace gateway::admin
