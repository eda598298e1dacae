#include "gateway/router.hpp"

#include "core/agent.hpp"

namespace gateway {
namespace {

constexpr std::string_view agents_prefix = "/agents/";
constexpr std::string_view card_path = "/.well-known/agent-card.json";
constexpr std::string_view legacy_card_path = "/.well-known/agent.json";

}  // namespace

destination find_destination(std::string_view target) noexcept
{
    const auto path = target.substr(0, target.find('?'));
    if (path == "/rpc") {
        return {.where = route::management, .agent = {}, .legacy_card = false};
    }
    if (!path.starts_with(agents_prefix)) {
        return {};
    }
    const auto after = path.substr(agents_prefix.size());
    const auto id = after.substr(0, after.find('/'));
    const auto rest = after.substr(id.size());
    if (!core::valid_agent_id(id)) {
        return {};
    }
    if (rest.empty() || rest == "/") {
        return {.where = route::call, .agent = id, .legacy_card = false};
    }
    if (rest == card_path || rest == legacy_card_path) {
        return {.where = route::card, .agent = id, .legacy_card = rest == legacy_card_path};
    }
    return {};
}

}  // namespace gateway
