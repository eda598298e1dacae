// An answer about push configurations that the gateway has put its own addresses into: callers read theirs. One thread, that
// of the caller's loop.
#pragma once

#include "a2a/dialect/push_edit.hpp"
#include "gateway/model/push_addresses.hpp"
#include "gateway/model/side_thread.hpp"
#include "gateway/traffic/answer_edit.hpp"
#include "net/loop/types.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace gateway::traffic {

inline constexpr std::uint64_t longest_push_answer = 1024 * 1024;  // bytes: hundreds of configurations

// What the answer is an answer to.
struct push_question {
    std::string agent;  // its id
    a2a::dialect caller;
    a2a::operation asked = a2a::operation::none;
};

class push_answer_edit final : public answer_edit {
public:
    struct means {
        std::uint64_t limit = longest_push_answer;  // of an answer, without an edit before
        std::shared_ptr<const model::push_addresses> addresses;
        model::side_thread& side;  // outlives the edit
        net::executor here;        // of the caller's loop
    };

    // `before`: another edit of the same answer, which comes first; null: there is none.
    push_answer_edit(push_question about, means with, std::unique_ptr<answer_edit> before);

    // Fails as the edit before does, whose status and refusal stay. What is no result, or has no address of ours, stays as it is.
    net::routine<core::result<model::edited_answer>> edit(std::string text) override;

    void begin(const net::http1::response_head& head, bool events, side_requests& beside) override;
    void add_fields(std::string& fields) const override;
    net::routine<core::result<std::string>> opening() override;
    bool over() const noexcept override { return before_ != nullptr && before_->over(); }

private:
    model::edited_answer edit_here(const std::string& text) const;

    push_question about_;
    means with_;
    std::unique_ptr<answer_edit> before_;
};

}  // namespace gateway::traffic
