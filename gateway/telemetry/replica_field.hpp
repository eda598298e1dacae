// The name of this process in each line of the log and the audit, if it shares its store with others: lines of all of them end in one place.
#pragma once

#include <string>
#include <string_view>

namespace gateway::telemetry {

class replica_field {
public:
    // Lines stay as they are.
    replica_field() = default;

    // Empty: lines stay as they are.
    explicit replica_field(std::string_view name);

    bool empty() const noexcept { return text_.empty(); }

    // `lines`, each a JSON object with a member, with `replica` as the last one. Without the last line break, before and after. Any thread.
    std::string added_to(std::string_view lines) const;

private:
    std::string text_;  // from the comma to the closing brace
};

}  // namespace gateway::telemetry
