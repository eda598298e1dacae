// Requests of sessions that live in the process of another replica (docs/operations/replicas.md): they go to that one as their caller sent
// them, and its answer comes back as it gave it. The other replica judges the caller itself, so that no field of such a request is trusted.
// One thread.
#pragma once

#include "core/error.hpp"
#include "gateway/model/replicas.hpp"
#include "gateway/request/agent_relay.hpp"
#include "gateway/request/local_snapshot.hpp"
#include "net/upstream/upstream_pool.hpp"

#include <boost/intrusive/list.hpp>
#include <boost/intrusive/list_hook.hpp>

#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace gateway::request {

struct request_context;

class replica_relay {
public:
    // References outlive the object.
    replica_relay(
        agent_relay& relays,
        net::upstream_pool& pool,
        const config::settings& settings,
        const local_snapshot& known
    )
        : relays_{relays},
          pool_{pool},
          settings_{settings},
          known_{known}
    {
    }

    // Sets who lives; null: the store is not shared. Requests under way to those that are gone fail: a process that is frozen would never
    // answer.
    void set_replicas(const model::replicas_pointer& now);

    // Answers a request of a session that the replica with this id has. `body`: all of it, held by the caller's connection. Nothing that was
    // sent is sent again. `lost`: what the caller gets if nothing was sent: no such replica lives, it cannot be reached, the request comes
    // from another replica or from within the process, or its caller is known by a certificate.
    net::routine<> pass(request_context& request, store::replica_id replica, std::string_view body, core::errc lost);

private:
    struct way {
        std::string name;
        std::string url;
        std::shared_ptr<const model::agent_entry> entry;  // null: the replica has no address that can be used
        std::shared_ptr<const model::agent_entry> quick;  // the same for what is answered soon
    };

    // A request that another replica has.
    struct sent_request : boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
        sent_request(request_context& of, store::replica_id at)
            : request{of},
              to{at}
        {
        }

        request_context& request;
        store::replica_id to;
        bool gone = false;  // that replica does not live any more
    };
    class terms;

    void give_up_gone();
    const way* find(request_context& request, store::replica_id replica) const;
    way way_to(const store::replica_facts& to, const net::tls_context& tls) const;

    agent_relay& relays_;
    net::upstream_pool& pool_;
    const config::settings& settings_;
    const local_snapshot& known_;
    std::map<store::replica_id, way> ways_;  // of the others
    boost::intrusive::list<sent_request, boost::intrusive::constant_time_size<false>> sent_;
};

// The error to a request that another replica got and has not answered.
std::string unanswered_body(const request_context& request, core::errc code);

}  // namespace gateway::request
