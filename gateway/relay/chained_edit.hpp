// An edit of an answer that comes behind another one: what the first makes of it is what the second gets. One thread, that of the
// caller's loop.
#pragma once

#include "a2a/dialect/dialect.hpp"
#include "gateway/relay/answer_edit.hpp"
#include "gateway/threads/side_thread.hpp"
#include "net/loop/types.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::relay {

class chained_edit : public answer_edit {
public:
    struct means {
        std::uint64_t limit = 0;     // of an answer in bytes, without an edit before
        threads::side_thread& side;  // outlives the edit
        net::executor here;          // of the caller's loop
        bool each = false;           // as terms::each, without an edit before
    };

    // `before`: another edit of the same answer, which comes first; null: there is none.
    chained_edit(means with, std::unique_ptr<answer_edit> before);

    // Fails as the edit before does, whose status and refusal stay, and as edit_here() does.
    net::routine<core::result<model::edited_answer>> edit(std::string text) final;

    void begin(const net::http1::response_head& head, bool events, side_requests& beside) final;
    void add_fields(std::string& fields) const final;
    net::routine<core::result<std::string>> opening() final;
    std::optional<model::edited_answer> instead() final;
    bool over() const noexcept final { return before_ != nullptr && before_->over(); }

protected:
    // The result of a JSON-RPC answer, or the whole body of HTTP+JSON: a view into the answer; empty: it has none.
    static std::string_view result_of(::a2a::dialect caller, const std::string& answer);

private:
    // What becomes of the text. On another thread if it is long: nothing else of the edit runs meanwhile.
    virtual core::result<model::edited_answer> edit_here(std::string text) const = 0;

    threads::side_thread& side_;
    net::executor here_;
    std::unique_ptr<answer_edit> before_;
};

}  // namespace gateway::relay
