#include "a2a/card/card_endpoints.hpp"

#include "a2a/card/card_interfaces.hpp"
#include "a2a/card/card_verify.hpp"

#include <utility>

namespace a2a {
namespace {

void add_jsonrpc(const core::json& document, const interface_list& list, std::vector<card_endpoint>& found)
{
    const auto* all = find_spelled(document, list.member);
    if (all == nullptr || !all->is_array()) {
        return;
    }
    for (std::size_t i = 0; i < all->size(); ++i) {
        const auto& each = (*all)[i];
        const auto* binding = each.is_object() ? find_spelled(each, list.binding) : nullptr;
        const auto* url = each.is_object() ? find_spelled(each, "url") : nullptr;
        if (binding != nullptr && binding->is_string() && url != nullptr && url->is_string() &&
            same_name(binding->get_ref<const std::string&>(), "JSONRPC")) {
            found.push_back({std::string{list.member} + "[" + std::to_string(i) + "].url", url->get<std::string>()});
        }
    }
}

}  // namespace

std::vector<card_endpoint> jsonrpc_endpoints(const core::json& document)
{
    std::vector<card_endpoint> found;
    add_jsonrpc(document, interface_lists[1], found);
    const auto* url = find_spelled(document, "url");
    const auto* preferred = find_spelled(document, "preferredTransport");
    const bool other = preferred != nullptr && preferred->is_string() &&
                       !same_name(preferred->get_ref<const std::string&>(), "JSONRPC");
    if (url != nullptr && url->is_string() && !other) {
        found.push_back({"url", url->get<std::string>()});
    }
    add_jsonrpc(document, interface_lists[0], found);
    return found;
}

std::optional<std::string> find_foreign_address(const core::json& served, const public_address& at)
{
    auto leak = find_leak(served, at, {});
    return leak == no_endpoint ? std::nullopt : std::move(leak);
}

}  // namespace a2a
