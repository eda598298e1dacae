#include "net/server/http_service.hpp"

#include "net/loop/thrown.hpp"

#include <exception>
#include <utility>

namespace net {

http_service::http_service(loop& owner, http_handler& handler, server_settings settings)
    : loop_{owner},
      handler_{handler},
      settings_{settings},
      spaces_{settings_.head}
{
    settings_.streams = &streams_;
}

http_service::~http_service() = default;

void http_service::serve(accepted_socket from)
{
    if (draining_) {
        open_.fetch_sub(1, std::memory_order_relaxed);
        return;
    }
    from.tls = tls_;
    auto owned = std::make_unique<server_connection>(loop_, std::move(from), handler_, settings_, spaces_);
    auto* connection = owned.get();
    connections_.emplace(connection, std::move(owned));
    if (ending_) {
        connection->announce_end();
    }
    start(connection->run(), [this, connection](const std::exception_ptr& bug) { ended(connection, bug); });
}

void http_service::set_tls(tls_context tls)
{
    const bool same = same_client_authorities(tls_, tls);
    tls_ = std::move(tls);
    for (const auto& [key, connection] : connections_) {
        if (!same) {
            connection->distrust();
        }
    }
}

void http_service::ended(server_connection* connection, const std::exception_ptr& bug)
{
    report_thrown(bug, [this](std::string_view text) { handler_.failed(text); });
    connections_.erase(connection);
    open_.fetch_sub(1, std::memory_order_relaxed);
}

void http_service::announce_end()
{
    ending_ = true;
    for (const auto& [key, connection] : connections_) {
        connection->announce_end();
    }
}

void http_service::drain()
{
    draining_ = true;
    for (const auto& [key, connection] : connections_) {
        connection->drain();
    }
}

void http_service::abort()
{
    for (const auto& [key, connection] : connections_) {
        connection->abort();
    }
}

}  // namespace net
