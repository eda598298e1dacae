#include "a2a/card/card_interfaces.hpp"

#include "a2a/card/address.hpp"
#include "a2a/card/card_verify.hpp"
#include "core/ascii.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace a2a {
namespace {

constexpr std::array<std::string_view, 3> bindings{"JSONRPC", "HTTP+JSON", "GRPC"};

// U+017F LATIN SMALL LETTER LONG S and U+212A KELVIN SIGN: Unicode folds no others to a letter of ASCII.
constexpr std::array<std::pair<std::string_view, char>, 2> letters_beyond_ascii{{{"\u017F", 's'}, {"\u212A", 'k'}}};

// The next byte that counts, folded, off the front of `name`; nothing at its end.
std::optional<char> take_folded(std::string_view& name) noexcept
{
    while (name.starts_with('-') || name.starts_with('_')) {
        name.remove_prefix(1);
    }
    for (const auto& [spelled, letter] : letters_beyond_ascii) {
        if (name.starts_with(spelled)) {
            name.remove_prefix(spelled.size());
            return letter;
        }
    }
    if (name.empty()) {
        return std::nullopt;
    }
    const char c = name.front();
    name.remove_prefix(1);
    return core::lower(c);
}

const std::string* text_at(const core::json& object, std::string_view name)
{
    const auto* value = find_spelled(object, name);
    return value != nullptr && value->is_string() ? &value->get_ref<const std::string&>() : nullptr;
}

std::optional<binding> binding_named(std::string_view name) noexcept
{
    constexpr std::array<std::pair<std::string_view, binding>, 3> named{
        {{"JSONRPC", binding::jsonrpc}, {"HTTP+JSON", binding::rest}, {"GRPC", binding::grpc}}
    };
    const auto* const found =
        std::ranges::find_if(named, [&](const auto& each) { return same_name(each.first, name); });
    return found == named.end() ? std::nullopt : std::optional{found->second};
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

using core::json;

// Other members of an interface survive unless they are one more way to the agent's address. A tenant is part of every
// call: without it the interface would not work, so it stays and the check at the end decides.
void hide_address(json& interface, const std::vector<std::string>& hidden)
{
    json::object_t kept;
    kept.reserve(interface.size());
    for (auto& [key, value] : interface.get_ref<json::object_t&>()) {
        if (key == "tenant" || key == "url" || !(mentions(json(key), hidden) || mentions(value, hidden))) {
            kept.emplace_back(key, std::move(value));
        }
    }
    interface.get_ref<json::object_t&>() = std::move(kept);
}

bool is_modern(const json& interface)
{
    const auto* version = core::string_member(interface, "protocolVersion");
    return version != nullptr && one_or_later(*version).value_or(false);
}

// An empty tenant is none: ProtoJSON writers that write defaults have it in every interface.
const json* tenant_of(const json& interface)
{
    const auto* tenant = core::member(interface, "tenant");
    return tenant == nullptr || *tenant == "" ? nullptr : tenant;
}

// The generation of an interface of such a list. Where interfaces have no version, callers of 0.3 read them.
generation generation_of_interface(const json& interface, const interface_list& list)
{
    return list.versioned && is_modern(interface) ? generation::v1 : generation::v03;
}

// The tenant that calls name, if the agent's own is `own`.
std::string offered_tenant(const served_binding& binding, const public_address& at, std::string_view own)
{
    auto tenant = binding.by_grpc ? at.grpc.tenant : std::string{};
    tenant += tenant.empty() || own.empty() ? "" : "/";
    return tenant.append(own);
}

// Whether the agent may take calls over the binding itself.
bool is_own(const served_binding& binding, const public_address& at) noexcept
{
    return !binding.by_grpc || at.grpc.own;
}

class interface_offer {
public:
    interface_offer(const interface_list& list, const public_address& at)
        : list_{list},
          at_{at}
    {
    }

    // An interface of the agent, unless one is there already that callers could not tell from it, callers are not offered the binding, or
    // the agent does not take calls over it.
    void take(json interface, const served_binding& binding)
    {
        if (list_.versioned && at_.bridged) {
            const auto version = is_modern(interface) || !interface.contains("protocolVersion")
                                     ? bridged_versions.front()
                                     : bridged_versions.back();
            interface["protocolVersion"] = std::string{version};
        } else if (list_.versioned && !interface.contains("protocolVersion")) {
            interface["protocolVersion"] = "1.0";
        }
        const auto* written = tenant_of(interface);
        const json own = written == nullptr ? json{} : *written;
        if (list_.versioned && is_modern(interface) && is_own(binding, at_)) {
            own_tenants_.push_back(own);
        }
        if (!is_offered(binding, at_, generation_of_interface(interface, list_)) || !is_own(binding, at_)) {
            return;
        }
        interface["url"] = url_of(binding, at_);
        interface[std::string{list_.binding}] = std::string{binding.name};
        if (const auto* text = own.get_ptr<const std::string*>(); binding.by_grpc && !at_.grpc.tenant.empty()) {
            interface["tenant"] = offered_tenant(binding, at_, text == nullptr ? std::string_view{} : *text);
        }
        if (first_ == nullptr) {
            first_ = &binding;
        }
        if (seen_.insert(identity(interface, binding)).second) {
            kept_.push_back(std::move(interface));
        }
    }

    // Adds what the gateway serves besides. Callers of 0.3 know no tenant.
    void complete()
    {
        if (!list_.versioned) {
            add({}, {});
            return;
        }
        for (const auto& tenant : own_tenants_) {
            if (!tenant.is_null()) {
                add(bridged_versions.front(), tenant);
            }
        }
        if (own_tenants_.empty() || std::ranges::any_of(own_tenants_, &json::is_null)) {
            add(bridged_versions.front(), {});
        }
        add(bridged_versions.back(), {});
    }

    // 1.x before 0.x: several SDKs take the first interface of a binding whatever its version.
    json::array_t ordered() &&
    {
        if (!list_.versioned) {
            return std::move(kept_);
        }
        json::array_t ordered;
        json::array_t older;
        ordered.reserve(kept_.size());
        for (auto& each : kept_) {
            (is_modern(each) ? ordered : older).push_back(std::move(each));
        }
        std::ranges::move(older, std::back_inserter(ordered));
        return ordered;
    }

private:
    // Tells one endpoint from another once all of them share the gateway's address.
    static std::string identity(const json& interface, const served_binding& binding)
    {
        const auto* version = core::string_member(interface, "protocolVersion");
        const auto* tenant = tenant_of(interface);
        auto key = std::string{binding.name} + '\n';
        key += version == nullptr ? std::string_view{} : major_minor(*version);
        return key + '\n' + (tenant == nullptr ? std::string{} : core::to_text(*tenant));
    }

    // One over each binding, that of the agent's first interface first: its callers need no translation. A null tenant: none.
    void add(std::string_view version, const json& tenant)
    {
        const auto* const first = first_ == nullptr ? &served_bindings.front() : first_;
        add(*first, version, tenant);
        for (const auto& binding : served_bindings) {
            if (&binding != first) {
                add(binding, version, tenant);
            }
        }
    }

    void add(const served_binding& binding, std::string_view version, const json& tenant)
    {
        const auto* const text = tenant.get_ptr<const std::string*>();
        if (!is_offered(binding, at_, version == bridged_versions.front() ? generation::v1 : generation::v03)) {
            return;
        }
        auto made = list_.versioned
                        ? made_interface(binding, at_, version, text == nullptr ? std::string_view{} : *text)
                        : json{{"url", url_of(binding, at_)}, {std::string{list_.binding}, std::string{binding.name}}};
        if (text == nullptr && !tenant.is_null()) {
            made["tenant"] = tenant;
        }
        if (seen_.insert(identity(made, binding)).second) {
            kept_.push_back(std::move(made));
        }
    }

    const interface_list& list_;
    const public_address& at_;
    const served_binding* first_ = nullptr;  // of the agent's first interface that is offered; null: it has none
    std::vector<json> own_tenants_;          // of its interfaces of 1.0 that calls reach; null: one has none
    std::set<std::string> seen_;
    json::array_t kept_;
};

// The bindings that a card names.
class named_bindings {
public:
    explicit named_bindings(const json& card)
    {
        const auto* preferred = core::string_member(card, "preferredTransport");
        if (preferred != nullptr) {
            note(*preferred);
        } else if (card.contains("url")) {
            note(served_bindings.front().name);  // the specification's own default (types.ts of 0.3.0)
        }
        for (const auto& list : interface_lists) {
            const auto* interfaces = core::member(card, list.member);
            if (interfaces == nullptr || !interfaces->is_array()) {
                continue;
            }
            for (const auto& each : *interfaces) {
                if (const auto* binding = core::string_member(each, list.binding)) {
                    note(*binding);
                }
            }
        }
    }

    bool reachable() const noexcept { return reachable_ || beyond_.empty(); }

    std::string listed() const
    {
        std::string text;
        for (const auto& each : beyond_) {
            text += (text.empty() ? "" : ", ") + each;
        }
        return text;
    }

private:
    void note(std::string_view binding)
    {
        constexpr std::size_t most_named = 4;
        constexpr std::size_t longest = 64;
        const auto* known = known_binding(binding);
        const auto* served = find_served(binding);
        if ((served != nullptr && !served->by_grpc) || (known == nullptr && !is_uri(binding))) {
            reachable_ = true;
            return;
        }
        const auto name = core::cut_utf8(known == nullptr ? binding : *known, longest);
        if (beyond_.size() < most_named && std::ranges::find(beyond_, name) == beyond_.end()) {
            beyond_.emplace_back(name);
        }
    }

    bool reachable_ = false;
    std::vector<std::string> beyond_;
};

}  // namespace

bool same_name(std::string_view a, std::string_view b) noexcept
{
    for (;;) {
        const auto letter = take_folded(a);
        if (letter != take_folded(b)) {
            return false;
        }
        if (!letter) {
            return true;
        }
    }
}

const core::json* find_spelled(const core::json& object, std::string_view name)
{
    if (const auto* exact = core::member(object, name)) {
        return exact;
    }
    if (object.is_object()) {
        for (const auto& [key, value] : object.items()) {
            if (same_name(key, name)) {
                return &value;
            }
        }
    }
    return nullptr;
}

const std::string_view* known_binding(std::string_view name) noexcept
{
    const auto found = std::ranges::find_if(bindings, [&](std::string_view known) { return same_name(known, name); });
    return found == bindings.end() ? nullptr : &*found;
}

const served_binding* find_served(std::string_view name) noexcept
{
    const auto found =
        std::ranges::find_if(served_bindings, [&](const served_binding& b) { return same_name(b.name, name); });
    return found == served_bindings.end() ? nullptr : &*found;
}

std::string_view major_minor(std::string_view version) noexcept
{
    const auto dot = version.find('.');
    return dot == std::string_view::npos ? version : version.substr(0, version.find('.', dot + 1));
}

std::optional<bool> one_or_later(std::string_view version) noexcept
{
    const auto digits = version.substr(0, version.find('.'));
    if (digits.empty() || !std::ranges::all_of(digits, core::is_digit)) {
        return std::nullopt;
    }
    return std::ranges::any_of(digits, [](char c) { return c != '0'; });
}

std::vector<card_endpoint> card_endpoints(const core::json& document)
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

std::string url_of(const served_binding& binding, const public_address& at)
{
    return binding.by_grpc ? at.grpc.authority : at.base + std::string{binding.suffix};
}

bool is_offered(const served_binding& binding, const public_address& at, generation version) noexcept
{
    return !binding.by_grpc || (!at.grpc.authority.empty() && (version == generation::v1 || at.grpc.tenant.empty()));
}

json made_interface(
    const served_binding& binding,
    const public_address& at,
    std::string_view version,
    std::string_view tenant
)
{
    json::object_t members;
    members.emplace_back("url", url_of(binding, at));
    members.emplace_back("protocolBinding", std::string{binding.name});
    if (auto named = offered_tenant(binding, at, tenant); !named.empty()) {
        members.emplace_back("tenant", std::move(named));
    }
    members.emplace_back("protocolVersion", std::string{version});
    return members;
}

const served_binding& main_binding(const json& card, const public_address& at)
{
    const auto offered = [&](std::string_view name) {
        const auto* binding = find_served(name);
        const bool good = binding != nullptr && is_offered(*binding, at, generation::v03) && is_own(*binding, at);
        return good ? binding : nullptr;
    };
    const auto* preferred = core::string_member(card, "preferredTransport");
    const auto* binding = preferred == nullptr ? &served_bindings.front() : offered(*preferred);
    if (binding != nullptr) {
        return *binding;
    }
    const auto& list = interface_lists.front();
    if (const auto* more = core::member(card, list.member); more != nullptr && more->is_array()) {
        for (const auto& each : *more) {
            const auto* named = core::string_member(each, list.binding);
            if (const auto* served = named == nullptr ? nullptr : offered(*named)) {
                return *served;
            }
        }
    }
    return served_bindings.front();
}

json::array_t offered_interfaces(const json::array_t& written, const interface_list& list, const offer_target& to)
{
    interface_offer offer{list, to.at};
    for (const auto& each : written) {
        const auto* named = core::string_member(each, list.binding);
        if (const auto* binding = named == nullptr ? nullptr : find_served(*named)) {
            auto interface = each;
            hide_address(interface, to.hidden);
            offer.take(std::move(interface), *binding);
        }
    }
    if (to.at.bridged) {
        offer.complete();
    }
    return std::move(offer).ordered();
}

std::string unreachable_bindings(const json& card)
{
    const named_bindings named{card};
    return named.reachable() ? std::string{} : named.listed();
}

}  // namespace a2a
