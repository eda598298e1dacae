// What members of a bundle say unasked, as one stream: the GET of a client of the legacy era and `subscriptions/listen` of the modern one.
// Changes of lists are the bundle's own: a client hears of one when what it gets itself has changed. On the thread of the control loop but
// for open().
#pragma once

#include "core/clock.hpp"
#include "gateway/access/access_plan.hpp"
#include "gateway/bundles/bundle_plane.hpp"
#include "gateway/bundles/bundle_sessions.hpp"
#include "gateway/bundles/bundle_sight.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/inner_calls.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/model/published_bundle.hpp"
#include "mcp/calls/session_id.hpp"
#include "mcp/protocol/message.hpp"
#include "net/loop/deadlines.hpp"
#include "net/loop/loop.hpp"
#include "net/loop/types.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gateway::bundles {

class member_stream;

class bundle_streams final : public model::program_port, private net::timed {
public:
    static constexpr std::size_t most_members =
        2000;  // streams of members, of all clients: others hear what is the bundle's own
    static constexpr core::duration change_pause =
        std::chrono::seconds{1};  // between two times that one client is told

    // References outlive it.
    bundle_streams(net::loop& control, model::inner_calls& calls, bundle_plane& bundles, bundle_sessions& sessions);
    ~bundle_streams() override;

    // Of program_act::listen: the stream of a session. Of ::modern: `subscriptions/listen`, with its message and what was read of it.
    std::unique_ptr<model::program_reader> open(model::program_request asked, net::executor here, net::signal& wake)
        override;

    // Bundles have no era, and nobody asks.
    net::task<core::result<>> find_era(std::string agent_id) override;
    net::task<bool> translates(std::string agent_id) override;

    // The rights of callers have changed. Null: they need no credential.
    void set_access(std::shared_ptr<const access::access_plan> plan);

    std::size_t size() const noexcept { return listeners_.size(); }

    void stop();

private:
    static constexpr std::size_t kinds = 3;  // tools, prompts, resources with templates

    struct listener {
        std::shared_ptr<const model::bundle_session> who;  // of the modern era: the names of bundle and caller alone
        std::string raw_id;                                // of `subscriptions/listen`; empty: it is a session's stream
        ::mcp::list_set wanted;
        std::weak_ptr<mcp::table::text_queue> reader;
        std::array<std::uint64_t, kinds> known{};  // digests of what it gets
        core::steady_time told{};
        std::vector<std::unique_ptr<member_stream>> members{};
        std::uint64_t looked = 0;  // the change of which `known` are
    };

    void on_due() override;
    std::shared_ptr<mcp::table::text_queue> begin(const model::program_request& asked);
    void listen_to_session(listener& to);
    void listen_to_resources(listener& to, std::string_view wishes);
    void note_change();
    void look_at_lists();
    using digests = std::array<std::uint64_t, kinds>;
    using known_digests = std::map<std::string, digests>;  // of callers that get the same

    void tell_changes(listener& to, core::steady_time now);
    digests digests_of(const listener& of) const;
    bundle_caller caller_of(const listener& of) const;
    void follow(
        listener& to,
        const std::string& agent,
        model::inner_request request,
        std::function<void(std::string text)> said
    );
    void close_stream(const ::mcp::session_digest& id);
    void member_changed(const ::mcp::session_digest& id, const member_session* begun);

    net::loop& loop_;
    model::inner_calls& calls_;
    bundle_plane& bundles_;
    bundle_sessions& sessions_;
    std::shared_ptr<const access::access_plan> access_;
    std::list<listener> listeners_;
    std::uint64_t change_ = 1;                                                // of lists and rights, the latest
    known_digests known_;                                                     // since then
    std::shared_ptr<std::size_t> streams_ = std::make_shared<std::size_t>();  // of members
    bool told_full_ = false;
    bool stopped_ = false;
};

}  // namespace gateway::bundles
