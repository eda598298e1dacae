// Bundles to be searched: tools by hand, and those of real servers (tests/data/mcp) with questions about them.
#pragma once

#include "gateway/bundles/tool_index.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

// Sanitizers take longer.
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr double slowness = 20;
#else
inline constexpr double slowness = 1;
#endif

class real_tools {
public:
    void add_member(std::string_view name, std::string_view title);

    // The last member's. `schema`: raw object.
    void add(std::string_view member, std::string_view name, std::string_view description, std::string_view schema);

    // With the raw definition of its server.
    void add_raw(std::string_view member, std::string_view name, std::string_view definition);

    std::size_t size() const noexcept { return held_->size(); }
    const std::string& name(std::size_t place) const { return (*held_)[place].name; }
    gateway::bundles::tools_to_search source() const;
    gateway::bundles::tool_index_pointer index() const;

private:
    struct held {
        std::string name;
        std::string own;
        std::string definition;
        std::size_t member = 0;
    };
    std::shared_ptr<std::vector<held>> held_ = std::make_shared<std::vector<held>>();
    std::vector<mcp::searched_member> members_;
};

// Every tool of tests/data/mcp; with `at_least`, again under other prefixes until there are so many, and no more.
real_tools all_real_tools(std::size_t count = 0);

struct real_question {
    std::string text;
    std::vector<std::string> right;  // names of the tools that answer it
};

// Of a file in tests/data/tool_search.
std::vector<real_question> real_questions(const std::string& file = "questions.txt");

}  // namespace tests
