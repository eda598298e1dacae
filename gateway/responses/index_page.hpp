// `GET /` of a listener: a short page that says what answers there and under which addresses. Pure.
#pragma once

#include "gateway/responses/answer.hpp"
#include "net/http1/head.hpp"

#include <span>
#include <string_view>

namespace gateway::responses {

struct index_route {
    std::string_view method;
    std::string_view path;
    std::string_view purpose;
};

// Plain text, or JSON for a request whose `Accept` names application/json. `version` is that of the gateway; empty: not shown.
answer
index_answer(const net::http1::request_head& asked, std::string_view version, std::span<const index_route> routes);

}  // namespace gateway::responses
