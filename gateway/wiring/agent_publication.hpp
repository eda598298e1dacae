// Publishes agents and every change of them. On the control loop's thread.
#pragma once

#include "core/log.hpp"
#include "gateway/bridge/bridge_plane.hpp"
#include "gateway/bundles/bundle_plane.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/cards/card_signer.hpp"
#include "gateway/cards/card_source.hpp"
#include "gateway/management/containment.hpp"
#include "gateway/management/directory.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/model/plane.hpp"
#include "gateway/push/push_plane.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/threads/store_thread.hpp"
#include "gateway/tokens/token_plane.hpp"
#include "gateway/worker/worker.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/loop.hpp"

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gateway::wiring {

struct agent_audience {
    const std::vector<std::unique_ptr<worker::worker>>& workers;
    std::span<model::plane* const> planes;
    management::registry& registry;
    cards::card_plane& cards;
    sessions::session_plane& sessions;
    management::directory& directory;
    bridge::bridge_plane& bridge;
};

// Tells workers and planes of the registry's agents, and of every change from now on. Everything here lives until the control loop has
// ended.
void publish_agents(agent_audience audience, std::string public_base);

// Null: there is none that is served, or it is contained.
std::shared_ptr<const model::agent_entry> served_agent(const management::registry& registry, const std::string& id);

// Those that are served, also contained ones, for bundles.
bundles::bundle_plane::agent_source agents_of_bundles(const management::registry& registry);

// Its tokens go to the agents of the registry. References outlive the plane.
std::unique_ptr<tokens::token_plane>
make_token_plane(net::loop& control, net::fetcher& fetcher, management::registry& registry, const core::logger& log);

// What deliveries of push notifications need of the rest.
struct push_sources {
    net::fetcher& fetcher;
    management::registry& registry;
    threads::store_thread& store;  // keeps them meanwhile
    threads::side_thread& long_bodies;
    const core::logger& log;
};

// Delivers push notifications of the registry's agents. References outlive the plane.
std::unique_ptr<push::push_plane>
make_push_plane(net::loop& control, push_sources from, const config::settings& settings);

// Deliveries are signed from now on, on a thread of their own that ends with the plane.
void sign_deliveries(
    push::push_plane& deliveries,
    std::shared_ptr<const cards::card_signer> signer,
    std::string public_base
);

// Loads all three from the store, before it is asked for anything else. `unwritten`: containments of an earlier process. Fails as they do.
core::result<> load_all(
    management::containment_table& contained,
    management::registry& registry,
    push::push_plane& deliveries,
    store::engine& records,
    const std::vector<store::kept_document>& unwritten
);

// Gives the tokens of agents to those who ask the agents for something on the gateway's own behalf. References outlive the loop.
void supply_tokens(tokens::token_plane& from, cards::card_source& cards, sessions::session_plane& sessions);

}  // namespace gateway::wiring
