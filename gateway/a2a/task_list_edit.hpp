// A list of tasks of which a caller sees its own alone, if callers need credentials. One thread, that of the caller's loop.
#pragma once

#include "gateway/a2a/task_guard.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/relay/chained_edit.hpp"
#include "gateway/request/request_context.hpp"

#include <memory>
#include <string>

namespace gateway::a2a {

class task_list_edit final : public relay::chained_edit {
public:
    // Of a caller that `guard` knows, for as long as its request lasts.
    task_list_edit(
        ::a2a::dialect caller,
        const task_guard& guard,
        means with,
        std::unique_ptr<relay::answer_edit> before
    )
        : relay::chained_edit{std::move(with), std::move(before)},
          caller_{caller},
          guard_{guard}
    {
    }

private:
    core::result<model::edited_answer> edit_here(std::string text) const override;

    ::a2a::dialect caller_;
    task_guard guard_;
};

// After request.call has been set to a call of this operation: puts such an edit behind that of the call, if there is one, if it is
// a list and tasks are kept apart. An answer may have `limit` bytes.
void keep_list_apart(
    request::request_context& request,
    ::a2a::dialect caller,
    ::a2a::operation what,
    model::control_services& control,
    std::uint64_t limit
);

}  // namespace gateway::a2a
