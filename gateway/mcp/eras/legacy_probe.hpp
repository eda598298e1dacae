// Which servers over streamable HTTP that speak the modern era do not speak the legacy one too: found out with an `initialize` of the
// gateway's own when a client of that era first needs to know, and kept for a day. On the thread of one loop.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/http/server_notes.hpp"
#include "gateway/mcp/http/session_recovery.hpp"
#include "gateway/mcp/programs/program_sessions.hpp"
#include "gateway/model/snapshot.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/transport/http_wire.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/signal.hpp"
#include "net/loop/types.hpp"

#include <chrono>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gateway::mcp::eras {

class legacy_probe {
public:
    static constexpr core::duration verdict_life = std::chrono::hours{24};

    // References outlive it.
    explicit legacy_probe(const table::program_services& services);
    legacy_probe(const legacy_probe&) = delete;
    legacy_probe& operator=(const legacy_probe&) = delete;

    // Whether the server, which speaks the modern era, refuses `initialize`. One that cannot be reached, or whose answer says nothing
    // of eras, counts as one that does, and is asked again the next time. Those who ask at once share one attempt.
    net::task<bool> refuses(std::shared_ptr<const model::agent_entry> agent);

    // Its server is another one, or it is gone: who waits is told that it refuses.
    void forget(const std::string& agent_id);

    // Who waits is told that it refuses.
    void stop();

private:
    struct verdict {
        bool refuses;
        core::steady_time until;
    };

    struct attempt {
        std::shared_ptr<const model::agent_entry> agent;
        std::shared_ptr<const ::mcp::http_settings> settings;
        std::unique_ptr<http::session_recovery> opening;
        std::optional<bool> refuses;
        std::vector<net::task_signal*> waiting;
    };

    std::shared_ptr<attempt> begin(const std::shared_ptr<const model::agent_entry>& agent);
    void ended(const std::shared_ptr<attempt>& at, const core::result<::mcp::upstream_session>& session);
    void tell(std::shared_ptr<attempt> at, bool refuses);

    const table::program_services& services_;
    net::exchange_client exchanges_;
    const ::mcp::client_info name_;
    http::server_notes notes_;
    model::string_map<verdict> verdicts_;  // by agent
    std::list<std::shared_ptr<attempt>> attempts_;
    bool stopped_ = false;
};

}  // namespace gateway::mcp::eras
