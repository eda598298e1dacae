// Settings that are right alone and wrong together. Pure.
#pragma once

#include "config/settings.hpp"

#include <string_view>
#include <vector>

namespace config {

// As a sentence: `first: VALUE relation second (VALUE); expected ...`. All static; the paths are those of all_settings().
struct contradiction {
    std::string_view first;
    std::string_view second;
    std::string_view relation;
    std::string_view expected;
};

// In the order in which they are to be told. The defaults have none.
std::vector<contradiction> contradictions_of(const process_settings& settings);

}  // namespace config
