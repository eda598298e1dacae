// Turns a foreign object into a card of a shape that strict readers take, and says what was changed. Internal to a2a.
#pragma once

#include "a2a/card/card.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace a2a {

// `path` with a member or an index behind it: "skills[0].id". Of a member's name at most 64 bytes: a long name stands in the
// path of everything below it.
std::string dotted(const std::string& path, std::string_view member);
std::string indexed(const std::string& path, std::size_t index);

// How many values a card within `limits` may have.
constexpr std::size_t max_values(core::json_limits limits) noexcept
{
    constexpr std::size_t enough_for_small_limits = 1000;
    return std::max(enough_for_small_limits, limits.bytes / 10);
}

// Problems in the order they were found, with a bound on how many a hostile card can make us keep.
class problem_list {
public:
    void add(std::string path, std::string_view complaint, problem_severity severity = problem_severity::error);

    // A member that is absent from a card of 0.1, which did not require it, is a warning.
    std::vector<card_problem> take(card_generation generation) &&;

private:
    std::vector<card_problem> problems_;
    std::size_t beyond_ = 0;
    problem_severity worst_beyond_ = problem_severity::note;
};

// Members of `card` that stand for a known one in another spelling (`supported_interfaces`, `URL`) get its name.
// Traffic members of a wrong type are dropped; what is left of `url` and `preferredTransport` is a string, not empty,
// the lists hold objects that name a binding (and a protocolVersion in supportedInterfaces), and `agentCard` is an
// object to which the same was done.
void repair_traffic(core::json& card, problem_list& problems);

// The card's name if it says something, else null: there is no card without one.
const std::string* name_of(const core::json& card) noexcept;

card_generation generation_of(const core::json& card);

// Repairs the other members that the shape requires: description, version, protocolVersion, capabilities, modes, skills. Needs a `name`.
void repair_content(core::json& card, card_generation generation, problem_list& problems);

}  // namespace a2a
