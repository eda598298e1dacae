// Request targets: where the router says that one leads is where a second reader that decodes, drops parameters and
// resolves dots would go too, or nowhere; and patterns of relay_paths fit what a plain recursive reading of them fits.
// The input is a target, and after a line feed a pattern.
#include "core/agent.hpp"
#include "gateway/request/router.hpp"
#include "net/http1/head.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <algorithm>
#include <vector>

namespace {

using gateway::model::route;

std::vector<std::string> split(std::string_view path)
{
    std::vector<std::string> segments;
    path.remove_prefix(1);
    for (;;) {
        const auto end = path.find('/');
        segments.emplace_back(path.substr(0, end));
        if (end == std::string_view::npos) {
            return segments;
        }
        path.remove_prefix(end + 1);
    }
}

std::string decode(std::string_view text)
{
    std::string decoded;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '%') {
            decoded += static_cast<char>(std::stoi(std::string{text.substr(at + 1, 2)}, nullptr, 16));
            at += 2;
        } else {
            decoded += text[at];
        }
    }
    return decoded;
}

// The path as the laxest server reads it: decoded, with backslashes for slashes, without parameters, cut at a NUL, empty
// segments and dots resolved.
std::vector<std::string> read_laxly(std::string_view path)
{
    auto decoded = decode(path);
    decoded.resize(std::min(decoded.size(), decoded.find('\0')));
    std::replace(decoded.begin(), decoded.end(), '\\', '/');
    std::vector<std::string> segments;
    for (auto segment : split(decoded.empty() ? "/" : decoded)) {
        segment.resize(std::min(segment.size(), segment.find(';')));
        if (segment == "..") {
            if (!segments.empty()) {
                segments.pop_back();
            }
        } else if (!segment.empty() && segment != ".") {
            segments.push_back(std::move(segment));
        }
    }
    return segments;
}

// The same without decoding or resolving anything.
std::vector<std::string> read_strictly(std::string_view path)
{
    return split(path);
}

std::string joined(const std::vector<std::string>& segments)
{
    std::string text;
    for (const auto& segment : segments) {
        text += "/" + segment;
    }
    return text;
}

bool is_of_registry(const gateway::request::destination& to)
{
    return to.where == route::directory && is_of_one(to.directory) &&
           to.directory != gateway::model::directory_kind::server_card;
}

// A document about one MCP server. `path` is without a slash at its end.
void check_server(std::string_view path, const std::vector<std::string>& lax, const gateway::request::destination& to)
{
    using gateway::model::directory_kind;
    const std::string id{to.agent};
    tests::require(core::valid_agent_id(id), "a server's id is one", id);
    if (to.directory == directory_kind::server_card) {
        tests::require(path == "/agents/" + id + "/mcp/server-card", "a server's card has one address", path);
        return;
    }
    std::vector<std::string> wanted{"v0.1", "servers", std::string{to.rest}, id, "versions"};
    if (to.directory == directory_kind::server_version) {
        const auto version = decode(to.below);
        const auto name = version.substr(0, version.find(';'));
        wanted.resize(wanted.size() + (name.empty() ? 0 : 1), name);
    }
    tests::require(lax == wanted, "every reader sees the same server, but for an encoded slash", joined(lax), path);
}

void check_found(std::string_view target, const gateway::request::destination& to)
{
    auto path = target.substr(0, target.find('?'));
    const auto lax = read_laxly(path);
    const auto laxly = joined(lax);
    path.remove_suffix(path.size() > 1 && path.ends_with('/') ? 1 : 0);  // each route answers with it too
    if (to.where == route::management) {
        tests::require(path == "/rpc", "the management has one address", target);
        return;
    }
    if (to.where == route::registration) {
        tests::require(path == "/agent/register", "registration has one address", target);
        return;
    }
    if (to.where == route::key_set) {
        tests::require(path == "/.well-known/jwks.json", "the keys have one address", target);
        return;
    }
    if (to.where == route::resource_metadata) {
        const auto base = std::string{"/.well-known/oauth-protected-resource"};
        const auto agent = to.agent.empty() ? std::string{} : "/agents/" + std::string{to.agent};
        const auto whole = base + agent + std::string{to.below};
        tests::require(path == whole, "a resource's metadata has one address", target);
        tests::require(to.agent.empty() || core::valid_agent_id(to.agent), "an agent's id is one", to.agent);
        return;
    }
    if (to.where == route::bundle) {
        tests::require(path == to.below, "a bundle has one address", target);
        tests::require(laxly == path && lax.size() <= 2, "every reader sees the same bundle", laxly, target);
        tests::require(to.agent.empty() && lax[0] == "mcp", "a bundle belongs to no agent", target);
        return;
    }
    if (to.where == route::index) {
        tests::require(path == "/", "the index has one address", target);
        return;
    }
    if (to.where == route::directory && is_of_one(to.directory)) {
        check_server(path, lax, to);
        return;
    }
    if (to.where == route::directory) {
        tests::require(path == path_of(to.directory) || path == "/agents/", "a directory is at its address", target);
        return;
    }
    const auto whole = "/agents/" + std::string{to.agent} + std::string{to.below} + std::string{to.query};
    tests::require(whole == target, "agent, rest and query make up the target", whole, target);
    const bool dropped = to.agent == ".well-known";  // what clients ask for that have dropped the id
    tests::require(dropped || core::valid_agent_id(to.agent), "an agent's id is one", to.agent);
    tests::require(lax.size() >= 2 && lax[0] == "agents", "every reader sees agents", laxly, target);
    tests::require(lax[1] == to.agent, "every reader sees the same agent", laxly, target);
    if (to.where == route::call) {
        tests::require(lax.size() == 2, "every reader sees nothing below a call", laxly, target);
    } else if (to.where == route::card) {
        const std::string wanted = to.legacy_card ? "agent.json" : "agent-card.json";
        const auto address = "/.well-known/" + wanted;
        tests::require(to.below == address || to.below == address + '/', "a card has one address", to.below);
    }
}

void check_nowhere(std::string_view target, const gateway::request::destination& to)
{
    const auto path = target.substr(0, target.find('?'));
    tests::require(path != "/", "the index is found", target);
    tests::require(path != "/rpc", "the management is found", target);
    tests::require(path != "/agents" && path != "/agents/", "the directory is found", target);
    if (!path.starts_with('/') || to.refusal == core::errc::bad_request) {
        return;
    }
    const auto segments = read_strictly(path);
    tests::require(
        segments.size() < 2 || segments[0] != "agents" || !core::valid_agent_id(segments[1]),
        "what names an agent and is unambiguous leads to it",
        target
    );
}

// Below an agent's base, `//x` would be a host to whoever resolves it (RFC 3986 section 4.2).
bool empty_below_agent(std::string_view path)
{
    constexpr std::string_view prefix = "/agents/";
    if (!path.starts_with(prefix)) {
        return false;
    }
    const auto after = path.substr(prefix.size());
    const auto end = after.find('/');
    const auto id = after.substr(0, end);
    return end != std::string_view::npos && (core::valid_agent_id(id) || id == ".well-known") &&
           after.substr(end).starts_with("//");
}

bool read_otherwise(std::string_view path)
{
    const auto decoded = decode(path);
    if (decoded.find_first_of(std::string_view{"\0\\", 2}) != std::string::npos) {
        return true;
    }
    for (const auto& segment : read_strictly(path)) {
        const auto text = decode(segment);
        const auto name = text.substr(0, text.find(';'));
        if (name == "." || name == ".." || text.find('/') != std::string::npos) {
            return true;
        }
    }
    return path.starts_with("//") || empty_below_agent(path);
}

void check_target(std::string_view target)
{
    const std::string text = "OPTIONS " + std::string{target} + " HTTP/1.1\r\nHost: a\r\n\r\n";
    net::http1::request_parser parser{{}};
    const auto parsed = parser.parse(text);
    if (parsed.has_error() || *parsed != text.size()) {
        return;
    }
    const auto taken = parser.head().target;
    const auto to = gateway::request::find_destination(taken);
    if (to.where == route::none) {
        check_nowhere(taken, to);
    } else {
        check_found(taken, to);
    }
    if (taken.starts_with('/')) {
        const auto path = taken.substr(0, taken.find('?'));
        tests::require(
            is_of_registry(to) ||
                (to.refusal == core::errc::bad_request && to.where == route::none) == read_otherwise(path),
            "a path that readers see differently is refused, and no other",
            path
        );
    }
}

bool fits_segment(std::string_view pattern, std::string_view text)
{
    // reached[t]: the pattern so far fits the first t bytes.
    std::vector<bool> reached(text.size() + 1);
    reached[0] = true;
    for (const char p : pattern) {
        std::vector<bool> next(text.size() + 1);
        for (std::size_t t = 0; t <= text.size(); ++t) {
            if (p == '*') {
                next[t] = reached[t] || (t > 0 && next[t - 1]);
            } else {
                next[t] = t > 0 && reached[t - 1] && text[t - 1] == p;
            }
        }
        reached = std::move(next);
    }
    return reached[text.size()];
}

bool fits_plainly(const std::vector<std::string>& pattern, const std::vector<std::string>& path)
{
    std::vector<bool> reached(path.size() + 1);
    reached[0] = true;
    for (const auto& p : pattern) {
        std::vector<bool> next(path.size() + 1);
        for (std::size_t t = 0; t <= path.size(); ++t) {
            if (p == "**") {
                next[t] = reached[t] || (t > 0 && next[t - 1]);
            } else {
                next[t] = t > 0 && reached[t - 1] && fits_segment(p, path[t - 1]);
            }
        }
        reached = std::move(next);
    }
    return reached[path.size()];
}

void check_pattern(std::string_view pattern, std::string_view path)
{
    if (!pattern.starts_with('/') || !path.starts_with('/') || pattern.size() > 200 || path.size() > 500) {
        return;
    }
    const bool plainly = fits_plainly(split(pattern), split(path));
    tests::require(gateway::request::fits(pattern, path) == plainly, "a pattern fits what it says", pattern, path);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view bytes{reinterpret_cast<const char*>(data), size};
    const auto end = std::min(bytes.find('\n'), bytes.size());
    const auto target = bytes.substr(0, end);
    check_target(target);
    if (end < bytes.size()) {
        check_pattern(bytes.substr(end + 1), target.substr(0, target.find('?')));
    }
    return 0;
}
