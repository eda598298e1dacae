// The walk over a card as it was written, beside the rules of its generation. Internal to a2a.
#pragma once

#include "a2a/card/card_repair.hpp"
#include "a2a/card/card_schema.hpp"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace a2a {

class schema_walk {
public:
    // Problems at the paths of `said` are not repeated.
    schema_walk(card_generation generation, const std::vector<card_problem>& said, problem_list& problems);

    // `other` is the same object on the other side of the break at 1.0, or null: what it has is no stranger.
    void object(const core::json& value, const object_rule& rule, const object_rule* other, const std::string& path);

private:
    void add(const std::string& path, std::string_view complaint, problem_severity severity);
    void expect(bool holds, std::string_view complaint, const std::string& path);
    void absent(const member_rule& rule, bool null, const std::string& path);
    void member(const core::json& value, const member_rule& rule, const object_rule* other, const std::string& path);
    void text(const core::json& value, const member_rule& rule, const std::string& path);
    void texts(const core::json& value, const member_rule& rule, const std::string& path);
    void one(const core::json& value, const object_rule& rule, const object_rule* other, const std::string& path);
    void list(const core::json& value, const member_rule& rule, const object_rule* other, const std::string& path);
    void map(const core::json& value, const object_rule& rule, const std::string& path);
    void schemes(const core::json& value, const std::string& path);
    void scheme(const core::json& value, const std::string& path);
    void demands(const core::json& value, const std::string& path);
    void strangers(const core::json& value, const object_rule& rule, const object_rule* other, const std::string& path);

    card_generation generation_;
    problem_list& problems_;
    std::set<std::string> said_;
};

}  // namespace a2a
