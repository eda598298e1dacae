#include "config/choice.hpp"

namespace config {

std::string listed(const std::vector<std::string_view>& names, std::string_view quote)
{
    std::string text;
    for (std::size_t i = 0; i < names.size(); ++i) {
        text += i == 0 ? "" : i + 1 == names.size() ? " or " : ", ";
        text.append(quote).append(names[i]).append(quote);
    }
    return text;
}

}  // namespace config
