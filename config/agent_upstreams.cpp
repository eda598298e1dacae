#include "config/agent_upstreams.hpp"

#include "config/url.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace config {
namespace {

constexpr std::size_t most_upstreams = 32;
constexpr std::string_view expected_url = "an http or https URL such as http://10.0.0.7:9000/a2a";
constexpr std::string_view expected_upstreams = "a list of 1 to 32 URLs, each once";

// The URL without its query, which is left in `query`: keys are put there, and nothing that compares or shows addresses may see it.
std::optional<std::string> read_address(const field& f, core::secret& query, problem_list& problems)
{
    auto url = read_url(f, problems, expected_url);
    if (url) {
        query = take_query(*url);
    }
    return url;
}

std::vector<std::string> read_urls(const field& f, std::vector<core::secret>& queries, problem_list& problems)
{
    std::vector<std::string> all;
    const auto elements = read_list(f, expected_upstreams, problems);
    if (elements.empty() && !f.value->unusable) {
        problems.add(f.at, f.path, "has no URL; expected " + std::string{expected_upstreams});
    }
    if (elements.size() > most_upstreams) {
        problems.add(
            f.at,
            f.path,
            "has " + std::to_string(elements.size()) + " URLs; expected " + std::string{expected_upstreams}
        );
        return {};
    }
    for (const auto& element : elements) {
        core::secret query;
        auto url = read_address(element, query, problems);
        if (url && std::ranges::find(all, *url) != all.end()) {
            problems.add(element.at, element.path, "is given twice; expected " + std::string{expected_upstreams});
        } else if (url) {
            all.push_back(std::move(*url));
            queries.push_back(std::move(query));
        }
    }
    return all;
}

}  // namespace

void read_upstreams(members& given, std::string_view path, place at, core::agent& into, problem_list& problems)
{
    const auto* url = find_field(given, "url");
    const auto* several = find_field(given, "upstreams");
    if (url != nullptr && several != nullptr) {
        problems.add(several->at, several->path, "stands beside " + url->path + "; expected one of the two");
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
            problems.add(f->at, f->path, "is for A2A agents; remove it");
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

}  // namespace config
