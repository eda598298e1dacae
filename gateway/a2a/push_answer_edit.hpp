// An answer about push configurations that the gateway has put its own addresses into: callers read theirs. One thread, that
// of the caller's loop.
#pragma once

#include "a2a/dialect/push_edit.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/relay/chained_edit.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

namespace gateway::a2a {

inline constexpr std::uint64_t longest_push_answer = 1024 * 1024;  // bytes: hundreds of configurations

// What the answer is an answer to.
struct push_question {
    std::string agent;  // its id
    ::a2a::dialect caller;
    ::a2a::operation asked = ::a2a::operation::none;
};

class push_answer_edit final : public relay::chained_edit {
public:
    // What is no result, or has no address of ours, stays as it is.
    push_answer_edit(
        push_question about,
        std::shared_ptr<const model::push_addresses> addresses,
        means with,
        std::unique_ptr<relay::answer_edit> before
    )
        : relay::chained_edit{std::move(with), std::move(before)},
          about_{std::move(about)},
          addresses_{std::move(addresses)}
    {
    }

private:
    core::result<model::edited_answer> edit_here(std::string text) const override;

    push_question about_;
    std::shared_ptr<const model::push_addresses> addresses_;
};

}  // namespace gateway::a2a
