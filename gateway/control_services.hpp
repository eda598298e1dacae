// What the workers ask of the control loop. The coroutines run there: start them on its executor.
#pragma once

#include "gateway/answered_card.hpp"
#include "gateway/card_plane.hpp"
#include "gateway/directory_page.hpp"
#include "gateway/management.hpp"
#include "net/types.hpp"

#include <memory>
#include <string>

namespace gateway {

class control_services {
public:
    virtual ~control_services() = default;

    virtual net::executor executor() = 0;

    virtual net::task<card_answer> card(std::string agent_id) = 0;

    virtual net::task<std::shared_ptr<const directory_page>> directory(directory_request asked) = 0;

    // As card_plane::edit_answer().
    virtual net::task<core::result<edited_answer>> edit_answer(answered_card what) = 0;

    // Carries out a body sent to /rpc of the traffic listener: what writes is refused.
    virtual net::task<managed> manage(std::string body) = 0;
};

}  // namespace gateway
