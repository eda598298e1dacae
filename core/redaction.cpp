#include "core/redaction.hpp"

#include <algorithm>
#include <utility>

namespace core {
namespace {

// Behind the first `mark`; empty: there is none.
std::string_view behind(std::string_view text, char mark)
{
    const auto at = text.find(mark);
    return at == std::string_view::npos ? std::string_view{} : text.substr(at + 1);
}

struct span {
    std::size_t begin;
    std::size_t end;
};

}  // namespace

redaction::redaction(const std::vector<std::string>& values)
{
    for (const auto& value : values) {
        add(value);
        for (std::string_view rest = value; !rest.empty();) {
            const auto end = std::min(rest.find_first_of("\r\n"), rest.size());
            add(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
    }
    std::ranges::sort(values_, [](const auto& a, const auto& b) {
        return std::pair{b.size(), a} < std::pair{a.size(), b};
    });
    values_.erase(std::unique(values_.begin(), values_.end()), values_.end());
    reach_ = values_.empty() ? 0 : values_.front().size() - 1;
}

void redaction::add(std::string_view value)
{
    if (value.size() >= shortest) {
        values_.emplace_back(value);
    }
}

std::string redaction::apply(std::string_view text, std::size_t most) const
{
    most = std::min(most, text.size());
    const auto seen = text.substr(0, most + std::min(reach_, text.size() - most));
    std::vector<span> found;
    for (const auto& value : values_) {
        for (auto at = seen.find(value); at < most; at = seen.find(value, at + 1)) {
            found.push_back({at, at + value.size()});
        }
    }
    std::ranges::sort(found, {}, &span::begin);
    std::string out;
    std::size_t done = 0;
    for (const auto& each : found) {
        if (each.begin >= done) {
            out.append(text.substr(done, each.begin - done)).append(masked);
        }
        done = std::max(done, each.end);
    }
    return done < most ? out.append(text.substr(done, most - done)) : out;
}

redaction redaction_of(const mcp_server& server, std::string_view url)
{
    std::vector<std::string> values;
    const auto add = [&](std::string_view value) { values.emplace_back(value); };
    for (const auto& [name, value] : server.environment) {
        add(value.reveal());
    }
    for (const auto& [name, value] : server.headers) {
        add(value.reveal());
        add(behind(value.reveal(), ' '));
    }
    for (const auto& each : server.arguments) {
        add(each);
        add(behind(each, '='));
    }
    for (auto query = behind(url, '?'); !query.empty(); query = behind(query, '&')) {
        add(query);
        add(behind(query.substr(0, query.find('&')), '='));
    }
    return redaction{values};
}

}  // namespace core
