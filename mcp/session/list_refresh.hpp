// Walks over a server's lists, and keeps the lists of the latest walk; a look walks them and keeps nothing. On the control loop's
// thread.
#pragma once

#include "mcp/protocol/discovery.hpp"
#include "mcp/session/requests.hpp"
#include "mcp/session/session_context.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace mcp {

class list_refresh {
public:
    // References outlive it.
    list_refresh(session_context& host, requests& open);

    // After each handshake.
    void set_server(server_facts facts, dialect speaks);
    const server_facts& server() const noexcept { return facts_; }

    // True: lists are to be walked for this notification, and it is the first since the latest walk.
    bool note(std::string_view notification) { return tracker_.note(notification, facts_.offers); }

    // These carry out action_kind::walk, finish_walk, cancel_walk and publish.
    void begin(bool changed_only);
    void finish();
    void cancel();
    void publish();

    // The answer to a request for `list` or `look`, or its failure, with the detail from session_report::shown(). `page`: its result,
    // if another thread has read it; else null.
    void accept(purpose use, const message& answer, list_page* page);
    void fail(purpose use, const core::error& why);

    // The server says of the list under way that it knows no session. True: another one is to be begun; false: one was, for this list,
    // which has not been answered since.
    bool loses_session(purpose use);

    // Why the walk under way is cancelled next, for walked().
    void expect_cancel(core::error why) { why_next_ = std::move(why); }

    // The session has ended.
    void forget();

    // See session_runner::look().
    void look(std::function<void(const look_result&)> then);
    void end_look(const look_result& found);

    // From now on nothing is reported.
    void abandon();

    // Null: there were none yet.
    const std::shared_ptr<const server_lists>& latest() const noexcept { return latest_; }

private:
    struct side_walk {
        list_reader walk;
        std::vector<std::function<void(const look_result&)>> waiting;
    };

    // Bytes of a page that are read at once.
    static constexpr std::size_t most_at_once = 128 * 1024;

    list_reader walk_of(list_set wanted) const;
    list_reader* under_way(purpose use);
    void go_on(purpose use);
    void go_on_without(purpose use, const core::error& why);
    server_lists base_of_walk(bool changed_only) const;
    void ask(purpose use, const list_question& question);
    void ask_next();
    void ask_next_look();
    void end();
    void fail_walk(const core::error& why);
    void tell(const core::result<walk_outcome>& how);

    session_context& host_;
    requests& requests_;
    server_facts facts_;
    dialect dialect_;
    change_tracker tracker_;
    std::optional<list_reader> walk_;
    std::optional<side_walk> look_;
    std::optional<core::error> why_next_;
    std::optional<core::error> why_left_;  // the first list of the walk under way
    list_set lost_by_;                     // see loses_session()
    bool complete_ = true;                 // the latest walk
    server_lists base_;
    server_lists found_;
    std::shared_ptr<const server_lists> latest_;
};

}  // namespace mcp
