#include "gateway/model/version.hpp"

namespace gateway::model {

std::string_view version() noexcept
{
    return CARDEA_VERSION;
}

std::string_view compiler() noexcept
{
    return __VERSION__;
}

}  // namespace gateway::model
