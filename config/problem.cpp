#include "config/problem.hpp"

#include "config/fields.hpp"
#include "core/ascii.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace config {
namespace {

std::vector<problem> in_order(std::vector<problem> all)
{
    std::sort(all.begin(), all.end(), [](const problem& a, const problem& b) {
        return std::tie(a.line, a.column, a.key, a.what) < std::tie(b.line, b.column, b.key, b.what);
    });
    return all;
}

}  // namespace

std::string to_text(const problem& p)
{
    std::string text = p.file + ':' + std::to_string(p.line) + ':' + std::to_string(p.column) + ": ";
    text += p.warning ? "warning: " : "";
    if (!p.key.empty()) {
        text += p.key + ": ";
    }
    return text + p.what;
}

void problem_list::add(place where, std::string_view key, std::string message)
{
    keep(problems_, {file_, where.line, where.column, std::string{key}, std::move(message)});
}

void problem_list::warn(place where, std::string_view key, std::string message)
{
    keep(warnings_, {file_, where.line, where.column, std::string{key}, std::move(message), /*warning=*/true});
}

void problem_list::add(const field& at, std::string message)
{
    add(at.at, at.path, std::move(message));
}

void problem_list::warn(const field& at, std::string message)
{
    warn(at.at, at.path, std::move(message));
}

void problem_list::keep(std::vector<problem>& in, problem found)
{
    if (in.size() < most) {
        in.push_back(std::move(found));
    }
}

std::vector<problem> problem_list::take()
{
    return in_order(std::exchange(problems_, {}));
}

std::vector<problem> problem_list::take_warnings()
{
    return in_order(std::exchange(warnings_, {}));
}

std::string shown_key(std::string_view key)
{
    constexpr std::size_t longest = 64;
    const auto plain = [](char c) {
        return core::is_letter(c) || core::is_digit(c) || c == '_' || c == '.' || c == '-';
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
