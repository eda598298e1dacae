// Ties the pins of agents to those who serve what agents say of themselves. On the control loop's thread.
#pragma once

#include "config/settings.hpp"
#include "core/log.hpp"
#include "gateway/cards/card_plane.hpp"
#include "gateway/management/pin_book.hpp"
#include "gateway/management/registry.hpp"
#include "gateway/sessions/session_plane.hpp"
#include "gateway/threads/store_thread.hpp"
#include "net/loop/loop.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gateway::wiring {

// All of it outlives the book.
struct pin_audience {
    net::loop& control;
    const config::settings& settings;
    management::registry& registry;
    threads::store_thread& store;
    const core::logger& log;
    cards::card_plane& cards;
    sessions::session_plane& sessions;
};

// From now on entries, cards and lists go by it. Before the registry loads.
std::unique_ptr<management::pin_book> make_pin_book(const pin_audience& told);

// The function for model::control_services::note_tools; any thread may call it.
std::function<void(std::string id, std::vector<::mcp::listed_item> tools)>
note_tools_with(net::loop& control, const std::unique_ptr<management::pin_book>& book);

}  // namespace gateway::wiring
