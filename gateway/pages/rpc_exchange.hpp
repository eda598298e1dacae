// One exchange of POST /rpc, on either listener. On the thread of the caller's loop.
#pragma once

#include "gateway/model/rpc_answer.hpp"
#include "gateway/responses/answer.hpp"
#include "net/loop/types.hpp"
#include "net/server/server_connection.hpp"

#include <stop_token>

namespace gateway::pages {

// Has `question` carried out on `control` and waits for it. When the caller leaves meanwhile, `leaving` is told, whose token
// the question has: a caller that was reset has left, and one that has closed its half of the connection a moment ago.
net::routine<model::rpc_answer> ask_for(
    net::server_connection& caller,
    net::executor control,
    net::task<model::rpc_answer> question,
    std::stop_source leaving
);

// What the caller is sent, if it is still there.
responses::answer answer_of(model::rpc_answer done);

}  // namespace gateway::pages
