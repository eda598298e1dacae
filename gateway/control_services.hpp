// What the workers ask of the rest. The coroutines run on the control loop: start them on its executor.
#pragma once

#include "gateway/card_editor.hpp"
#include "gateway/card_plane.hpp"
#include "gateway/directory_page.hpp"
#include "gateway/management.hpp"
#include "gateway/side_thread.hpp"
#include "net/types.hpp"

#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace gateway {

class control_services {
public:
    virtual ~control_services() = default;

    virtual net::executor executor() = 0;

    // `cards.max_size`, which a reload changes. Any thread may ask.
    virtual std::uint64_t largest_card() const noexcept = 0;

    virtual net::task<card_answer> card(std::string agent_id) = 0;

    virtual net::task<std::shared_ptr<const directory_page>> directory(directory_request asked) = 0;

    // For answers that hold cards; has an executor of its own.
    virtual card_editor& editor() = 0;

    // For reading bodies that are so long that it would hold a worker up. Any thread may ask it.
    virtual side_thread& long_bodies() = 0;

    // Carries out a body sent to /rpc of the traffic listener: what writes is refused. Stops soon after `left` says so.
    virtual net::task<managed> manage(std::string body, std::stop_token left) = 0;
};

}  // namespace gateway
