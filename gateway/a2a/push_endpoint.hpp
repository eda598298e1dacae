// POST /agents/<id>/push/<sealed>: the push notifications of agents whose callers the gateway notifies itself.
#pragma once

#include "a2a/dialect/push_edit.hpp"
#include "gateway/request/endpoint.hpp"

#include <string_view>

namespace gateway::a2a {

class push_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    // Of a request for route::push, sets request.push. One whose address was not made here is any other path below its agent.
    void recognise(request::request_context& request) const;

    // 202 once the notification is in the store.
    net::routine<> answer(request::request_context& request);

private:
    net::routine<::a2a::translation<::a2a::push_notification>>
    read(request::request_context& request, std::string_view body);
};

}  // namespace gateway::a2a
