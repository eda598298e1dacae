#include "a2a/card/card_endpoints.hpp"

#include "a2a/card/card_interfaces.hpp"
#include "a2a/card/card_verify.hpp"

#include <utility>

namespace a2a {
namespace {

const std::string* text_at(const core::json& object, std::string_view name)
{
    const auto* value = find_spelled(object, name);
    return value != nullptr && value->is_string() ? &value->get_ref<const std::string&>() : nullptr;
}

std::optional<binding> binding_named(std::string_view name) noexcept
{
    if (same_name(name, "JSONRPC")) {
        return binding::jsonrpc;
    }
    return same_name(name, "HTTP+JSON") ? std::optional{binding::rest} : std::nullopt;
}

std::optional<generation> generation_in(const core::json& object)
{
    const auto* version = text_at(object, "protocolVersion");
    const auto major =
        version == nullptr ? std::string_view{} : std::string_view{*version}.substr(0, version->find('.'));
    if (major == "1") {
        return generation::v1;
    }
    return major == "0" ? std::optional{generation::v03} : std::nullopt;
}

void add_interfaces(const core::json& document, const interface_list& list, std::vector<card_endpoint>& found)
{
    const auto* all = find_spelled(document, list.member);
    if (all == nullptr || !all->is_array()) {
        return;
    }
    for (std::size_t i = 0; i < all->size(); ++i) {
        const auto& each = (*all)[i];
        const auto* name = each.is_object() ? text_at(each, list.binding) : nullptr;
        const auto* url = each.is_object() ? text_at(each, "url") : nullptr;
        const auto over = name != nullptr ? binding_named(*name) : std::nullopt;
        if (!over || url == nullptr) {
            continue;
        }
        const auto* tenant = list.versioned ? text_at(each, "tenant") : nullptr;
        found.push_back(
            {std::string{list.member} + "[" + std::to_string(i) + "].url",
             *url,
             *over,
             list.versioned ? generation_in(each) : generation_in(document),
             tenant == nullptr ? std::string{} : *tenant}
        );
    }
}

}  // namespace

std::vector<card_endpoint> json_endpoints(const core::json& document)
{
    std::vector<card_endpoint> found;
    if (!document.is_object()) {
        return found;
    }
    add_interfaces(document, interface_lists[1], found);
    const auto* url = text_at(document, "url");
    const auto* preferred = text_at(document, "preferredTransport");
    const auto over = preferred != nullptr ? binding_named(*preferred) : std::optional{binding::jsonrpc};
    if (url != nullptr && over) {
        found.push_back({"url", *url, *over, generation_in(document), {}});
    }
    add_interfaces(document, interface_lists[0], found);
    return found;
}

std::optional<std::string> find_foreign_address(const core::json& served, const public_address& at)
{
    auto leak = find_leak(served, at, {});
    return leak == no_endpoint ? std::nullopt : std::move(leak);
}

}  // namespace a2a
