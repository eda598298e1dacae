// GET of an agent's card: from memory while it is fresh, else from the control loop.
#pragma once

#include "gateway/request/endpoint.hpp"

#include <cstddef>
#include <memory>

namespace gateway::a2a {

class card_endpoint : public request::endpoint {
public:
    using endpoint::endpoint;

    net::routine<> answer(request::request_context& request);

private:
    using card_pointer = std::shared_ptr<const model::card_bytes>;

    // What control_services::move() has made of `of`, for as long as that keeps it.
    struct kept_card {
        std::weak_ptr<const model::card_bytes> of;
        std::weak_ptr<const model::card_bytes> moved;
    };

    static constexpr std::size_t most_kept = 10'000;  // over that all are forgotten: each costs one question

    net::routine<core::result<card_pointer>> at_origin(request::request_context& request, card_pointer bytes);
    net::routine<>
    send(request::request_context& request, const model::card_answer& found, const model::card_bytes& all);

    model::string_map<kept_card> kept_;  // by the name of the agent
};

}  // namespace gateway::a2a
