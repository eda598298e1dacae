#include "mcp/calls/text_edits.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace mcp {

std::string edited(std::string_view text, std::span<const text_edit> edits)
{
    std::vector<const text_edit*> in_order;
    std::size_t added = 0;
    for (const auto& edit : edits) {
        in_order.push_back(&edit);
        added += edit.text.size();
    }
    std::ranges::sort(in_order, {}, [](const text_edit* edit) { return std::pair{edit->place.at, edit->place.size}; });
    std::string out;
    out.reserve(text.size() + added);
    std::size_t copied = 0;
    for (const auto* const edit : in_order) {
        out.append(text, copied, edit->place.at - copied).append(edit->text);
        copied = edit->place.at + edit->place.size;
    }
    return out.append(text, copied);
}

}  // namespace mcp
