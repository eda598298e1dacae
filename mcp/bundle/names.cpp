#include "mcp/bundle/names.hpp"

#include "core/ascii.hpp"
#include "core/utf8.hpp"
#include "jose/digest.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

namespace mcp {
namespace {

constexpr std::string_view separator = "__";
constexpr std::size_t mark_digits = 8;

bool is_name_byte(char c) noexcept
{
    return core::is_letter(c) || core::is_digit(c) || c == '_' || c == '-';
}

std::string prefixed(std::string_view as, std::string_view own)
{
    std::string name;
    name.reserve(as.size() + separator.size() + own.size());
    if (!as.empty()) {
        name.append(as).append(separator);
    }
    return name;
}

// Claims by the name that each has for now. Rounds, each of which moves all that conflict at once, make the outcome independent of the order.
class name_settlement {
public:
    name_settlement(std::span<const name_claim> claims, std::size_t longest, std::span<const std::string> taken)
        : claims_{claims},
          longest_{longest},
          taken_{taken.begin(), taken.end()},
          settled_(claims.size())
    {
    }

    std::vector<settled_name> settle()
    {
        for (std::size_t i = 0; i < claims_.size(); ++i) {
            put(i, claims_[i].at_least);
        }
        while (!disputed_.empty()) {
            std::vector<std::size_t> moving;
            for (const auto& name : std::exchange(disputed_, {})) {
                take_losers(name, moving);
            }
            for (const auto claim : moving) {
                advance(claim);
            }
        }
        return std::move(settled_);
    }

private:
    void put(std::size_t claim, name_form form)
    {
        auto& settled = settled_[claim];
        settled.form = form;
        settled.exposed = exposed_name(claims_[claim].as, claims_[claim].own, longest_, form);
        auto& holders = holders_[settled.exposed];
        holders.push_back(claim);
        if (holders.size() > 1 || taken_.contains(settled.exposed)) {
            disputed_.insert(settled.exposed);
        }
    }

    void advance(std::size_t claim)
    {
        switch (settled_[claim].form) {
            case name_form::plain:
                return put(claim, name_form::marked);
            case name_form::marked:
                return put(claim, name_form::marked_twice);
            case name_form::marked_twice:
                settled_[claim].exposed.clear();
        }
    }

    // Moves those of a disputed name that have to get another one.
    void take_losers(const std::string& name, std::vector<std::size_t>& moving)
    {
        auto& holders = holders_[name];
        if (taken_.contains(name)) {
            moving.insert(moving.end(), holders.begin(), holders.end());
            holders.clear();
            return;
        }
        const auto bare = [this](std::size_t claim) { return claims_[claim].as.empty(); };
        const bool some_bare = std::ranges::any_of(holders, bare) && !std::ranges::all_of(holders, bare);
        const auto lowest = std::ranges::min(holders, {}, [this](std::size_t claim) { return settled_[claim].form; });
        const auto form = settled_[lowest].form;
        const auto stays = [&](std::size_t claim) { return some_bare ? !bare(claim) : settled_[claim].form != form; };
        const auto losers = std::partition(holders.begin(), holders.end(), stays);
        moving.insert(moving.end(), losers, holders.end());
        holders.erase(losers, holders.end());
        if (holders.size() > 1) {
            disputed_.insert(name);
        }
    }

    std::span<const name_claim> claims_;
    std::size_t longest_;
    std::set<std::string, std::less<>> taken_;
    std::vector<settled_name> settled_;
    std::map<std::string, std::vector<std::size_t>, std::less<>> holders_;
    std::set<std::string> disputed_;
};

}  // namespace

std::string joined_name(std::string_view as, std::string_view own)
{
    return prefixed(as, own).append(own);
}

std::string exposed_name(std::string_view as, std::string_view own, std::size_t longest, name_form form)
{
    auto name = prefixed(as, own);
    for (auto rest = own; !rest.empty();) {
        const bool plain = is_name_byte(rest.front());
        name += plain ? rest.front() : '_';
        rest.remove_prefix(plain ? 1 : core::first_code_point(rest).bytes);
    }
    if (form == name_form::plain && name.size() <= longest) {
        return name;
    }
    const auto digest = jose::sha256_hex(form == name_form::marked_twice ? joined_name(as, own) : std::string{own});
    name.resize(std::min(name.size(), longest - mark_digits - 1));
    return name.append("_").append(digest, 0, mark_digits);
}

std::vector<settled_name>
settled_names(std::span<const name_claim> claims, std::size_t longest, std::span<const std::string> taken)
{
    return name_settlement{claims, longest, taken}.settle();
}

}  // namespace mcp
