// One message of a caller passed on to a session that lives in this process, and what comes of it passed back: as JSON if the
// answer comes first and soon, else as a stream of events (MCP 2025-11-25, basic/transports). The next messages are asked
// for when the caller has taken the ones before. On the thread of the caller's loop.
#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "core/error.hpp"
#include "gateway/mcp/route/message_stream.hpp"
#include "gateway/model/control_services.hpp"
#include "gateway/model/program_port.hpp"
#include "gateway/relay/call_wait.hpp"
#include "gateway/relay/open_streams.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/shared_budget.hpp"

#include <chrono>
#include <memory>
#include <string>

namespace gateway::request {
struct request_context;
}  // namespace gateway::request

namespace gateway::mcp::route {

struct mcp_call;
struct program_call;

class program_relay final : public relay::open_stream {
public:
    // An answer that takes longer is a stream of events; that to `initialize` is waited for.
    static constexpr core::duration longest_silence = std::chrono::seconds{1};

    // References outlive it. `message`, of which the program call is set.
    program_relay(
        mcp_call& message,
        model::control_services& control,
        const config::settings& settings,
        relay::open_streams& streams
    );
    ~program_relay() override;

    // Answers the request.
    net::routine<> run();

    void announce_end() override;
    void end_listening() override { reader_->end_listening(); }

    // The caller is told that the gateway ends, and the stream is whole.
    void end_stream() override { wait_.end(); }
    bool contain(bool at_once) override;
    const model::agent_entry& agent() const noexcept override;
    core::caller_mark whose() const noexcept override;

private:
    bool passes_caller(model::program_act act) const;
    void pass_caller(model::program_request& asked);
    net::routine<core::result<bool>> next_batch(core::steady_time until);
    void name_events();
    net::routine<> answer(model::program_act act, bool came);
    net::routine<> answer_whole(unsigned status);
    net::routine<> stream(bool came);
    net::routine<core::result<>> pass_batches(bool came);
    net::routine<core::result<>> pass_batch();
    net::routine<core::result<>> prepare_batch();
    void look_for_tool_error();
    net::routine<core::result<>> edit_batch(bool answers);
    net::routine<> translate(std::string& text);
    net::routine<core::result<>> send_failure(core::error failure);
    std::string session_fields();

    mcp_call& message_;
    request::request_context& request_;
    program_call& call_;
    model::control_services& control_;
    const config::settings& settings_;
    relay::open_streams& streams_;
    relay::exchange_wait wait_;
    message_stream stream_;
    net::budget_share share_;
    std::unique_ptr<model::program_reader> reader_;
    model::program_batch batch_;
    bool placed_ = false;      // `streams_` keeps a place for the stream
    bool announced_ = false;   // to `streams_`
    bool announcing_ = false;  // the next comment says that the gateway is about to end
};

}  // namespace gateway::mcp::route
