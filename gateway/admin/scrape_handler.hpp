// The listener `metrics`: the status pages for whoever reaches it, under any `Host`, since Prometheus and kubelets send
// the address of a pod; 404 for the rest. On the control loop's thread.
#pragma once

#include "gateway/admin/operator_handler.hpp"
#include "gateway/admin/status_pages.hpp"

namespace gateway::admin {

class scrape_handler final : public operator_handler {
public:
    // References outlive the handler.
    scrape_handler(status_services& services, const core::logger& log);

    net::routine<> handle(net::server_connection& caller) override;

private:
    status_pages pages_;
};

}  // namespace gateway::admin
