#include "config/problem.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace config {

std::string to_text(const problem& p)
{
    std::string text = p.file + ':' + std::to_string(p.line) + ':' + std::to_string(p.column) + ": ";
    if (!p.key.empty()) {
        text += p.key + ": ";
    }
    return text + p.what;
}

void problem_list::add(place where, std::string_view key, std::string what)
{
    if (!full()) {
        problems_.push_back({file_, where.line, where.column, std::string{key}, std::move(what)});
    }
}

std::vector<problem> problem_list::take()
{
    std::sort(problems_.begin(), problems_.end(), [](const problem& a, const problem& b) {
        return std::tie(a.line, a.column, a.key, a.what) < std::tie(b.line, b.column, b.key, b.what);
    });
    return std::exchange(problems_, {});
}

std::string shown_key(std::string_view key)
{
    constexpr std::size_t longest = 64;
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
               c == '-';
    };
    const auto end = std::find_if_not(key.begin(), key.end(), plain);
    const auto length = std::min(static_cast<std::size_t>(end - key.begin()), longest);
    return length == key.size() ? std::string{key} : std::string{key.substr(0, length)} + "(...)";
}

std::string join(std::string_view path, std::string_view key)
{
    return path.empty() ? shown_key(key) : std::string{path} + '.' + shown_key(key);
}

}  // namespace config
