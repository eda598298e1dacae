#include "mcp/transport/authorized_exchange.hpp"

#include <boost/asio/co_spawn.hpp>

#include <exception>
#include <utility>

namespace mcp {

authorized_exchange::authorized_exchange(
    http_wire& wire,
    net::exchange_request request,
    net::exchange_observer& observer
)
    : wire_{wire},
      request_{std::move(request)},
      observer_{observer}
{
    ask({});
}

// Also a token that is at hand comes after this call, as exchange_client tells nothing from within start().
void authorized_exchange::ask(core::secret refused)
{
    auto asked = wire_.settings.tokens(std::move(refused));
    net::asio::co_spawn(
        wire_.on.get_executor(),
        std::move(asked),
        [this, alive = std::weak_ptr{alive_}](const std::exception_ptr& bug, core::result<core::secret> token) {
            if (alive.expired()) {
                return;
            }
            if (bug) {
                return go_without(core::gateway_error(core::errc::internal, "the token could not be asked for"));
            }
            token ? send(std::move(*token)) : go_without(std::move(token).error());
        }
    );
}

void authorized_exchange::send(core::secret token)
{
    wire_.token = token;
    sent_ = std::move(token);
    auto request = refusal_ ? std::move(request_) : request_;
    wire_.show_token(request);
    net::exchange_observer& self = *this;
    under_way_ = wire_.client.start(std::move(request), self);
}

void authorized_exchange::headed(const net::exchange_head& head)
{
    if (head.status == 401 && !refusal_) {
        refusal_ = head;
        under_way_.reset();
        return ask(sent_);
    }
    request_ = {};
    observer_.headed(head);
}

void authorized_exchange::go_without(core::error why)
{
    if (!refusal_) {
        return observer_.ended(std::move(why));
    }
    const std::weak_ptr<bool> alive{alive_};
    const auto head = std::move(*refusal_);
    observer_.headed(head);
    if (!alive.expired()) {
        observer_.ended({});
    }
}

}  // namespace mcp
