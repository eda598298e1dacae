#include "mcp/calls/name_filter.hpp"

#include "a2a/card/card_skills.hpp"
#include "core/json/json.hpp"
#include "core/pattern.hpp"
#include "mcp/calls/resource_uri.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <array>

namespace mcp {
namespace {

using pairs = std::vector<std::pair<std::string, std::string>>;

const std::string* find(const pairs& all, std::string_view name) noexcept
{
    const auto found = std::ranges::lower_bound(all, name, std::ranges::less{}, [](const auto& each) {
        return std::string_view{each.first};
    });
    return found != all.end() && found->first == name ? &found->second : nullptr;
}

bool fits_any(const std::vector<std::string>& patterns, std::string_view name) noexcept
{
    return std::ranges::any_of(patterns, [name](const std::string& pattern) { return core::fits(pattern, name); });
}

// The filter for what a request names, and the member that does; no filter: it names nothing that could be hidden.
struct named {
    const name_filter* filter = nullptr;
    routed member = routed::name;
};

core::result<named> named_by(const name_filters& filters, const incoming& call, std::string_view body)
{
    switch (call.method) {
        case client_method::tools_call:
            return named{&filters.tools, routed::name};
        case client_method::prompts_get:
            return named{&filters.prompts, routed::name};
        case client_method::resources_read:
        case client_method::resources_subscribe:
        case client_method::resources_unsubscribe:
            return named{&filters.resources, routed::uri};
        case client_method::complete:
            break;
        default:
            return named{};
    }
    std::string room;
    const auto type = call.text(routed::reference_type, body, room);
    if (type == "ref/prompt") {
        return named{&filters.prompts, routed::reference_name};
    }
    if (type == "ref/resource") {
        return named{&filters.resources, routed::reference_uri};
    }
    if (filters.prompts.passes_all() && filters.resources.passes_all() && filters.skills.empty()) {
        return named{};
    }
    return core::caller_error(core::errc::invalid_params, "a completion of an unknown type of reference");
}

// Whether a `subscriptions/listen` is for changes of single resources.
bool names_resources(const incoming& call, std::string_view body)
{
    const auto wanted = members_of(call.raw(routed::listen_to, body));
    for (const auto& member : wanted.members()) {
        if (is_twin(member.name, "resourceSubscriptions")) {
            return true;
        }
        if (member.name == "resourceSubscriptions") {
            return member.value != "[]";
        }
    }
    return false;
}

}  // namespace

name_filter::name_filter(core::mcp_filter filter)
    : allow_{std::move(filter.allow)},
      deny_{std::move(filter.deny)},
      exposed_{std::move(filter.names)},
      descriptions_{std::move(filter.descriptions)}
{
    std::array<char, longest_matched_name> room{};
    for (std::size_t i = 0, given = deny_.size(); i < given; ++i) {
        if (const auto plain = unescaped_file(deny_[i], room); plain != deny_[i]) {
            deny_.emplace_back(plain);
        }
    }
    for (const auto& [name, other] : exposed_) {
        originals_.emplace_back(other, name);
    }
    std::ranges::sort(exposed_);
    std::ranges::sort(originals_);
    std::ranges::sort(descriptions_);
}

bool name_filter::passes_all() const noexcept
{
    return allow_.empty() && deny_.empty() && exposed_.empty() && descriptions_.empty();
}

std::string_view name(hiding why) noexcept
{
    switch (why) {
        case hiding::denied:
            return "denied";
        case hiding::not_allowed:
            return "not_allowed";
        case hiding::too_long:
            return "too_long";
        case hiding::displaced:
            return "displaced";
    }
    return "";
}

std::optional<hiding> name_filter::hidden_by_pattern(std::string_view name) const noexcept
{
    if (allow_.empty() && deny_.empty()) {
        return std::nullopt;
    }
    if (name.size() > longest_matched_name) {
        return hiding::too_long;
    }
    std::array<char, longest_matched_name> room;
    const auto plain = unescaped_file(name, room);
    if (fits_any(deny_, name) || (plain.data() != name.data() && fits_any(deny_, plain))) {
        return hiding::denied;
    }
    return allow_.empty() || fits_any(allow_, name) ? std::nullopt : std::optional{hiding::not_allowed};
}

std::optional<hiding> name_filter::why_hidden(std::string_view name) const noexcept
{
    if (const auto why = hidden_by_pattern(name)) {
        return why;
    }
    return exposed(name) ? std::nullopt : std::optional{hiding::displaced};
}

std::optional<std::string_view> name_filter::exposed(std::string_view name) const noexcept
{
    if (hidden_by_pattern(name)) {
        return std::nullopt;
    }
    const auto* const other = find(exposed_, name);
    const std::string_view seen = other != nullptr ? std::string_view{*other} : name;
    // The configuration decides whose name it is, not the order of a list: a call must reach what the list has shown.
    const auto* const owner = find(originals_, seen);
    return owner == nullptr || *owner == name ? std::optional{seen} : std::nullopt;
}

std::optional<std::string_view> name_filter::original(std::string_view name) const noexcept
{
    const auto* const owner = find(originals_, name);
    const std::string_view candidate = owner != nullptr ? std::string_view{*owner} : name;
    return exposed(candidate) == name ? std::optional{candidate} : std::nullopt;
}

std::optional<std::string_view> name_filter::description(std::string_view exposed_name) const noexcept
{
    const auto* const found = find(descriptions_, exposed_name);
    return found != nullptr ? std::optional<std::string_view>{*found} : std::nullopt;
}

name_filters::name_filters(const core::mcp_server& server, std::vector<core::skill_rule> rules)
    : tools{server.tools},
      prompts{server.prompts},
      resources{server.resources},
      skills{std::move(rules)}
{
}

bool name_filters::edits(list_kind list) const noexcept
{
    const bool has_rules = !skills.empty() && (list == list_kind::tools || list == list_kind::prompts);
    return has_rules || !of(list).passes_all();
}

bool name_filters::shows(list_kind list, std::string_view name, const std::vector<std::string>* scopes) const
{
    return (list != list_kind::tools && list != list_kind::prompts) || a2a::is_visible(name, {skills, scopes});
}

const name_filter& name_filters::of(list_kind list) const noexcept
{
    switch (list) {
        case list_kind::tools:
            return tools;
        case list_kind::prompts:
            return prompts;
        case list_kind::resources:
        case list_kind::templates:
            break;
    }
    return resources;
}

core::result<std::optional<text_edit>> admit(const name_filters& filters, const incoming& call, std::string_view body)
{
    const auto subject = named_by(filters, call, body);
    if (!subject) {
        return subject.error();
    }
    if (call.method == client_method::listen && !filters.resources.passes_all() && names_resources(call, body)) {
        return core::caller_error(core::errc::invalid_params, "subscriptions to resources, of which some are hidden");
    }
    if (subject->filter == nullptr || subject->filter->passes_all()) {
        return std::optional<text_edit>{};
    }
    std::string room;
    const auto name = call.text(subject->member, body, room);
    const bool has_one_spelling = subject->filter != &filters.resources || (name && is_canonical_uri(*name));
    const auto original = name && has_one_spelling ? subject->filter->original(*name) : std::nullopt;
    if (!original) {
        return core::caller_error(core::errc::invalid_params, "a name that is hidden or unknown");
    }
    if (*original == *name) {
        return std::optional<text_edit>{};
    }
    text_edit edit{call[subject->member], {}};
    core::append_json_string(edit.text, *original);
    return std::optional{std::move(edit)};
}

bool shows_named(
    const name_filters& filters,
    const incoming& call,
    std::string_view body,
    const std::vector<std::string>* scopes
)
{
    const auto subject = named_by(filters, call, body);
    if (filters.skills.empty() || !subject || subject->filter == nullptr || subject->filter == &filters.resources) {
        return true;
    }
    const auto list = subject->filter == &filters.tools ? list_kind::tools : list_kind::prompts;
    std::string room;
    const auto name = call.text(subject->member, body, room);
    return name && filters.shows(list, *name, scopes);
}

}  // namespace mcp
