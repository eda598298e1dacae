#include "gateway/request/path_pattern.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <cstddef>

namespace gateway::request {
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
