#include "gateway/telemetry/replica_field.hpp"

#include "core/json/json.hpp"

namespace gateway::telemetry {

replica_field::replica_field(std::string_view name)
{
    if (!name.empty()) {
        text_ = R"(,"replica":)";
        core::append_json_string(text_, name);
        text_ += '}';
    }
}

std::string replica_field::added_to(std::string_view lines) const
{
    std::string out;
    out.reserve(lines.size() + 2 * text_.size());
    while (!lines.empty()) {
        const auto end = lines.find('\n');
        const auto line = lines.substr(0, end);
        out.append(line.substr(0, line.find_last_of('}'))).append(text_);
        lines.remove_prefix(line.size());
        if (!lines.empty()) {
            out += '\n';
            lines.remove_prefix(1);
        }
    }
    return out;
}

}  // namespace gateway::telemetry
