// The pages for Prometheus and orchestrators, `/metrics`, `/healthz` and `/readyz`, and the listener that has nothing else. On the control
// loop's thread.
#pragma once

#include "core/log.hpp"
#include "gateway/admin/metrics_feed.hpp"
#include "gateway/responses/answer.hpp"
#include "net/server/caller_exchange.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::admin {

// The gateway, as far as the pages show it.
struct status_services {
    std::function<bool()> ready;        // takes traffic
    std::function<bool()> audit_fails;  // the latest line for the audit was lost

    // The page; the services outlive it.
    std::function<std::unique_ptr<metrics_feed>()> metrics;
};

class status_pages {
public:
    // The services outlive the pages.
    explicit status_pages(const status_services& services)
        : services_{services}
    {
    }

    // Whether there is such a page.
    static bool serves(std::string_view path) noexcept;

    // Answers a request for a page that is served; other methods than GET and HEAD get 405.
    net::routine<> answer(net::caller_exchange& caller, std::string path);

private:
    net::routine<> send_metrics(net::caller_exchange& caller);

    const status_services& services_;
};

// The common part of the listeners that are not for callers: words for what goes wrong.
class operator_handler : public net::http_handler {
public:
    // `listener` is what log lines call it, and static. `log` outlives the handler.
    operator_handler(std::string_view listener, const core::logger& log) noexcept;

    net::routine<> refuse(net::caller_exchange& caller, core::error why) override;
    void failed(std::string_view problem) noexcept override;
    void on_handshake(net::handshake how, std::string_view peer, std::string_view why) noexcept override;
    void on_abuse(std::string_view peer, net::http2::limit which) noexcept override;

protected:
    // 403 to a request that has come through a gateway of this kind, whatever it is for: an address that somebody has given to an agent
    // or to a push notification led here, and the peer that is trusted here is the gateway itself. Nothing: it has come through none.
    static std::optional<responses::answer> refusal_of_relayed(const net::caller_exchange& caller);

private:
    std::string_view listener_;
    const core::logger& log_;
};

// The listener `metrics`: the pages for whoever reaches it, under any `Host`, since Prometheus and kubelets send the address of a pod;
// 404 for the rest.
class scrape_handler final : public operator_handler {
public:
    // References outlive the handler.
    scrape_handler(const status_services& services, const core::logger& log);

    net::routine<> handle(net::caller_exchange& caller) override;

private:
    status_pages pages_;
};

}  // namespace gateway::admin
