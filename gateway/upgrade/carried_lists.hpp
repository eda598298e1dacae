// What MCP servers list, as a message of a hand-over. Pure.
#pragma once

#include "gateway/sessions/passed_lists.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace gateway::upgrade {

std::string content_of(const sessions::passed_lists& lists);

// Nothing: it is not whole.
std::optional<sessions::passed_lists> lists_in(std::string_view content);

}  // namespace gateway::upgrade
