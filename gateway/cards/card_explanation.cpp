#include "gateway/cards/card_explanation.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::cards {
namespace {

using core::json;

// A place in the four stages; null: it is not in that one.
struct place {
    const json* raw;
    const json* repaired;
    const json* prepared;
    const json* served;
};

constexpr std::array<std::string_view, 4> traffic{
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "supportedInterfaces",
};

// Members that versions of cards say in different ways: one that is gone in a translated card is there in other words.
constexpr std::array<std::string_view, 7> translated{
    "protocolVersion",
    "supportsAuthenticatedExtendedCard",
    "authentication",
    "security",
    "securityRequirements",
    "securitySchemes",
    "capabilities",
};

bool is_one_of(const auto& names, std::string_view name)
{
    return std::ranges::find(names, name) != names.end();
}

bool same(const json* a, const json* b)
{
    return a == nullptr || b == nullptr ? a == b : *a == *b;
}

std::string pointer_token(std::string_view name)
{
    std::string out;
    for (const char c : name) {
        out += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    }
    return out;
}

// The part of a list with this `id`; null: none.
const json* with_id(const json* list, std::string_view id)
{
    if (list == nullptr || !list->is_array()) {
        return nullptr;
    }
    const auto found = std::ranges::find_if(*list, [&](const json& each) {
        const auto* own = core::string_member(each, "id");
        return own != nullptr && *own == id;
    });
    return found == list->end() ? nullptr : &*found;
}

// Every part is an object with an `id` of its own. Long lists are compared by place: to look each part up takes time.
bool has_ids(const json& list)
{
    constexpr std::size_t longest = 200;
    std::set<std::string_view> ids;
    return list.size() <= longest && std::ranges::all_of(list, [&](const json& each) {
               const auto* id = core::string_member(each, "id");
               return id != nullptr && ids.insert(*id).second;
           });
}

const json* part(const json* list, std::size_t index)
{
    return list != nullptr && list->is_array() && index < list->size() ? &(*list)[index] : nullptr;
}

const json* member_of(const json* object, std::string_view name)
{
    return object == nullptr ? nullptr : core::member(*object, name);
}

class comparison {
public:
    // Paths in the raw and in the served card; `top` is the first member on the way.
    struct path {
        std::string raw;
        std::string served;
        std::string top;
    };

    void compare(const place& at, const path& where)
    {
        if (changes_.size() >= most_changes || same(at.raw, at.served)) {
            return;
        }
        const bool both = at.raw != nullptr && at.served != nullptr;
        if (both && at.raw->is_object() && at.served->is_object()) {
            compare_members(at, where);
        } else if (both && at.raw->is_array() && at.served->is_array()) {
            compare_parts(at, where);
        } else {
            add(at, where);
        }
    }

    json take() && { return std::move(changes_); }

private:
    void compare_members(const place& at, const path& where)
    {
        const auto go = [&](const std::string& name) {
            const place next{
                member_of(at.raw, name),
                member_of(at.repaired, name),
                member_of(at.prepared, name),
                member_of(at.served, name)
            };
            const auto token = '/' + pointer_token(name);
            const bool nested = where.top.empty() || where.top == "agentCard";
            compare(next, {where.raw + token, where.served + token, nested ? name : where.top});
        };
        for (const auto& each : at.raw->items()) {
            go(each.key());
        }
        for (const auto& each : at.served->items()) {
            if (!at.raw->contains(each.key())) {
                go(each.key());
            }
        }
    }

    void compare_parts(const place& at, const path& where)
    {
        if (has_ids(*at.raw) && has_ids(*at.served)) {
            compare_by_id(at, where);
            return;
        }
        for (std::size_t i = 0; i < std::max(at.raw->size(), at.served->size()); ++i) {
            const place next{part(at.raw, i), part(at.repaired, i), part(at.prepared, i), part(at.served, i)};
            const auto token = '/' + std::to_string(i);
            compare(next, {where.raw + token, where.served + token, where.top});
        }
    }

    void compare_by_id(const place& at, const path& where)
    {
        const auto go = [&](const json& each, std::size_t raw, std::size_t served) {
            const auto& id = *core::string_member(each, "id");
            const place next{
                with_id(at.raw, id),
                with_id(at.repaired, id),
                with_id(at.prepared, id),
                with_id(at.served, id)
            };
            compare(
                next,
                {where.raw + '/' + std::to_string(raw), where.served + '/' + std::to_string(served), where.top}
            );
        };
        for (std::size_t i = 0; i < at.raw->size(); ++i) {
            const auto* const served = with_id(at.served, *core::string_member((*at.raw)[i], "id"));
            go((*at.raw)[i], i, served == nullptr ? 0 : static_cast<std::size_t>(served - &at.served->front()));
        }
        for (std::size_t i = 0; i < at.served->size(); ++i) {
            if (with_id(at.raw, *core::string_member((*at.served)[i], "id")) == nullptr) {
                go((*at.served)[i], 0, i);
            }
        }
    }

    static std::string_view why(const place& at, std::string_view top)
    {
        const bool routes = is_one_of(traffic, top);
        if (top == "signatures") {
            return "signature";
        }
        if (same(at.raw, at.prepared) || (at.served == nullptr && at.prepared != nullptr)) {
            const bool lost = at.served == nullptr && !routes && !is_one_of(translated, top);
            return lost ? "dropped" : "translated";
        }
        if (routes) {
            return "rewritten";
        }
        if (!same(at.raw, at.repaired)) {
            return "repaired";
        }
        return at.raw == nullptr ? "added" : at.served == nullptr ? "dropped" : "rewritten";
    }

    void add(const place& at, const path& where)
    {
        const auto* const op = at.raw == nullptr ? "add" : at.served == nullptr ? "remove" : "replace";
        json change{
            {"op", op},
            {"path", at.served == nullptr ? where.raw : where.served},
            {"why", why(at, where.top)},
        };
        const auto show = [&](const char* key, const json* value) {
            if (value == nullptr) {
                return;
            }
            if (auto text = core::to_text(*value); text.size() <= longest_shown_value) {
                change[key] = *value;
            }
        };
        show("from", at.raw);
        show("to", at.served);
        changes_.push_back(std::move(change));
    }

    json changes_ = json::array();
};

}  // namespace

json explain_card(const card_stages& stages)
{
    comparison all;
    all.compare({&stages.raw, &stages.repaired, &stages.prepared, &stages.served}, {});
    return std::move(all).take();
}

}  // namespace gateway::cards
