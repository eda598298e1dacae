// One connection of a session, or a probe. It forwards what its transport tells, with itself as the sender. On the control
// loop's thread.
#pragma once

#include "core/clock.hpp"
#include "mcp/transport/transport.hpp"

#include <memory>
#include <string>
#include <utility>

namespace mcp {

class connection;

// As transport_observer, with the sender. Each call may end the connection.
class connection_observer {
public:
    virtual ~connection_observer() = default;
    virtual void connected(connection& from) = 0;
    virtual void received(connection& from, std::string_view text) = 0;
    virtual void received_long(connection& from, const read_text& what) = 0;
    virtual void refused(connection& from, std::string_view beginning, std::size_t limit) = 0;
    virtual void failed(connection& from, std::uint64_t request, const core::error& why, std::optional<era> says) = 0;
    virtual void session_lost() = 0;
    virtual void stream_changed(stream_news news) = 0;
    virtual void lost(connection& from, const core::error& why) = 0;
    virtual void closed(connection& from) = 0;
};

class connection final : public transport_observer {
public:
    // `number` as session::connection().
    connection(connection_observer& observer, const transport_factory& make, bool probe, std::uint64_t number)
        : observer_{observer},
          probe_{probe},
          number_{number},
          wire_{make(*this)}
    {
        wire_->set_trial(probe);
    }

    transport& wire() noexcept { return *wire_; }
    bool probe() const noexcept { return probe_; }
    bool was_connected() const noexcept { return connected_; }
    std::uint64_t number() const noexcept { return number_; }

    // It is the session's from now on.
    void keep()
    {
        probe_ = false;
        wire_->set_trial(false);
    }

    std::uint64_t question = 0;  // of a probe; 0: it was not asked
    core::steady_time asked_at{};
    std::string discovered;  // the result of `server/discover` in the modern era
    bool spoke_nonsense = false;
    bool spoke_too_long = false;
    bool refused_ours = false;  // what was no request

private:
    void connected() override
    {
        connected_ = true;
        observer_.connected(*this);
    }
    void received(std::string_view text) override { observer_.received(*this, text); }
    void received_long(const read_text& what) override { observer_.received_long(*this, what); }
    void refused(std::string_view beginning, std::size_t limit) override { observer_.refused(*this, beginning, limit); }
    void failed(std::uint64_t request, core::error why, std::optional<era> says) override
    {
        observer_.failed(*this, request, why, says);
    }
    void session_lost() override { observer_.session_lost(); }
    void stream_changed(stream_news news) override { observer_.stream_changed(news); }
    void lost(core::error why) override { observer_.lost(*this, why); }
    void closed() override { observer_.closed(*this); }

    connection_observer& observer_;
    bool probe_;
    std::uint64_t number_;
    bool connected_ = false;
    std::unique_ptr<transport> wire_;
};

}  // namespace mcp
