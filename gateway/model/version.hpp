#pragma once

#include <string_view>

namespace gateway::model {

std::string_view version() noexcept;   // of this build, from the project's CMakeLists.txt
std::string_view revision() noexcept;  // the commit that it was built from; "unknown" in tests, and without git
std::string_view compiler() noexcept;  // that built it

}  // namespace gateway::model
