// One client's session with a server whose only session serves all clients (`sessions: shared`): whose it is, and what the server
// says unasked that concerns it. Of what nobody listens to only the fact is kept, once. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "gateway/mcp_path/text_queue.hpp"
#include "gateway/mcp_path/unasked_messages.hpp"
#include "net/loop/types.hpp"

#include <bitset>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>

namespace gateway::mcp_path {

// The lists whose changes servers tell of: `tools`, `prompts`, `resources`.
enum class changing_list : std::uint8_t { tools, prompts, resources };

inline constexpr std::size_t changing_lists = 3;

std::string_view name(changing_list list) noexcept;

// Who began a session, and how.
struct shared_identity {
    std::string agent;  // its id
    std::string principal;
    std::string version;       // that client and server speak
    std::uint64_t number = 0;  // client_message::client of its messages; no other has it
};

class shared_session {
public:
    shared_session(net::executor on, shared_identity who, core::steady_time now)
        : who_{std::move(who)},
          began_{now},
          last_use_{now},
          unasked_{on}
    {
    }

    // As unasked_messages::listen(); with what has changed meanwhile.
    std::shared_ptr<text_queue> listen();

    void list_changed(changing_list list);

    // `uri`: what the client is subscribed to; `text`: as the server said it.
    void updated(const std::string& uri, std::string_view text);

    // It is over.
    void close() { unasked_.close(); }

    void use(core::steady_time now) noexcept { last_use_ = now; }
    bool listened_to() const noexcept { return unasked_.listened_to(); }
    core::steady_time began() const noexcept { return began_; }
    core::steady_time last_use() const noexcept { return last_use_; }
    const shared_identity& who() const noexcept { return who_; }

private:
    void tell_changed(changing_list list);
    void tell(std::string text);

    shared_identity who_;
    core::steady_time began_;
    core::steady_time last_use_;
    unasked_messages unasked_;
    std::bitset<changing_lists> changed_;  // since somebody listened
    std::set<std::string> updated_;        // the same
};

}  // namespace gateway::mcp_path
