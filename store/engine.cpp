#include "store/engine.hpp"

#include <chrono>

namespace store {

std::string_view name(action value) noexcept
{
    switch (value) {
        case action::created:
            return "created";
        case action::updated:
            return "updated";
        case action::deleted:
            return "deleted";
    }
    return "updated";
}

core::wall_time whole_milliseconds(core::wall_time at) noexcept
{
    return std::chrono::time_point_cast<std::chrono::milliseconds>(at);
}

core::result<> check_version(const author& by, std::uint64_t there)
{
    if (by.if_version && *by.if_version != there) {
        return core::caller_error(
            core::errc::version_conflict,
            "version " + std::to_string(there) + " is there, " + std::to_string(*by.if_version) + " was expected"
        );
    }
    return {};
}

}  // namespace store
