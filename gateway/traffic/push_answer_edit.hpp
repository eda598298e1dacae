// An answer about push configurations that the gateway has put its own addresses into: callers read theirs. One thread, that
// of the caller's loop.
#pragma once

#include "a2a/dialect/push_edit.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/traffic/answer_edit.hpp"

#include <memory>
#include <string>

namespace gateway::traffic {

inline constexpr std::uint64_t longest_push_answer = 1024 * 1024;  // bytes: thousands of configurations

class push_answer_edit final : public answer_edit {
public:
    push_answer_edit(
        std::shared_ptr<const model::push_addresses> addresses,
        std::string agent,
        a2a::dialect caller,
        a2a::operation asked
    );

    // Never fails. What is no result, or has no address of ours, stays as it is.
    net::routine<core::result<model::edited_answer>> edit(std::string text) override;

private:
    std::shared_ptr<const model::push_addresses> addresses_;
    std::string agent_;
    a2a::dialect caller_;
    a2a::operation asked_;
};

}  // namespace gateway::traffic
