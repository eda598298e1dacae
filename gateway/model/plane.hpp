// The contract of a plane: a part of the gateway that lives on the control loop. The server holds a list of them (gateway/wiring/server.cpp),
// so that a new one is one line there. On the control loop's thread.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace config {
struct settings;
}

namespace gateway::telemetry {
class metrics;
}  // namespace gateway::telemetry

namespace gateway::model {

struct agent_entry;
struct snapshot;

// The settings that a reload has changed, by their paths; at the start every one that a plane acts on.
class changed_settings {
public:
    changed_settings(std::vector<std::string_view> paths)  // NOLINT(google-explicit-constructor): they are its value
        : paths_{std::move(paths)}
    {
    }

    bool has(std::string_view path) const { return std::ranges::find(paths_, path) != paths_.end(); }
    bool has_any_of(std::string_view section) const
    {
        return std::ranges::any_of(paths_, [&](auto path) { return path.starts_with(section); });
    }

private:
    std::vector<std::string_view> paths_;
};

class plane {
public:
    virtual ~plane() = default;

    // The agents at the start; unless it is overridden, each is set.
    virtual void set_agents(const std::shared_ptr<const snapshot>& now);

    // An agent that was added or has changed; null: it is gone or disabled.
    virtual void set_agent(const std::string& /*id*/, const std::shared_ptr<const agent_entry>& /*agent*/) {}

    // An operator contains the agent, which is there or has changed: to the plane it is one that is gone, until set_agent() brings it back.
    virtual void contain(const std::string& id) { set_agent(id, nullptr); }

    // `now` has just begun to apply.
    virtual void apply(const config::settings& /*now*/, const changed_settings& /*changed*/) {}

    // Adds the families that the plane counts to the page of metrics.
    virtual void collect(telemetry::metrics& /*into*/) const {}

    // Begins nothing more; busy() until the rest has ended.
    virtual void stop() {}
    virtual bool busy() const noexcept { return false; }
};

}  // namespace gateway::model
