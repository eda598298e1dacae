// Caller and result of a method of the management API. Values.
#pragma once

#include "gateway/model/published_card.hpp"
#include "gateway/model/rpc_answer.hpp"

#include <cstddef>
#include <memory>
#include <stop_token>
#include <string>

namespace gateway::management {

// The caller of a request.
struct rpc_caller : model::rpc_rights {
    std::stop_token left;  // from then on nobody waits for the answer: the work stops
};

// The answer to one request: a result or an error.
struct rpc_result {
    std::string text;
    std::shared_ptr<const model::card_bytes> card = nullptr;  // not null: the text goes on with it and card_end
    bool denied = false;                                      // an error: the caller lacks a right

    std::size_t size() const noexcept { return text.size() + (card ? card->body.size() + model::card_end.size() : 0); }
};

}  // namespace gateway::management
