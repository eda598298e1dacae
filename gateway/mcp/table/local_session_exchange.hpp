// One request of a caller on another loop, and what comes of it (gateway/model/program_port.hpp). Both loops hold it: what a
// function touches is said with it.
#pragma once

#include "core/error.hpp"
#include "gateway/mcp/table/resumable_streams.hpp"
#include "gateway/mcp/table/text_queue.hpp"
#include "gateway/model/program_port.hpp"
#include "net/loop/signal.hpp"
#include "net/loop/types.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace gateway::mcp::table {

class local_session_exchange final : public stream_reader, public std::enable_shared_from_this<local_session_exchange> {
public:
    // `there`: the loop of the sessions. `here`: that of the caller, where `wake` is set until the reader is destroyed. `counted` is held
    // until this is gone; null: it is no call.
    local_session_exchange(
        net::executor there,
        net::executor here,
        net::signal& wake,
        std::shared_ptr<const int> counted = nullptr
    )
        : there_{there},
          here_{here},
          counted_{std::move(counted)},
          of_call_{counted_ != nullptr},
          wake_{&wake}
    {
    }

    // For the caller, on its loop. Once. `answers_only`: as text_queue::take_answers_only(), of what follows.
    std::unique_ptr<model::program_reader> reader(bool answers_only = false);

    // Before what follows: client and server speak different eras (model::program_batch::translated).
    void translate() noexcept { translated_ = true; }

    // Before what follows: what goes out as events is kept in `streams`, which outlives the sessions' loop.
    void keep(resumable_streams& streams, stream_terms terms);

    // On the loop of the sessions, one of these and once.
    void follow(std::shared_ptr<text_queue> queue);
    // Follows a session that begins; `unheard` is called if the caller leaves before the answer has reached it.
    void follow(std::shared_ptr<text_queue> queue, std::string handle, std::function<void()> unheard);
    void listen(std::shared_ptr<text_queue> queue);
    void resume(resumable_streams& streams, resumable_streams::resumed from);
    void finish(core::result<> outcome);

    std::shared_ptr<text_queue> give_up() override;

private:
    class caller_end;

    void watch(std::shared_ptr<text_queue> queue);
    void look();
    void keep(model::program_batch& batch);
    std::string open_stream();
    void begin_stream();
    void end_listening();
    std::shared_ptr<text_queue> let_go();
    void reached();
    void left();
    void send(model::program_batch batch);
    void came(model::program_batch batch);

    net::executor there_;
    net::executor here_;
    std::shared_ptr<const int> counted_;
    bool of_call_;  // what comes ends by itself
    bool answers_only_ = false;

    // On the loop of the sessions.
    std::shared_ptr<text_queue> queue_;  // null: nothing comes any more
    std::string handle_;
    std::function<void()> unheard_;
    bool wanted_ = true;
    bool translated_ = false;
    bool ends_ = false;                  // with the next batch
    resumable_streams* kept_ = nullptr;  // null: what comes is not kept
    stream_terms terms_;                 // with `kept_`, until there is a stream
    std::uint64_t stream_ = 0;           // with `kept_`; 0: there is none yet

    // On the loop of the caller.
    net::signal* wake_;  // null: the reader has gone
    std::optional<model::program_batch> batch_;
    bool over_ = false;
    bool begins_ = false;  // a session, whose answer has not reached the caller
};

}  // namespace gateway::mcp::table
