// What the demo agents do: a plan of small steps for a text, and tasks that carry such a plan out. Knows no protocol.
// Everything here belongs to one io_context that one thread runs.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

namespace asio = boost::asio;
using json = nlohmann::ordered_json;

struct plan {
    std::vector<std::string> steps;  // each is announced, one after another
    std::string result;
};

// Counts the words of a text, one step a word (the first 100), and names the most frequent.
plan count_words(std::string_view text);

// Rolls the dice a text asks for ("2d6", "20d20"; up to 100 dice of 2 to 1000 sides); three of six sides if it asks for none.
plan roll_dice(std::string_view text);

enum class task_state { submitted, working, completed, canceled };

// One thing that happened to a task: a new status, or (when `artifact` is set) its result.
struct task_event {
    task_state state = task_state::submitted;
    std::string text;  // what the agent says, or the artifact; may be empty
    std::string at;    // RFC 3339, UTC
    bool artifact = false;
};

// Held by the board and by whoever still tells a caller about it.
struct task {
    task(const asio::any_io_executor& executor, std::string context, json asked);

    std::string id;
    std::string context_id;
    json message;  // the caller's, with this task's ids
    std::vector<task_event> events;
    asio::steady_timer changed;  // cancelled whenever an event was added

    const task_event& status() const;  // the newest event that is no artifact; there always is one
    const task_event* artifact() const;
    bool ended() const;
    void add(task_state state, std::string text, bool artifact = false);
    asio::awaitable<void> next_event();  // returns when an event was added since the call
};

using task_ref = std::shared_ptr<task>;

// All tasks, the newest 1,000 at least. Tasks that ended are forgotten first; those in work never.
class task_board {
public:
    task_board(asio::any_io_executor executor, std::chrono::milliseconds pace);

    // Starts to carry out `what`. The message is the caller's; an empty context gets a new id.
    task_ref start(plan what, std::string context, json message);
    task_ref find(const std::string& id) const;  // null if there is none
    std::vector<task_ref> newest_first() const;

private:
    void forget_old_tasks();

    asio::any_io_executor executor_;
    std::chrono::milliseconds pace_;
    std::map<std::string, task_ref> tasks_;
    std::vector<task_ref> order_;
};

std::string new_id();
std::string timestamp_now();

}  // namespace examples
