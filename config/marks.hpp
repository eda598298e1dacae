// The marks of a setting with three levels, none below the one before. Pure.
#pragma once

#include "config/fields.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace config {

// `read` reads one of them, and adds what is wrong with it. Nothing: there are problems.
template <class Mark, class Read>
std::optional<std::array<Mark, 3>>
read_marks(const field& f, const std::string& expected, problem_list& problems, Read read)
{
    const auto before = problems.size();
    const auto elements = read_list(f, expected, problems);
    std::array<Mark, 3> marks{};
    for (std::size_t i = 0; i < std::min(elements.size(), marks.size()); ++i) {
        marks[i] = read(elements[i]).value_or(Mark{});
    }
    if (problems.size() != before) {
        return std::nullopt;
    }
    if (elements.size() != marks.size()) {
        refuse(f, "is not three marks", expected, problems);
        return std::nullopt;
    }
    if (!std::ranges::is_sorted(marks)) {
        refuse(f, "has a mark below the one before", expected, problems);
        return std::nullopt;
    }
    return marks;
}

}  // namespace config
