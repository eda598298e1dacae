#include "config/replaced_keys.hpp"

#include <algorithm>
#include <array>

namespace config {
namespace {

constexpr auto table = std::to_array<replaced_key>({
    {"agents.ID.enabled", "agents.ID.disabled", "`disabled: true` turns an agent off"},
    {"base_url", "public_url", "write `public_url`"},
    {"log_format", "log.format", "write `format` below `log`"},
    {"log_level", "log.level", "write `level` below `log`"},
    {"port", "listen", "`listen` has the address and the port, such as 127.0.0.1:4000"},
});

}  // namespace

std::span<const replaced_key> replaced_keys()
{
    return table;
}

std::string replacement(std::string_view path)
{
    const auto* const found =
        std::find_if(table.begin(), table.end(), [&](const replaced_key& each) { return each.path == path; });
    return found == table.end() ? std::string{} : "is not a known key; " + std::string{found->advice};
}

}  // namespace config
