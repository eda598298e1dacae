// The answer to a request for a card: a card, or why there is none. A value.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/model/published_card.hpp"
#include "gateway/model/request_record.hpp"

#include <memory>
#include <optional>

namespace gateway::model {

struct card_answer {
    std::shared_ptr<const published_card> card;  // null: see failure
    card_use use = card_use::miss;
    std::optional<core::error> failure;  // with a card: why it is a stale one; nullopt then: it is being fetched again
    std::optional<core::steady_time> again_at = std::nullopt;  // of a session that is not there: when asking may help
};

}  // namespace gateway::model
