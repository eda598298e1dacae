// The table of routes: for each kind of address its methods, who may use it, and the function that answers. One thread, that of the
// worker.
#pragma once

#include "gateway/a2a/a2a_routes.hpp"
#include "gateway/a2a/grpc_route.hpp"
#include "gateway/mcp/route/bundle_route.hpp"
#include "gateway/mcp/route/mcp_route.hpp"
#include "gateway/pages/page_routes.hpp"
#include "gateway/request/access_guard.hpp"
#include "gateway/request/agent_relay.hpp"
#include "gateway/request/local_snapshot.hpp"
#include "gateway/request/replica_relay.hpp"
#include "gateway/request/route.hpp"
#include "gateway/telemetry/worker_metrics.hpp"

namespace gateway::worker {

// The objects behind the routes of one worker.
struct route_objects {
    route_objects(model::control_services& of_control, net::upstream_pool& pool, const config::settings& of_settings)
        : control{of_control},
          settings{of_settings},
          relays{control, pool, settings, metrics},
          replicas{relays, pool, settings, known}
    {
    }

    model::control_services& control;
    const config::settings& settings;
    telemetry::worker_metrics metrics{};
    request::local_snapshot known{};
    request::agent_relay relays;
    request::replica_relay replicas;
    request::access_guard guard{control, settings, known};
    a2a::call_route call{control, settings, known, relays};
    a2a::rest_route rest{control, settings, known, relays};
    a2a::opaque_route opaque{control, settings, known, relays};
    a2a::extended_card_route extended_card{control, settings, known, relays};
    a2a::grpc_route grpc{control, settings, known, relays, guard};
    a2a::card_route card{control, settings, known};
    a2a::push_route push{control, settings, known};
    mcp::route::mcp_route mcp{control, settings, known, relays, replicas};
    mcp::route::bundle_route bundle{control, settings, known, {mcp, guard, metrics, replicas}};
    pages::directory_route directory{control, settings, known};
    pages::management_route management{control, settings, known};
    pages::public_pages pages{control, settings, known};
};

struct served_route : request::route {
    net::routine<> (*serve)(route_objects& objects, request::request_context& request) = nullptr;
};

// The route of a request, once its destination is known.
const served_route& route_of(const request::request_context& request) noexcept;

}  // namespace gateway::worker
