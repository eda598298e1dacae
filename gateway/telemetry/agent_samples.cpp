#include "gateway/telemetry/agent_samples.hpp"

#include "core/ascii.hpp"
#include "core/utf8.hpp"

#include <algorithm>

namespace gateway::telemetry {

// Prometheus drops a whole page for one label that is not UTF-8.
std::string label_of(std::string_view text)
{
    std::string out;
    out.reserve(std::min(text.size(), longest_label));
    while (!text.empty()) {
        const auto point = core::first_code_point(text);
        const bool broken = point.value == core::replacement_point;
        const auto shown = broken ? core::replacement_text : text.substr(0, point.bytes);
        if (out.size() + shown.size() > longest_label) {
            break;
        }
        if (core::is_control(shown.front())) {
            out += ' ';
        } else {
            out += shown;
        }
        text.remove_prefix(point.bytes);
    }
    return out;
}

}  // namespace gateway::telemetry
