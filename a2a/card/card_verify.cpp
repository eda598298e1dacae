#include "a2a/card/card_verify.hpp"

#include "a2a/card/address.hpp"
#include "a2a/card/card_interfaces.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <string_view>

namespace a2a {
namespace {

using core::json;

std::string member_path(const std::string& of, const std::string& name)
{
    return of + "." + name;
}

std::string item_path(const std::string& of, std::size_t i)
{
    return of + "[" + std::to_string(i) + "]";
}

enum class position : std::uint8_t { none, url, interfaces, card };

// A name as the most lenient reader takes it: Go's decoder ignores case as Unicode's simple folding does, by which U+017F
// is an s and U+212A a k; ProtoJSON readers know snake_case.
std::string folded_name(std::string_view member)
{
    std::string folded;
    for (std::size_t i = 0; i < member.size(); ++i) {
        const char c = member[i];
        if (member.substr(i, 2) == "\u017F") {
            folded += 's';
            i += 1;
        } else if (member.substr(i, 3) == "\u212A") {
            folded += 'k';
            i += 2;
        } else if (c != '_' && c != '-') {
            folded += core::lower(c);
        }
    }
    return folded;
}

position position_of(std::string_view member)
{
    const auto folded = folded_name(member);
    if (folded == "url") {
        return position::url;
    }
    if (folded == "additionalinterfaces" || folded == "supportedinterfaces") {
        return position::interfaces;
    }
    return folded == "agentcard" ? position::card : position::none;
}

void collect(const json& value, std::vector<std::string>& authorities)
{
    if (const auto* text = value.get_ptr<const std::string*>()) {
        if (auto authority = authority_of(*text)) {
            authorities.push_back(std::move(*authority));
        }
    }
}

void collect_interface(const json& interface, std::vector<std::string>& authorities)
{
    if (!interface.is_object()) {
        return;
    }
    for (const auto& [key, value] : interface.items()) {
        if (position_of(key) == position::url) {
            collect(value, authorities);
        }
    }
}

void collect_traffic(const json& card, unsigned depth, std::vector<std::string>& authorities)
{
    if (!card.is_object() || depth > max_nested_cards) {
        return;
    }
    for (const auto& [key, value] : card.items()) {
        switch (position_of(key)) {
            case position::url:
                collect(value, authorities);
                break;
            case position::interfaces:
                for (const auto& interface : value) {
                    collect_interface(interface, authorities);
                }
                break;
            case position::card:
                collect_traffic(value, depth + 1, authorities);
                break;
            case position::none:
                break;
        }
    }
}

class leak_search {
public:
    leak_search(const public_address& at, const std::vector<std::string>& hidden)
        : at_{at},
          hidden_{hidden}
    {
    }

    std::optional<std::string> in_card(const json& card, const std::string& path, unsigned depth)
    {
        if (!card.is_object() || depth > max_nested_cards) {
            return path;
        }
        for (const auto& [key, value] : card.items()) {
            const auto place = path.empty() ? key : member_path(path, key);
            if (auto leak = in_member(key, value, place, depth)) {
                return leak;
            }
        }
        return std::nullopt;
    }

    bool endpoint_seen() const noexcept { return endpoint_seen_; }

private:
    std::optional<std::string>
    in_member(const std::string& key, const json& value, const std::string& path, unsigned depth)
    {
        switch (position_of(key)) {
            case position::url:
                return ours(value, depth) ? std::nullopt : std::optional{path};
            case position::interfaces:
                return in_interfaces(value, path, depth);
            case position::card:
                return in_card(value, path, depth + 1);
            case position::none:
                return std::nullopt;
        }
        return path;
    }

    std::optional<std::string> in_interfaces(const json& list, const std::string& path, unsigned depth)
    {
        if (!list.is_array()) {
            return path;
        }
        for (std::size_t i = 0; i < list.size(); ++i) {
            auto here = item_path(path, i);
            if (!list[i].is_object()) {
                return here;
            }
            bool addressed = false;
            for (const auto& [key, value] : list[i].items()) {
                const bool url = position_of(key) == position::url;
                addressed = addressed || url;
                if (url ? !ours(value, depth) : mentions(value, hidden_)) {
                    return member_path(here, key);
                }
            }
            if (!addressed) {
                return here;
            }
        }
        return std::nullopt;
    }

    bool ours(const json& value, unsigned depth)
    {
        const auto* url = value.get_ptr<const std::string*>();
        if (url != nullptr && !at_.grpc.authority.empty() && *url == at_.grpc.authority) {
            endpoint_seen_ = endpoint_seen_ || depth == 0;
            return true;
        }
        if (url == nullptr || !url->starts_with(at_.base)) {
            return false;
        }
        const auto suffix = std::string_view{*url}.substr(at_.base.size());
        // One place, with a slash and without.
        const bool served = suffix == "/" || std::ranges::find(served_bindings, suffix, &served_binding::suffix) !=
                                                 served_bindings.end();
        endpoint_seen_ = endpoint_seen_ || (served && depth == 0);
        return served || (depth > 0 && suffix == card_suffix);
    }

    const public_address& at_;
    const std::vector<std::string>& hidden_;
    bool endpoint_seen_ = false;
};

}  // namespace

std::vector<std::string>
hidden_authorities(const json& original, const public_address& at, const upstream_address& upstream)
{
    std::vector<std::string> authorities;
    for (const auto* url : {&upstream.url, &upstream.card_url}) {
        if (auto authority = authority_of(*url)) {
            authorities.push_back(std::move(*authority));
        }
    }
    collect_traffic(original, 0, authorities);
    // An agent that already names the gateway reveals nothing.
    for (const auto* own : {&at.base, &at.grpc.authority}) {
        if (const auto authority = authority_of(*own)) {
            std::erase(authorities, *authority);
        }
    }
    std::ranges::sort(authorities);
    authorities.erase(std::unique(authorities.begin(), authorities.end()), authorities.end());
    return authorities;
}

bool mentions(const json& value, const std::vector<std::string>& authorities)
{
    const auto hidden = [&](const std::string& text) {
        const auto authority = authority_of(text);
        return authority && std::ranges::binary_search(authorities, *authority);
    };
    if (const auto* text = value.get_ptr<const std::string*>()) {
        return hidden(*text);
    }
    if (value.is_object()) {
        return std::ranges::any_of(value.items(), [&](const auto& item) {
            return hidden(item.key()) || mentions(item.value(), authorities);
        });
    }
    return value.is_array() &&
           std::ranges::any_of(value, [&](const json& item) { return mentions(item, authorities); });
}

std::optional<std::string> find_leak(const json& card, const public_address& at, const std::vector<std::string>& hidden)
{
    leak_search search{at, hidden};
    if (auto leak = search.in_card(card, "", 0)) {
        return leak;
    }
    return search.endpoint_seen() ? std::nullopt : std::optional<std::string>{no_endpoint};
}

}  // namespace a2a
