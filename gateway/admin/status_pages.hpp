// What Prometheus and orchestrators ask: `/metrics`, `/healthz` and `/readyz`, for whichever listener. On the control loop's
// thread.
#pragma once

#include "gateway/admin/metrics_body.hpp"
#include "net/server/server_connection.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace gateway::admin {

// What the pages ask of the gateway as a whole.
class status_services {
public:
    virtual ~status_services() = default;

    virtual bool ready() const noexcept = 0;        // takes traffic
    virtual bool audit_fails() const noexcept = 0;  // the latest line for the audit was lost

    // The page, in gzip if that is asked for and there is memory for it; outlived by the services.
    virtual std::unique_ptr<metrics_body> metrics(bool gzip) = 0;
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
