#pragma once

#include <string_view>

namespace gateway::model {

std::string_view version() noexcept;   // of this build, from the project's CMakeLists.txt
std::string_view compiler() noexcept;  // that built it

}  // namespace gateway::model
