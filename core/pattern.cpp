#include "core/pattern.hpp"

#include <cstddef>

namespace core {

bool fits(std::string_view pattern, std::string_view text) noexcept
{
    // Each star is tried against as little as possible first, and only the last one is tried again.
    std::size_t p = 0;
    std::size_t t = 0;
    auto star = std::string_view::npos;
    std::size_t resume = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            resume = t;
        } else if (p < pattern.size() && pattern[p] == text[t]) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++resume;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

}  // namespace core
