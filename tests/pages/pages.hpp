// The pages of docs/ that follow from tables of the code. `reference_pages` prints them, and a test compares them with docs/.
#pragma once

#include <string>

namespace pages {

std::string answers();
std::string limits();
std::string metrics();

}  // namespace pages
