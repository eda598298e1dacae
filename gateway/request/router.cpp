#include "gateway/request/router.hpp"

#include "core/agent.hpp"
#include "core/ascii.hpp"
#include "gateway/model/management_call.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/model/well_known.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace gateway::request {
namespace {

constexpr std::string_view agents_prefix = "/agents/";
constexpr std::string_view bundles_prefix = "/mcp/";
constexpr std::string_view rest_prefix = "/rest/";
constexpr std::string_view well_known = ".well-known";  // no agent's id, but what clients ask for that have dropped it

// Every route also answers with a slash at its end: clients add one to the address that they are given.
std::string_view without_last_slash(std::string_view path) noexcept
{
    path.remove_suffix(path.size() > 1 && path.ends_with('/') && !path.ends_with("//") ? 1 : 0);
    return path;
}

// Finds the routes that have one address.
std::optional<model::route> route_at(std::string_view path) noexcept
{
    for (const auto& [address, where] :
         {std::pair{std::string_view{"/"}, model::route::index},
          {"/rpc", model::route::management},
          {model::registration_path, model::route::registration},
          {model::key_set_path, model::route::key_set}}) {
        if (path == address) {
            return where;
        }
    }
    return std::nullopt;
}

std::optional<model::directory_kind> directory_at(std::string_view path) noexcept
{
    if (path.size() > agents_prefix.size() && path.starts_with(agents_prefix)) {
        return std::nullopt;
    }
    path = without_last_slash(path);
    for (const auto kind :
         {model::directory_kind::agents,
          model::directory_kind::api_catalog,
          model::directory_kind::ai_catalog,
          model::directory_kind::servers}) {
        if (path == model::path_of(kind)) {
            return kind;
        }
    }
    return std::nullopt;
}

extended_path extended_path_at(std::string_view below, std::string_view rest) noexcept
{
    if (below == "/agent/authenticatedExtendedCard") {
        return extended_path::v02;
    }
    if (rest == "/v1/card") {
        return extended_path::rest_v03;
    }
    return rest == "/extendedAgentCard" ? extended_path::rest_v1 : extended_path::none;
}

// `below` begins with '/' or is empty. `rest_alone`: paths of HTTP+JSON need nothing in front.
void set_below(destination& to, std::string_view below, bool rest_alone) noexcept
{
    constexpr std::string_view rest = "/rest";
    to.below = below;
    const auto address = without_last_slash(below);
    if (address.empty() || address == "/") {
        to.where = model::route::call;
    } else if (address == model::card_path || address == model::legacy_card_path) {
        to.where = model::route::card;
        to.legacy_card = address == model::legacy_card_path;
    } else if (address == model::mcp_path) {
        to.where = model::route::mcp;
    } else if (address == model::server_card_path) {
        to.where = model::route::directory;
        to.directory = model::directory_kind::server_card;
    } else if (below.size() > model::push_path.size() && below.starts_with(model::push_path)) {
        to.where = model::route::push;
    } else {
        to.where = model::route::relay;
        if (address.starts_with(rest) && address.substr(rest.size()).starts_with('/')) {
            to.rest = address.substr(rest.size());
        } else if (rest_alone) {
            to.rest = address;
        }
        to.extended = extended_path_at(address, to.rest);
    }
}

// Of a bundle, `/mcp` or `/mcp/<name>`; empty: of none.
std::string_view bundle_path(std::string_view path) noexcept
{
    path = without_last_slash(path);
    const bool named = path.starts_with(bundles_prefix) && core::valid_agent_id(path.substr(bundles_prefix.size()));
    return path == model::mcp_path || named ? path : std::string_view{};
}

bool is_namespace(std::string_view text) noexcept
{
    const auto allowed = [](char c) { return core::is_letter(c) || core::is_digit(c) || c == '.' || c == '-'; };
    return !text.empty() && text != "." && text.find("..") == std::string_view::npos &&
           std::ranges::all_of(text, allowed);
}

// `below` the list of servers, from its '/': `/<name>/versions` or `/<name>/versions/<version>`. The slash in a name may be written
// as it is. Of none: it is another path.
destination server_destination(std::string_view below) noexcept
{
    constexpr std::string_view versions = "/versions";
    destination to;
    const auto name = below.substr(1);
    const auto slash = std::min(name.find_first_of("/%"), name.size());
    const auto after = name.substr(slash);
    const bool encoded = after.starts_with("%2F") || after.starts_with("%2f");
    const auto rest = after.substr(std::min<std::size_t>(encoded ? 3 : 1, after.size()));
    const auto id = rest.substr(0, rest.find('/'));
    const auto tail = without_last_slash(rest.substr(id.size()));
    const auto version = tail.size() > versions.size() ? tail.substr(versions.size()) : std::string_view{};
    const bool is_one = version.size() > 1 && version.rfind('/') == 0 && unambiguous(version);
    if ((!encoded && !after.starts_with('/')) || !is_namespace(name.substr(0, slash)) || !core::valid_agent_id(id) ||
        !tail.starts_with(versions) || (tail != versions && !is_one)) {
        return to;
    }
    to.where = model::route::directory;
    to.directory = is_one ? model::directory_kind::server_version : model::directory_kind::server_versions;
    to.agent = id;
    to.rest = name.substr(0, slash);
    to.below = is_one ? version.substr(1) : std::string_view{};
    return to;
}

// Whether another reader may take the path for a different one.
bool misleads(std::string_view path) noexcept
{
    return path.starts_with("//") || (path.starts_with('/') && !unambiguous(path));
}

// `below`: an agent, from its '/'; or the whole path.
destination refused_path(std::string_view below) noexcept
{
    destination to;
    to.rest = below.starts_with(rest_prefix) ? below.substr(rest_prefix.size() - 1) : std::string_view{};
    to.refusal = core::errc::bad_request;
    to.astray = true;
    return to;
}

// `resource` is the path of the protected resource: none, or that of an agent, or of calls to an MCP server, be it there or not.
destination metadata_destination(std::string_view resource) noexcept
{
    destination to;
    resource = resource == "/" ? std::string_view{} : without_last_slash(resource);
    if (resource.starts_with(agents_prefix)) {
        auto id = resource.substr(agents_prefix.size());
        if (id.ends_with(model::mcp_path)) {
            id.remove_suffix(model::mcp_path.size());
            to.below = model::mcp_path;
        }
        to.agent = core::valid_agent_id(id) ? id : std::string_view{};
    }
    if (to.agent.empty()) {
        to.below = bundle_path(resource);
    }
    if (resource.empty() || !to.agent.empty() || !to.below.empty()) {
        to.where = model::route::resource_metadata;
    }
    return to;
}

}  // namespace

destination find_destination(std::string_view target) noexcept
{
    destination to;
    const auto path = target.substr(0, target.find('?'));
    if (path.starts_with(model::servers_path) && path.substr(model::servers_path.size()).starts_with('/')) {
        if (const auto server = server_destination(path.substr(model::servers_path.size()));
            server.where != model::route::none) {
            return server;
        }
    }
    if (misleads(path)) {
        const auto after = path.starts_with(agents_prefix) ? path.substr(agents_prefix.size()) : std::string_view{};
        return refused_path(after.substr(std::min(after.find('/'), after.size())));
    }
    if (const auto alone = route_at(without_last_slash(path))) {
        to.where = *alone;
        return to;
    }
    if (path.starts_with(model::resource_metadata_path)) {
        return metadata_destination(path.substr(model::resource_metadata_path.size()));
    }
    to.query = target.substr(path.size());
    if (const auto kind = directory_at(path)) {
        to.where = model::route::directory;
        to.directory = *kind;
        return to;
    }
    if (const auto bundle = bundle_path(path); !bundle.empty()) {
        to.where = model::route::bundle;
        to.below = bundle;
        return to;
    }
    if (!path.starts_with(agents_prefix)) {
        to.card_of_nobody = path == model::card_path || path == model::legacy_card_path;
        to.astray = core::equal_ignoring_case(path.substr(0, agents_prefix.size()), agents_prefix);
        return to;
    }
    const auto after = path.substr(agents_prefix.size());
    const auto id = after.substr(0, after.find('/'));
    if (!core::valid_agent_id(id) && id != well_known) {
        to.astray = true;
        return to;
    }
    const auto below = after.substr(id.size());
    if (below.starts_with("//")) {
        return refused_path(below);
    }
    to.agent = id;
    set_below(to, below, /*rest_alone=*/false);
    return to;
}

destination find_destination_of(std::string_view agent, std::string_view target) noexcept
{
    destination to;
    const auto path = target.substr(0, target.find('?'));
    if (misleads(path)) {
        return refused_path(path);
    }
    to.agent = agent;
    to.query = target.substr(path.size());
    if (!path.starts_with(model::resource_metadata_path)) {
        set_below(to, path, /*rest_alone=*/true);
        return to;
    }
    // RFC 9728 section 3.1: the path of the resource comes behind the well-known one.
    const auto resource = without_last_slash(path.substr(model::resource_metadata_path.size()));
    if (resource.empty() || resource == "/" || resource == model::mcp_path) {
        to.where = model::route::resource_metadata;
        to.below = resource == model::mcp_path ? resource : std::string_view{};
    }
    return to;
}

namespace {

// Takes the first segment, with the '/' before it, off the front.
std::string_view take_segment(std::string_view& path) noexcept
{
    const auto end = path.find('/', 1);
    const auto segment = path.substr(0, end);
    path.remove_prefix(segment.size());
    return segment;
}

// Iterative, with one point to come back to: no pattern makes it exponential.
bool segment_fits(std::string_view pattern, std::string_view text) noexcept
{
    std::size_t p = 0;
    std::size_t t = 0;
    std::size_t star = std::string_view::npos;
    std::size_t star_text = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            star_text = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++star_text;
        } else {
            return false;
        }
    }
    while (p < pattern.size() && pattern[p] == '*') {
        ++p;
    }
    return p == pattern.size();
}

// Takes the front of `text`, decoded once.
int take_character(std::string_view& text) noexcept
{
    if (text.size() >= 3 && text[0] == '%') {
        const auto value = core::hex_value(text[1]) * 16 + core::hex_value(text[2]);
        text.remove_prefix(3);
        return value;
    }
    const auto value = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    return value;
}

bool segment_unambiguous(std::string_view segment) noexcept
{
    std::size_t dots = 0;
    bool only_dots = true;
    bool parameters = false;
    while (!segment.empty()) {
        const bool encoded = segment.front() == '%';
        const int c = take_character(segment);
        if (c == 0 || c == '\\' || (encoded && c == '/')) {
            return false;
        }
        parameters = parameters || c == ';';
        if (!parameters && c == '.') {
            ++dots;
        } else if (!parameters) {
            only_dots = false;
        }
    }
    return !only_dots || dots == 0 || dots > 2;
}

}  // namespace

bool fits(std::string_view pattern, std::string_view path) noexcept
{
    std::string_view resume_pattern;
    std::string_view resume_path;
    bool can_resume = false;
    while (!path.empty()) {
        auto rest = pattern;
        const auto wanted = rest.empty() ? std::string_view{} : take_segment(rest);
        if (wanted == "/**") {
            resume_pattern = rest;
            resume_path = path;
            can_resume = true;
            pattern = rest;
            continue;
        }
        auto path_rest = path;
        const auto segment = take_segment(path_rest);
        if (!wanted.empty() && segment_fits(wanted.substr(1), segment.substr(1))) {
            pattern = rest;
            path = path_rest;
            continue;
        }
        if (!can_resume) {
            return false;
        }
        // One more segment belongs to the last `**`.
        take_segment(resume_path);
        pattern = resume_pattern;
        path = resume_path;
    }
    while (pattern.starts_with("/**")) {
        pattern.remove_prefix(3);
    }
    return pattern.empty();
}

bool fits_any(const std::vector<std::string>& patterns, std::string_view path) noexcept
{
    return std::ranges::any_of(patterns, [&](const std::string& pattern) { return fits(pattern, path); });
}

bool unambiguous(std::string_view path) noexcept
{
    const auto misleads = [](char c) { return c == '%' || c == '.' || c == '\\' || c == '\0'; };
    if (std::ranges::none_of(path, misleads)) {
        return true;
    }
    while (!path.empty()) {
        if (!segment_unambiguous(take_segment(path).substr(1))) {
            return false;
        }
    }
    return true;
}

}  // namespace gateway::request
