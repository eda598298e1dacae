#include "gateway/operator_handler.hpp"

#include "gateway/model/answer.hpp"

#include <utility>

namespace gateway {

operator_handler::operator_handler(std::string_view listener, const core::logger& log) noexcept
    : listener_{listener},
      log_{log}
{
}

net::routine<> operator_handler::refuse(net::server_connection& caller, core::error why)
{
    auto reply = model::error_answer(why.code, {});
    co_await model::send_answer(caller, std::move(reply));
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

}  // namespace gateway
