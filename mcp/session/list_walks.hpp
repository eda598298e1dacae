// Walks over a server's lists, and keeps the lists of the latest walk. Looks walk them too, and keep nothing. On the control
// loop's thread.
#pragma once

#include "mcp/protocol/discovery.hpp"
#include "mcp/session/operator_notes.hpp"
#include "mcp/session/requests.hpp"
#include "mcp/session/runner.hpp"
#include "mcp/session/session_host.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace mcp {

class list_walks {
public:
    // References outlive it.
    list_walks(session_host& host, const runner_settings& settings, requests& open, operator_notes& notes);

    // After each handshake.
    void set_server(server_facts facts, dialect speaks);
    const server_facts& server() const noexcept { return facts_; }

    // True: lists are to be walked for this notification, and it is the first since the latest walk.
    bool note(std::string_view notification) { return tracker_.note(notification, facts_.offers); }

    // As action_kind::walk, finish_walk, cancel_walk and publish.
    void begin(bool changed_only);
    void finish();
    void cancel();
    void publish();

    // The answer to a request for `list` or `look`, or its failure, with the detail from operator_notes::shown(). `page`: its result,
    // if it was read elsewhere; else null.
    void take(purpose use, const message& answer, list_page* page);
    void fail(purpose use, const core::error& why);

    // The server says of the list under way that it knows no session. True: another one is to be begun; false: one was, for this list,
    // which has not been answered since.
    bool loses_session(purpose use);

    // Why the walk under way is cancelled next, for those who wait for it.
    void expect_cancel(core::error why) { why_next_ = std::move(why); }

    // The session has ended.
    void forget();

    // As runner::look().
    void look(std::function<void(const look_result&)> then);
    void end_look(const look_result& found);

    // From now on nothing is reported.
    void abandon();

    // Null: there were none yet.
    const std::shared_ptr<const server_lists>& latest() const noexcept { return latest_; }

private:
    struct side_walk {
        discovery_walk walk;
        std::vector<std::function<void(const look_result&)>> waiting;
    };

    // Of what a page has so many bytes are read at once.
    static constexpr std::size_t most_at_once = 128 * 1024;

    discovery_walk walk_of(list_set wanted) const;
    discovery_walk* under_way(purpose use);
    void go_on(purpose use);
    void go_on_without(purpose use, const core::error& why);
    server_lists base_of_walk(bool changed_only) const;
    void ask(purpose use, const list_question& question);
    void ask_next();
    void ask_next_look();
    void end();
    void fail_walk(const core::error& why);
    void tell(const core::result<walk_outcome>& how);

    session_host& host_;
    const runner_settings& settings_;
    requests& requests_;
    operator_notes& notes_;
    server_facts facts_;
    dialect dialect_;
    change_tracker tracker_;
    std::optional<discovery_walk> walk_;
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
