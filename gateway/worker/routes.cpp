#include "gateway/worker/routes.hpp"

#include "gateway/model/well_known.hpp"
#include "gateway/relay/forwarding.hpp"
#include "gateway/request/router.hpp"

#include <string_view>

namespace gateway::worker {
namespace {

using net::http1::method;
using request::identity;
using request::methods_of_agents;
using request::methods_of_mcp;
using request::posting;
using request::reading_methods;
using request::request_context;
using request::route;

// Whether the agent of the request is known and has `path` among its `relay_paths`.
bool relays(const route_objects& objects, request_context& request, std::string_view path)
{
    const auto* known = objects.opaque.visible_agent(request);
    return known != nullptr && request::fits_any(known->entry->record.relay_paths, path);
}

// Whether the agent is known and an MCP server: another one may have a path of this name among its `relay_paths`.
bool is_mcp_server(const route_objects& objects, request_context& request)
{
    const auto* known = objects.opaque.visible_agent(request);
    return known != nullptr && known->entry->record.mcp;
}

net::routine<> serve_server_card(route_objects& objects, request_context& request)
{
    const bool opaque = !is_mcp_server(objects, request) && relays(objects, request, request.to.below);
    return opaque ? objects.opaque.serve(request) : objects.directory.serve(request);
}

// A POST to the agent itself is a call. Anything else is not, but `relay_paths` may let it through.
net::routine<> serve_agent_page(route_objects& objects, request_context& request)
{
    return relays(objects, request, "/") ? objects.opaque.serve(request) : objects.pages.serve_description(request);
}

// Whether MCP clients call the agent here: an MCP server, or one of A2A that is shown as tools, unless its `relay_paths` say otherwise.
bool takes_mcp(const route_objects& objects, request_context& request)
{
    const auto* known = objects.opaque.visible_agent(request);
    if (known == nullptr) {
        return false;
    }
    const auto& agent = *known->entry;
    return agent.record.mcp || (agent.bridged && !request::fits_any(agent.record.relay_paths, model::mcp_path));
}

net::routine<> serve_mcp(route_objects& objects, request_context& request)
{
    if (objects.guard.asks_first(request)) {
        return objects.mcp.serve_options(request);
    }
    return takes_mcp(objects, request) ? objects.mcp.serve(request) : objects.opaque.serve(request);
}

net::routine<> serve_path(route_objects& objects, request_context& request)
{
    return objects.rest.takes(request) ? objects.rest.serve(request) : objects.opaque.serve(request);
}

net::routine<> serve_extended_card(route_objects& objects, request_context& request)
{
    const bool reads = request::reads(request.caller.head().verb);
    const bool opaque = !reads && relays(objects, request, request.to.below);
    return opaque ? objects.opaque.serve(request) : objects.extended_card.serve(request);
}

net::routine<> serve_nothing(route_objects& objects, request_context& request)
{
    return relay::ends_here(request.caller.head()) ? request::respond(request, responses::options_answer())
                                                   : objects.pages.serve_nothing(request);
}

// clang-format off
//                                  methods          of pages           identity              reaches calls  document
constexpr served_route card{route{reading_methods, reading_methods,   identity::of_agent,   true,  false, true},
    [](route_objects& objects, request_context& request) { return objects.card.serve(request); }};
constexpr served_route keys{route{reading_methods, reading_methods,   identity::nobody,     false, false, true},
    [](route_objects& objects, request_context& request) { return objects.pages.serve_keys(request); }};
constexpr served_route metadata{route{reading_methods, reading_methods, identity::nobody,   false, false, true},
    [](route_objects& objects, request_context& request) { return objects.pages.serve_metadata(request); }};
constexpr served_route directory{route{reading_methods, reading_methods, identity::principal, false, false, true},
    [](route_objects& objects, request_context& request) { return objects.directory.serve(request); }};
constexpr served_route server{route{reading_methods, reading_methods, identity::of_agent,   true,  false, true},
    [](route_objects& objects, request_context& request) { return objects.directory.serve(request); }};
constexpr served_route server_card{route{{},       reading_methods,   identity::of_agent,   true,  false, true},
    serve_server_card};
constexpr served_route index{route{reading_methods, reading_methods,  identity::nobody,     false, false, true},
    [](route_objects&, request_context& request) { return pages::public_pages::serve_index(request); }};
constexpr served_route management{route{posting,   posting,           identity::principal,  false, false, false},
    [](route_objects& objects, request_context& request) { return objects.management.serve(request); }};
constexpr served_route registration{route{posting, posting,           identity::registrant, false, false, false},
    [](route_objects& objects, request_context& request) { return objects.management.serve_registration(request); }};
constexpr served_route push{route{posting,         posting,           identity::address,    false, false, false},
    [](route_objects& objects, request_context& request) { return objects.push.serve(request); }};
constexpr served_route call{route{{},              methods_of_agents, identity::of_agent,   true,  true,  false},
    [](route_objects& objects, request_context& request) { return objects.call.serve(request); }};
constexpr served_route grpc_call{route{posting,    posting,           identity::of_named,   true,  true,  false},
    [](route_objects& objects, request_context& request) { return objects.grpc.serve(request); }};
constexpr served_route agent_page{route{{},        methods_of_agents, identity::of_agent,   true,  false, false},
    serve_agent_page};
constexpr served_route mcp_message{route{{},       methods_of_mcp,    identity::of_agent,   true,  true,  false},
    serve_mcp};
constexpr served_route mcp_options{route{{},       methods_of_mcp,    identity::of_agent,   true,  false, false},
    serve_mcp};
constexpr served_route bundle{route{{},           methods_of_mcp,    identity::of_bundle,  false, true,  false},
    [](route_objects& objects, request_context& request) { return objects.bundle.serve(request); }};
constexpr served_route path{route{{},              methods_of_agents, identity::of_agent,   true,  true,  false},
    serve_path};
constexpr served_route extended_card{route{{},     methods_of_agents, identity::of_agent,   true,  false, false},
    serve_extended_card};
constexpr served_route nothing{route{{},           methods_of_agents, identity::principal,  false, false, false},
    serve_nothing};
// clang-format on

}  // namespace

const served_route& route_of(const request_context& request) noexcept
{
    const auto verb = request.caller.head().verb;
    const auto& to = request.to;
    switch (to.where) {
        case model::route::card:
            return card;
        case model::route::key_set:
            return keys;
        case model::route::resource_metadata:
            return metadata;
        case model::route::directory:
            if (to.directory == model::directory_kind::server_card) {
                return server_card;
            }
            return to.agent.empty() ? directory : server;
        case model::route::index:
            return index;
        case model::route::management:
            return management;
        case model::route::registration:
            return registration;
        case model::route::push:
            return push;
        case model::route::call:
            if (!to.grpc.empty()) {
                return grpc_call;
            }
            return verb == method::post ? call : agent_page;
        case model::route::mcp:
            return verb == method::options ? mcp_options : mcp_message;
        case model::route::bundle:
            return bundle;
        case model::route::relay:
            return to.extended == request::extended_path::none ? path : extended_card;
        case model::route::none:
            break;
    }
    return nothing;
}

}  // namespace gateway::worker
