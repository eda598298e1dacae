// The pages that change or show the store: POST /rpc and POST /agent/register on the traffic listener, and what both listeners need for
// one exchange of /rpc. On the thread of the caller's loop.
#pragma once

#include "gateway/model/management_call.hpp"
#include "gateway/request/route_base.hpp"
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

// The answer to the caller, if it is still there.
responses::answer answer_of(model::rpc_answer done);

class management_route : public request::route_base {
public:
    using route_base::route_base;

    // POST /rpc. Principals with cardea:read see all of the agents, others what callers may know of those that they may discover.
    net::routine<> serve(request::request_context& request);

    // POST /agent/register, for callers who may register agents.
    net::routine<> serve_registration(request::request_context& request);
};

}  // namespace gateway::pages
