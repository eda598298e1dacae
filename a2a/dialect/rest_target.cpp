#include "a2a/dialect/rest_target.hpp"

#include "core/ascii.hpp"
#include "core/url.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace a2a {
namespace {

constexpr std::string_view task_place = "{task}";
constexpr std::string_view config_place = "{config}";

// The first segment of `path`, which begins with a slash, and takes both away.
std::string_view take_segment(std::string_view& path)
{
    path.remove_prefix(1);
    const auto end = std::min(path.find('/'), path.size());
    const auto segment = path.substr(0, end);
    path.remove_prefix(end);
    return segment;
}

// Some servers take what follows a semicolon off a segment before they look for its verb, and others do not.
bool has_parameters(std::string_view segment)
{
    return segment.find(';') != std::string_view::npos;
}

// An id behind which servers that decode paths before they route them see the verb of another operation.
bool asks_for_more(operation what, std::string_view task_id)
{
    return what == operation::get && task_id.ends_with(":subscribe");
}

// A tenant whose path is that of a task to get.
bool looks_like_task(const rest_target& target)
{
    return target.tenant == "tasks" && (target.what == operation::list || target.what == operation::extended_card);
}

// A segment of the request against one of a route.
bool match_segment(std::string_view segment, std::string_view pattern, rest_target& found)
{
    if (!pattern.starts_with('{')) {
        return segment == pattern;
    }
    const auto place = pattern.substr(0, pattern.find('}') + 1);
    const auto verb = pattern.substr(place.size());
    if (!segment.ends_with(verb) || has_parameters(segment)) {
        return false;
    }
    segment.remove_suffix(verb.size());
    auto& id = place == task_place ? found.task_id : found.config_id;
    id = core::decoded(segment);
    return !id.empty() && core::is_utf8(id);
}

bool match_path(std::string_view path, std::string_view pattern, rest_target& found)
{
    while (!path.empty() && !pattern.empty()) {
        if (!match_segment(take_segment(path), take_segment(pattern), found)) {
            return false;
        }
    }
    return path.empty() && pattern.empty();
}

bool verb_fits(std::string_view verb, operation what, std::string_view of_route)
{
    return verb == of_route || (what == operation::subscribe && verb == "GET");
}

// Routes that end in a verb come first: `/tasks/x:cancel` is no id.
bool ends_in_verb(std::string_view pattern)
{
    return pattern.rfind(':') != std::string_view::npos;
}

// Looks through the routes that end in a verb, or through the others.
void find_route(std::string_view verb, std::string_view path, bool with_verb, rest_target& found, bool& other_verb)
{
    for (std::size_t i = 0; i < operation_count && found.what == operation::none; ++i) {
        const auto what = static_cast<operation>(i);
        const auto route = route_for(what, found.version);
        if (ends_in_verb(route.path) != with_verb) {
            continue;
        }
        rest_target match;
        if (!match_path(path, route.path, match) || asks_for_more(what, match.task_id)) {
            continue;
        }
        if (!verb_fits(verb, what, route.verb)) {
            other_verb = true;
            continue;
        }
        found.what = what;
        found.task_id = std::move(match.task_id);
        found.config_id = std::move(match.config_id);
    }
}

bool find_route(std::string_view verb, std::string_view path, rest_target& found, bool& other_verb)
{
    find_route(verb, path, true, found, other_verb);
    if (found.what == operation::none && !other_verb) {
        find_route(verb, path, false, found, other_verb);
    }
    return found.what != operation::none;
}

// RFC 3986 section 2.3.
bool is_unreserved(char c)
{
    return core::is_letter(c) || core::is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~';
}

void append_encoded(std::string& out, std::string_view text)
{
    constexpr std::string_view digits = "0123456789ABCDEF";
    for (const char c : text) {
        if (is_unreserved(c)) {
            out += c;
        } else {
            const auto byte = static_cast<unsigned char>(c);
            (out += '%') += digits[byte >> 4U];
            out += digits[byte & 0xFU];
        }
    }
}

// Also to servers that decode a path before they take it apart.
bool is_segment(std::string_view text)
{
    constexpr std::string_view parting{"/\\\0", 3};
    return !text.empty() && text != "." && text != ".." && text.find_first_of(parting) == std::string_view::npos;
}

}  // namespace

core::result<rest_target>
read_rest_target(std::string_view verb, std::string_view target, std::optional<generation> said)
{
    rest_target found;
    auto path = target.substr(0, target.find('?'));
    found.query = target.substr(std::min(path.size() + 1, target.size()));
    if (!path.starts_with('/')) {
        return core::caller_error(core::errc::not_found, "no path of HTTP+JSON");
    }
    found.version = said.value_or(path.starts_with("/v1/") ? generation::v03 : generation::v1);
    bool other_verb = false;
    if (find_route(verb, path, found, other_verb)) {
        return found;
    }
    if (found.version == generation::v1) {
        const auto tenant = take_segment(path);
        found.tenant = core::decoded(tenant);
        const bool good = !found.tenant.empty() && core::is_utf8(found.tenant) && !has_parameters(tenant);
        if (good && find_route(verb, path, found, other_verb)) {
            return found;
        }
    }
    return core::caller_error(
        other_verb ? core::errc::method_not_allowed : core::errc::not_found,
        "no operation of HTTP+JSON"
    );
}

bool append_rest_path(std::string& out, const rest_target& from)
{
    const auto before = out.size();
    const bool names_tenant = from.version == generation::v1 && !from.tenant.empty();
    bool good = !asks_for_more(from.what, from.task_id) && !(names_tenant && looks_like_task(from));
    const auto append = [&out, &good](std::string_view text) {
        good = good && is_segment(text);
        append_encoded(out, text);
    };
    if (names_tenant) {
        out += '/';
        append(from.tenant);
    }
    auto rest = route_for(from.what, from.version).path;
    while (!rest.empty()) {
        const auto plain = std::min(rest.find('{'), rest.size());
        out += rest.substr(0, plain);
        rest.remove_prefix(plain);
        if (!rest.empty()) {
            const bool task = rest.starts_with(task_place);
            append(task ? from.task_id : from.config_id);
            rest.remove_prefix((task ? task_place : config_place).size());
        }
    }
    if (!good || out.size() == before) {
        out.resize(before);
        return false;
    }
    return true;
}

void append_query(std::string& out, std::size_t path, std::string_view name, std::string_view value)
{
    out += out.find('?', path) == std::string::npos ? '?' : '&';
    out.append(name).append("=");
    append_encoded(out, value);
}

}  // namespace a2a
