// A demo agent as A2A sees it: takes one JSON-RPC call, and gives one answer or something to stream.
#pragma once

#include "examples/dialect.hpp"
#include "examples/work.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace examples {

// What a stream is about: first the task as it stands, then its events from `next` on until it has ended.
struct live_task {
    task_ref of;
    json id;  // of the call; every item repeats it
    std::size_t next = 0;
};

struct outcome {
    json answer;  // the JSON-RPC response, unless there is a stream
    std::optional<live_task> stream;
    bool as_event = false;  // the answer is the only item of a stream: 0.3 clients read a refusal of one no other way
};

class agent {
public:
    agent(generation spoken, asio::any_io_executor executor, std::chrono::milliseconds pace);

    generation spoken() const noexcept { return spoken_; }

    // `version` is the call's A2A-Version field, empty if it had none. Returns when there is an answer: a send that
    // blocks waits for its task.
    asio::awaitable<outcome> call(std::string body, std::string version);

private:
    // Each takes the parameters of its operation, which are an object.
    asio::awaitable<outcome> send(json id, json params);
    outcome stream(const json& id, const json& params);
    outcome get(const json& id, const json& params) const;
    outcome list(const json& id, const json& params) const;
    outcome cancel(const json& id, const json& params);
    outcome subscribe(const json& id, const json& params) const;

    outcome refuse(const json& id, rpc_error code, std::string_view message) const;
    // The task a message starts, or why it starts none.
    task_ref start(const json& id, const json& params, outcome& refusal);
    // The task that params.id names, or that there is none.
    task_ref named(const json& id, const json& params, outcome& refusal) const;

    generation spoken_;
    task_board board_;
};

}  // namespace examples
