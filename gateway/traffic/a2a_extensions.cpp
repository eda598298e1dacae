#include "gateway/traffic/a2a_extensions.hpp"

#include "core/ascii.hpp"

namespace gateway::traffic {

std::string extensions_in(const net::http1::field_list& fields)
{
    std::string all;
    for (const auto& field : fields) {
        const bool named = core::equal_ignoring_case(field.name, extensions_field(a2a::generation::v1)) ||
                           core::equal_ignoring_case(field.name, extensions_field(a2a::generation::v03));
        if (named && !field.value.empty()) {
            all.append(all.empty() ? "" : ", ").append(field.value);
        }
    }
    return all;
}

}  // namespace gateway::traffic
