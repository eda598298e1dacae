// The pages for Prometheus and orchestrators: `/metrics`, `/healthz` and `/readyz`, for whichever listener. On the control loop's
// thread.
#pragma once

#include "gateway/admin/metrics_feed.hpp"
#include "net/server/server_connection.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace gateway::admin {

// The gateway, as far as the pages show it.
class status_services {
public:
    virtual ~status_services() = default;

    virtual bool ready() const noexcept = 0;        // takes traffic
    virtual bool audit_fails() const noexcept = 0;  // the latest line for the audit was lost

    // The page; the services outlive it.
    virtual std::unique_ptr<metrics_feed> metrics() = 0;
};

class status_pages {
public:
    // The services outlive the pages.
    explicit status_pages(status_services& services)
        : services_{services}
    {
    }

    // Whether there is such a page.
    static bool serves(std::string_view path) noexcept;

    // Answers a request for a page that is served; other methods than GET and HEAD get 405.
    net::routine<> answer(net::server_connection& caller, std::string path);

private:
    net::routine<> send_metrics(net::server_connection& caller);

    status_services& services_;
};

}  // namespace gateway::admin
