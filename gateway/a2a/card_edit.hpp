// An answer that holds an agent's card, which has to point at the gateway. One thread, that of the caller's loop.
#pragma once

#include "gateway/model/control_services.hpp"
#include "gateway/relay/answer_edit.hpp"
#include "net/loop/types.hpp"

#include <memory>
#include <string>

namespace gateway::a2a {

class card_edit final : public relay::answer_edit {
public:
    // `card` but for its text; `here`: of the caller's loop. `control` outlives the edit.
    card_edit(model::control_services& control, net::executor here, model::answered_card card);

    // Fails as control_services::edit().
    net::routine<core::result<model::edited_answer>> edit(std::string text) override;

private:
    model::control_services& control_;
    net::executor here_;
    model::answered_card card_;
};

}  // namespace gateway::a2a
