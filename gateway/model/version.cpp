#include "gateway/model/version.hpp"

namespace gateway::model {

std::string_view version() noexcept
{
    return CARDEA_VERSION;
}

// The top CMakeLists.txt puts it behind the version.
std::string_view revision() noexcept
{
    constexpr std::string_view mark = "+g";
    constexpr std::string_view whole = CARDEA_VERSION;
    constexpr auto at = whole.find(mark);
    if constexpr (at == std::string_view::npos || at + mark.size() == whole.size()) {
        return "unknown";
    } else {
        return whole.substr(at + mark.size());
    }
}

std::string_view compiler() noexcept
{
    return __VERSION__;
}

}  // namespace gateway::model
