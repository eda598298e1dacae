#include "mcp/calls/name_filter.hpp"

#include "a2a/card/card_edits.hpp"
#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "core/pattern.hpp"
#include "mcp/pins/pinned_server.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace mcp {
namespace {

bool is_capital(char c) noexcept
{
    return c >= 'A' && c <= 'Z';
}

bool is_plain(char c) noexcept
{
    return c > ' ' && c < '\x7f' && c != '\\' && c != '#';
}

// Escapes whose meaning nobody changes: of characters that have to be escaped, in capitals.
bool has_canonical_escapes(std::string_view text) noexcept
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            continue;
        }
        if (i + 2 >= text.size()) {
            return false;
        }
        const auto high = digits.find(text[i + 1]);
        const auto low = digits.find(text[i + 2]);
        if (high == std::string_view::npos || low == std::string_view::npos) {
            return false;
        }
        const auto c = static_cast<char>(high * 16 + low);
        if (core::is_letter(c) || core::is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
            return false;
        }
    }
    return true;
}

bool has_dots(std::string_view path) noexcept
{
    while (!path.empty()) {
        const auto segment = path.substr(0, path.find('/'));
        if (segment == "." || segment == "..") {
            return true;
        }
        path.remove_prefix(std::min(segment.size() + 1, path.size()));
    }
    return false;
}

// File systems skip or change these: an empty segment, and characters that become separators.
bool has_loose_path(std::string_view path) noexcept
{
    return path.find("//") != std::string_view::npos || path.ends_with('/') ||
           path.find("%2F") != std::string_view::npos || path.find("%5C") != std::string_view::npos ||
           path.find("%00") != std::string_view::npos;
}

// A scheme that browsers know: they rewrite its host and path.
bool is_special(std::string_view scheme) noexcept
{
    constexpr std::array<std::string_view, 6> all{"file", "ftp", "http", "https", "ws", "wss"};
    return std::ranges::find(all, scheme) != all.end();
}

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

bool is_canonical_uri(std::string_view uri) noexcept
{
    const auto colon = uri.find(':');
    if (colon == std::string_view::npos || !std::ranges::all_of(uri, is_plain) || !has_canonical_escapes(uri)) {
        return false;
    }
    const auto scheme = uri.substr(0, colon);
    auto rest = uri.substr(colon + 1);
    if (scheme.empty() || std::ranges::any_of(scheme, is_capital)) {
        return false;
    }
    const auto query = rest.find('?');
    rest = rest.substr(0, query);
    const bool has_authority = rest.starts_with("//");
    if (is_special(scheme)) {
        const auto host = has_authority ? rest.substr(2, rest.find('/', 2) - 2) : std::string_view{};
        // `file:/a`, `http:a` and `http://h` have other spellings, and `file://localhost/a` is `file:///a`.
        if (!has_authority || rest.find('/', 2) == std::string_view::npos || std::ranges::any_of(host, is_capital) ||
            host.find_first_of("@:%") != std::string_view::npos || (scheme == "file" && !host.empty())) {
            return false;
        }
    }
    if (scheme == "file" && (query != std::string_view::npos || has_loose_path(rest.substr(2)))) {
        return false;
    }
    return !has_dots(has_authority ? rest.substr(2) : rest);
}

std::string_view unescaped_file(std::string_view uri, std::span<char> room) noexcept
{
    if (!uri.starts_with("file:") || uri.size() > room.size() || uri.find('%') == std::string_view::npos) {
        return uri;
    }
    std::size_t size = 0;
    for (std::size_t i = 0; i < uri.size(); ++i) {
        const bool escapes = uri[i] == '%' && i + 2 < uri.size();
        const int high = escapes ? core::hex_value(uri[i + 1]) : -1;
        const int low = escapes ? core::hex_value(uri[i + 2]) : -1;
        const bool is_escape = high >= 0 && low >= 0;
        room[size++] = is_escape ? static_cast<char>(high * 16 + low) : uri[i];
        i += is_escape ? 2 : 0;
    }
    return {room.data(), size};
}

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
        case hiding::changed:
            return "changed";
        case hiding::added:
            return "new";
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

core::result<std::optional<text_edit>>
admit(const name_filters& filters, const pinned_server& pins, const incoming& call, std::string_view body)
{
    const bool calls = call.method == client_method::tools_call;
    if (!pins.seen() && (calls || call.method == client_method::tools_list)) {
        return core::upstream_error(core::errc::session_not_ready, "nothing is known of its tools yet");
    }
    auto admitted = admit(filters, call, body);
    if (!admitted || !calls) {
        return admitted;
    }
    std::string room;
    const auto name = call.text(routed::name, body, room);
    const auto original = name ? filters.tools.original(*name) : std::nullopt;
    if (!original || !pins.admits(*original)) {
        return core::caller_error(core::errc::invalid_params, "a tool that nobody has approved");
    }
    return admitted;
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
