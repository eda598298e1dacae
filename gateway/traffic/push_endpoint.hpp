// POST /agents/<id>/push/<sealed>: the push notifications of agents whose callers the gateway notifies itself.
#pragma once

#include "a2a/dialect/push_edit.hpp"
#include "gateway/traffic/endpoint.hpp"

#include <string_view>

namespace gateway::traffic {

class push_endpoint : public endpoint {
public:
    using endpoint::endpoint;

    // Of a request for route::push, sets request.push. One whose address was not made here is any other path below its agent.
    void recognise(request_context& request) const;

    // 202 once the notification is in the store.
    net::routine<> answer(request_context& request);

private:
    net::routine<a2a::translation<a2a::push_notification>> read(request_context& request, std::string_view body);
};

}  // namespace gateway::traffic
