#include "core/mcp_bundle.hpp"

#include "core/ascii.hpp"
#include "core/pattern.hpp"

#include <algorithm>
#include <functional>
#include <set>

namespace core {
namespace {

constexpr std::string_view without_a_letter = "agent";

bool is_of_prefix(char c) noexcept
{
    return is_letter(c) || is_digit(c) || c == '-' || c == '_';
}

class placing {
public:
    explicit placing(const mcp_bundle& bundle)
        : bundle_{bundle}
    {
        for (const auto& each : bundle.agents) {
            if (!each.is_pattern()) {
                named_.insert(each.id);
            }
        }
    }

    bundle_places place(const std::vector<std::string>& ids)
    {
        take_schemes(ids);
        for (const auto& each : bundle_.agents) {
            if (each.is_pattern()) {
                bring(each.id, ids);
            } else if (std::ranges::binary_search(ids, each.id)) {
                out_.members.push_back({each.id, each.as.value_or(each.id)});
            }
        }
        return std::move(out_);
    }

private:
    // A member that is named comes before what a pattern brings, wherever the two are written.
    void take_schemes(const std::vector<std::string>& ids)
    {
        for (const auto& each : bundle_.agents) {
            if (!each.is_pattern()) {
                schemes_.insert(bundle_scheme(each.as.value_or(each.id)));
                left_ -= std::ranges::binary_search(ids, each.id) ? 1 : 0;  // at most as many as are written
            }
        }
    }

    void bring(const std::string& pattern, const std::vector<std::string>& ids)
    {
        for (const auto& id : ids) {
            if (!fits(pattern, id) || !named_.insert(id).second) {
                continue;
            }
            if (!valid_bundle_prefix(id) || id.size() + least_behind_prefix > bundle_.name_length) {
                out_.skipped.emplace_back(id, bundle_gap::unfit_id);
            } else if (left_ == 0) {
                out_.skipped.emplace_back(id, bundle_gap::full);
            } else if (!schemes_.insert(bundle_scheme(id)).second) {
                out_.skipped.emplace_back(id, bundle_gap::taken);
            } else {
                --left_;
                out_.members.push_back({id, id});
            }
        }
    }

    const mcp_bundle& bundle_;
    std::set<std::string, std::less<>> named_;  // and those that a pattern has brought
    std::set<std::string> schemes_;
    std::size_t left_ = most_bundle_agents;
    bundle_places out_;
};

}  // namespace

std::string_view name(bundle_gap gap) noexcept
{
    switch (gap) {
        case bundle_gap::unfit_id:
            return "unfit_id";
        case bundle_gap::taken:
            return "taken";
        case bundle_gap::full:
            break;
    }
    return "full";
}

bundle_places places_of(const mcp_bundle& bundle, const std::vector<std::string>& ids)
{
    return placing{bundle}.place(ids);
}

bool valid_bundle_prefix(std::string_view as) noexcept
{
    return !as.empty() && as.size() <= longest_bundle_prefix && is_letter(as.front()) && as.back() != '_' &&
           as.find("__") == std::string_view::npos && std::ranges::all_of(as, is_of_prefix);
}

std::string proposed_prefix(std::string_view id)
{
    if (valid_bundle_prefix(id)) {
        return std::string{id};
    }
    std::string as;
    for (const char each : id) {
        const char c = is_of_prefix(each) ? each : '-';
        const bool begins = as.empty() && !is_letter(c);
        if (!begins && !(c == '_' && as.back() == '_') && as.size() < longest_bundle_prefix) {
            as += c;
        }
    }
    while (!as.empty() && (as.back() == '_' || as.back() == '-')) {
        as.pop_back();
    }
    return as.empty() ? std::string{without_a_letter} : as;
}

std::string bundle_scheme(std::string_view as)
{
    auto scheme = in_lower_case(as);
    std::ranges::replace(scheme, '_', '-');
    return scheme;
}

}  // namespace core
