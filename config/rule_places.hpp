// Places of the rules of policies in a file, for whoever explains a refusal. Filled while a file is read; immutable after that, any thread.
#pragma once

#include "config/document.hpp"
#include "config/problem.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace config {

class rule_places {
public:
    // `file` as problems name it.
    explicit rule_places(std::string_view file)
        : file_{file}
    {
    }

    // The policies of an agent, whose map this is: `agents.ID.call` and `agents.ID.call[1]`, whatever section has the agent; and what
    // hides its tools, `agents.ID.tools` and `agents.ID.skills`.
    void add_agent(std::string_view id, const node& agent);

    // Those of `access.rules`: `access.rules[0].discover` and below.
    void add_access(const node& access);

    // `cardea.yml:31:5 agents.words.call[1]`: the rule of that number if the policy is a list, else the policy. Without a place in the
    // file it is the policy's path alone.
    std::string text(std::string_view policy, std::optional<std::size_t> rule) const;

private:
    void add_policies(const std::string& owner, const node& map);

    std::string file_;
    std::map<std::string, place, std::less<>> places_;  // by path
};

}  // namespace config
