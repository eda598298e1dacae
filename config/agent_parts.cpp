#include "config/agent_parts.hpp"

#include "config/access_values.hpp"
#include "config/choice.hpp"
#include "config/json_value.hpp"
#include "config/url.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"
#include "core/url.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace config {
namespace {

std::optional<field> find(const node& map, std::string_view key, std::string_view path)
{
    for (std::size_t i = 0; i < map.keys.size(); ++i) {
        if (map.keys[i].text == key) {
            return member(map, i, path);
        }
    }
    return {};
}

bool is_named(const node& map)
{
    const auto name = find(map, "name", "");
    return name && name->value->is == node::kind::scalar && !name->value->text.empty() &&
           to_json(*name->value).is_string();
}

// JSON text within the default limits of core::parse_json().
std::string bounded_text(const field& f, const core::json& value, problem_list& problems)
{
    auto text = core::to_text(value);
    const auto most = core::json_limits{}.bytes;
    if (text.size() > most) {
        problems.add(f, "is longer than " + std::to_string(most) + " bytes as JSON");
        return {};
    }
    return text;
}

constexpr std::size_t most_upstreams = 32;
constexpr std::string_view expected_url = "an http or https URL such as http://10.0.0.7:9000/a2a";
constexpr std::string_view expected_grpc_url = "grpc://host:port or grpcs://host:port";
constexpr std::string_view expected_upstreams = "a list of 1 to 32 URLs, each once";

// The URL without its query, which is left in `query`: keys are put there, and nothing that compares or shows addresses may see it.
std::optional<std::string> read_address(const field& f, core::secret& query, problem_list& problems)
{
    field quiet = f;
    quiet.secret = true;  // as read_url()
    const bool grpc = f.value->is == node::kind::scalar && core::is_grpc_url(f.value->text);
    const auto parse = [](std::string_view text) { return parse_agent_url(text, query::allowed); };
    auto url = read_parsed(quiet, grpc ? expected_grpc_url : expected_url, parse, problems);
    if (url) {
        query = take_query(*url);
    }
    return url;
}

// The first letters of a service's name and of each part of its package, as proto3 has them.
bool valid_service(std::string_view text)
{
    constexpr std::size_t longest = 256;
    bool begins = true;
    for (const char c : text) {
        const bool good = core::is_letter(c) || c == '_' || (!begins && (core::is_digit(c) || c == '.'));
        if (!good) {
            return false;
        }
        begins = c == '.';
    }
    return !begins && text.size() <= longest && text.find('.') != std::string_view::npos;
}

std::vector<std::string> read_urls(const field& f, std::vector<core::secret>& queries, problem_list& problems)
{
    std::vector<std::string> all;
    const auto elements = read_list(f, expected_upstreams, problems);
    if (elements.empty() && !f.value->unusable) {
        problems.add(f, "has no URL; expected " + std::string{expected_upstreams});
    }
    if (elements.size() > most_upstreams) {
        problems.add(
            f,
            "has " + std::to_string(elements.size()) + " URLs; expected " + std::string{expected_upstreams}
        );
        return {};
    }
    for (const auto& element : elements) {
        core::secret query;
        auto url = read_address(element, query, problems);
        if (url && std::ranges::find(all, *url) != all.end()) {
            problems.add(element, "is given twice; expected " + std::string{expected_upstreams});
        } else if (url && !all.empty() && core::is_grpc_url(*url) != core::is_grpc_url(all.front())) {
            problems.add(element, "is of gRPC beside URLs that are not; expected all of one kind");
        } else if (url) {
            all.push_back(std::move(*url));
            queries.push_back(std::move(query));
        }
    }
    return all;
}

}  // namespace

core::secret bearer_of(const field& f, const std::string& text, problem_list& problems)
{
    constexpr std::size_t longest = 16 * 1024;
    if (text.size() > longest || !std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; })) {
        problems.add(
            f,
            std::string{text.size() > longest ? "is longer than 16KiB" : "has a character that no bearer has"} +
                "; expected the token alone, without `Bearer `"
        );
        return {};
    }
    return core::secret{text};
}

bool routes_message(std::string_view name)
{
    // clang-format off
    constexpr auto fields = std::to_array<std::string_view>({
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "te",
        "trailer", "upgrade"
    });
    // clang-format on
    return std::ranges::any_of(fields, [&](std::string_view each) { return core::equal_ignoring_case(each, name); });
}

// These say where a message goes and where it ends, what it is in MCP, or what the gateway says of the caller.
bool is_reserved(std::string_view name, header_use use)
{
    constexpr auto of_mcp = std::to_array<std::string_view>(
        {"accept", "content-type", "last-event-id", "mcp-session-id", "mcp-protocol-version", "mcp-method", "mcp-name"}
    );
    constexpr auto of_calls =
        std::to_array<std::string_view>({"accept", "accept-encoding", "content-type", "expect", "forwarded", "via"});
    const auto begins = [&](std::string_view text) {
        return core::equal_ignoring_case(name.substr(0, text.size()), text);
    };
    const auto is_name = [&](std::string_view each) { return core::equal_ignoring_case(each, name); };
    if (use == header_use::calls &&
        (std::ranges::any_of(of_calls, is_name) || begins("proxy-") || begins("x-forwarded-") || begins("cardea-"))) {
        return true;
    }
    return routes_message(name) || (use == header_use::mcp && std::ranges::any_of(of_mcp, is_name));
}

std::string_view wrong_header_value(std::string_view value)
{
    constexpr std::size_t longest = 16 * 1024;
    if (value.empty()) {
        return "is empty";
    }
    if (value.size() > longest) {
        return "is longer than 16KiB";
    }
    if (std::ranges::any_of(value, [](char c) { return c != '\t' && core::is_control(c); })) {
        return "has a line break or another control character";
    }
    if (core::trim(value).size() != value.size()) {
        return "starts or ends with a blank";
    }
    return {};
}

std::vector<std::pair<std::string, core::secret>> read_headers(const field& f, problem_list& problems, header_use use)
{
    constexpr std::size_t most = 64;
    std::vector<std::pair<std::string, core::secret>> headers;
    const auto* map = read_map(f, "a map of header fields", problems);
    if (map == nullptr) {
        return headers;
    }
    if (map->keys.size() > most) {
        problems.add(f, "has more than 64 header fields");
        return headers;
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; i < map->keys.size(); ++i) {
        auto header = member(*map, i, f.path);
        header.secret = true;
        const auto& name = map->keys[i].text;
        if (!core::is_token(name)) {
            problems
                .add(map->keys[i].at, header.path, "is not a header field's name; expected a name such as X-Api-Key");
        } else if (is_reserved(name, use)) {
            problems.add(map->keys[i].at, header.path, "is set by the gateway itself; expected another header field");
        } else if (!seen.insert(core::in_lower_case(name)).second) {
            problems.add(map->keys[i].at, header.path, "is given twice; header fields' names have no case");
        }
        const auto* text = read_text(header, "the value of a header field", problems);
        if (text == nullptr) {
            continue;
        }
        if (const auto wrong = wrong_header_value(*text); !wrong.empty()) {
            refuse(header, wrong, "the value of a header field", problems);
        } else {
            headers.emplace_back(name, core::secret{*text});
        }
    }
    return headers;
}

std::vector<core::a2a_dialect> read_dialects(const field& f, problem_list& problems)
{
    std::vector<core::a2a_dialect> dialects;
    for (const auto& element : read_list(f, "a list of dialects", problems)) {
        const auto dialect = read_choice<core::a2a_dialect>(element, problems);
        if (dialect && std::ranges::find(dialects, *dialect) != dialects.end()) {
            refuse(element, "is given twice", listed<core::a2a_dialect>() + ", each once", problems);
        } else if (dialect) {
            dialects.push_back(*dialect);
        }
    }
    return dialects;
}

std::string read_grpc_url(const field& f, problem_list& problems)
{
    field quiet = f;
    quiet.secret = true;
    return read_parsed(quiet, expected_grpc_url, parse_grpc_url, problems).value_or("");
}

std::vector<std::string> read_relay_services(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "a service such as grpc.reflection.v1.ServerReflection, each once";
    constexpr auto of_a2a = std::to_array<std::string_view>({"lf.a2a.v1.A2AService", "a2a.v1.A2AService"});
    std::vector<std::string> services;
    for (const auto& element : read_list(f, "a list of services", problems)) {
        const auto name = read_line(element, expected, problems);
        if (!name) {
            continue;
        }
        if (!valid_service(*name)) {
            refuse(element, "is not the name of a service with its package", expected, problems);
        } else if (std::ranges::find(of_a2a, *name) != of_a2a.end()) {
            refuse(element, "is a service of A2A, which the gateway reads", "another one", problems);
        } else if (std::ranges::find(services, *name) != services.end()) {
            refuse(element, "is given twice", expected, problems);
        } else {
            services.push_back(*name);
        }
    }
    return services;
}

void check_grpc(const core::agent& agent, const members& given, problem_list& problems)
{
    const bool only = core::only_grpc(agent);
    const auto* grpc_url = find_field(given, "grpc_url");
    const auto* http = find_field(given, "http");
    const auto* speaks = find_field(given, "speaks");
    const auto of_json = [](core::a2a_dialect each) {
        return each != core::a2a_dialect::v1_grpc && each != core::a2a_dialect::v03_grpc;
    };
    if (speaks != nullptr && only && std::ranges::any_of(agent.dialects, of_json)) {
        problems.add(*speaks, "has another binding than that of the url; expected 1.0/grpc, 0.3/grpc or both");
    }
    if (grpc_url != nullptr && only) {
        problems.add(*grpc_url, "stands beside a url of gRPC; expected one of the two");
    } else if (grpc_url != nullptr && !core::rules_of(agent).upstreams.empty()) {
        problems.add(*grpc_url, "stands beside several upstreams; expected one url");
    }
    if (http != nullptr && agent.http == core::http_version::v1_1 && (only || grpc_url != nullptr)) {
        problems.add(*http, "is 1.1 for an agent with a URL of gRPC, which needs HTTP/2; expected auto or 2");
    }
}

std::vector<std::string> read_relay_paths(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "a pattern such as /v1/* or /**";
    std::vector<std::string> patterns;
    for (const auto& element : read_list(f, "a list of patterns", problems)) {
        const auto pattern = read_line(element, expected, problems);
        if (!pattern) {
            continue;
        }
        const auto segments = *pattern + '/';
        const bool dots = segments.find("/./") != std::string::npos || segments.find("/../") != std::string::npos;
        if (pattern->front() != '/') {
            refuse(element, "does not begin with '/'", expected, problems);
        } else if (dots || pattern->find_first_of("?# %\\") != std::string::npos) {
            refuse(element, "is not a pattern of paths", expected, problems);
        } else {
            patterns.push_back(*pattern);
        }
    }
    return patterns;
}

std::string read_card(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "an agent card (a map with a name)";
    if (f.value->is == node::kind::null) {
        refuse(f, "has no value", expected, problems);
        return {};
    }
    const auto* card = read_map(f, expected, problems);
    if (card == nullptr) {
        return {};
    }
    if (!is_named(*card)) {
        refuse(f, "has no name", expected, problems);
        return {};
    }
    return bounded_text(f, to_json(*card), problems);
}

metadata_parts read_metadata_parts(const field& f, problem_list& problems)
{
    metadata_parts parts;
    const auto* map = read_map(f, "a map", problems);
    if (map == nullptr) {
        return parts;
    }
    for (std::size_t i = 0; i < map->keys.size(); ++i) {
        const auto m = member(*map, i, f.path);
        const bool card = map->keys[i].text == "agentCard" && m.value->is == node::kind::map;
        const auto url = card ? find(*m.value, "url", m.path) : std::nullopt;
        const bool has_url = url && url->value->is == node::kind::scalar && !url->value->text.empty();
        if (card && is_named(*m.value)) {
            parts.card = bounded_text(m, to_json(*m.value), problems);
            const auto address =
                has_url ? parse_http_url(url->value->text, query::allowed) : core::result<std::string>{""};
            parts.card_url = address ? *address : "";
            continue;
        }
        if (has_url) {
            parts.card_url = read_url(*url, problems).value_or("");
        }
        append_member(parts.members, map->keys[i].text, to_json(*m.value));
    }
    bounded_text(f, parts.members, problems);
    return parts;
}

void read_upstreams(members& given, std::string_view path, place at, core::agent& into, problem_list& problems)
{
    const auto* url = find_field(given, "url");
    const auto* several = find_field(given, "upstreams");
    if (url != nullptr && several != nullptr) {
        problems.add(*several, "stands beside " + url->path + "; expected one of the two");
    } else if (url != nullptr) {
        into.url = read_address(*url, into.queries.emplace_back(), problems).value_or("");
    } else if (several != nullptr) {
        auto all = read_urls(*several, into.queries, problems);
        if (!all.empty()) {
            into.url = all.front();
        }
        if (all.size() > 1) {
            into.rules.emplace().upstreams = std::move(all);
        }
    } else {
        problems.add(at, std::string{path} + ".url", "is missing; expected " + std::string{expected_url});
    }
    if (std::ranges::all_of(into.queries, &core::secret::empty)) {
        into.queries.clear();
    }
    for (const auto* key : {"url", "upstreams"}) {
        given.erase(key);
    }
}

void refuse_upstreams_of_mcp(const members& given, problem_list& problems)
{
    for (const auto* key : {"upstreams", "balance", "failback", "health"}) {
        if (const auto* f = find_field(given, key)) {
            problems.add(*f, "is for A2A agents; remove it");
        }
    }
}

std::optional<std::string> read_health_path(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "an absolute path such as /healthz";
    auto path = read_line(f, expected, problems);
    if (!path) {
        return std::nullopt;
    }
    const bool visible = std::ranges::all_of(*path, [](char c) { return c > ' ' && c < '\x7f' && c != '#'; });
    if (path->front() != '/' || !visible) {
        refuse(f, "is not a path", expected, problems);
        return std::nullopt;
    }
    return path;
}

field with_milliseconds(field f, std::deque<node>& made, problem_list& problems)
{
    constexpr std::string_view expected = "a whole number of milliseconds";
    const auto* text = read_text(f, expected, problems);
    if (text == nullptr) {
        return f;
    }
    if (!std::ranges::all_of(*text, core::is_digit)) {
        refuse(f, "is not a whole number", expected, problems);
        made.push_back(*f.value);
        made.back().unusable = true;
    } else {
        made.push_back(*f.value);
        made.back().text += "ms";
    }
    f.value = &made.back();
    return f;
}

std::vector<core::principal_name> read_acts_as(const field& f, problem_list& problems)
{
    constexpr std::string_view expected = "a list of maps with provider and principal";
    std::vector<core::principal_name> all;
    for (const auto& each : read_elements(f, expected, emptiness::allowed, problems)) {
        const auto* map = read_given_map(each, "a map with provider and principal", problems);
        if (map == nullptr) {
            continue;
        }
        const auto given = read_members(*map, each.path, {"provider", "principal"}, problems);
        core::principal_name one;
        for (auto [key, text] : {std::pair{"provider", &one.provider}, std::pair{"principal", &one.principal}}) {
            if (const auto* value = find_field(given, key)) {
                *text = read_short_text(*value, "text", problems).value_or("");
            } else {
                problems.add(each, "has no " + std::string{key} + "; expected provider and principal");
            }
        }
        if (std::ranges::find(all, one) != all.end()) {
            problems.add(each, "is in the list already; expected each principal once");
        } else if (!one.provider.empty() && !one.principal.empty()) {
            all.push_back(std::move(one));
        }
    }
    return all;
}

core::json shown_acts_as(const std::vector<core::principal_name>& all)
{
    auto list = core::json::array();
    for (const auto& each : all) {
        list.push_back({{"provider", each.provider}, {"principal", each.principal}});
    }
    return list;
}

core::pin_settings read_pin(const field& f, problem_list& problems)
{
    core::pin_settings pin;
    if (f.value->is == node::kind::scalar) {
        pin.mode = read_choice<core::pin_mode>(f, problems);
        return pin;
    }
    const auto* map = read_map(f, "off, warn, enforce, or a map with mode and except", problems);
    if (map == nullptr) {
        return pin;
    }
    const auto given = read_members(*map, f.path, {"mode", "except"}, problems);
    if (const auto* mode = find_field(given, "mode")) {
        pin.mode = read_choice<core::pin_mode>(*mode, problems);
    }
    if (const auto* except = find_field(given, "except")) {
        pin.except = read_texts(*except, emptiness::allowed, problems);
    }
    return pin;
}

core::json shown_pin(const core::pin_settings& pin)
{
    if (pin.except.empty()) {
        return pin.mode ? core::json(core::name(*pin.mode)) : core::json{};
    }
    core::json shown{{"except", pin.except}};
    if (pin.mode) {
        shown["mode"] = core::name(*pin.mode);
    }
    return shown;
}

}  // namespace config
