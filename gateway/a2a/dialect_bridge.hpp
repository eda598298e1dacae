// A call whose caller and agent speak different dialects of A2A: its request as the agent is sent it, and its answer as the
// caller gets it, event by event if it is a stream. On the thread of the caller's loop; long texts are translated elsewhere.
#pragma once

#include "a2a/dialect/answer.hpp"
#include "a2a/dialect/request.hpp"
#include "core/error.hpp"
#include "gateway/a2a/answer_edits.hpp"
#include "gateway/a2a/grpc_agent.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/relay/answer_edit.hpp"
#include "gateway/relay/relay_call.hpp"
#include "gateway/relay/side_requests.hpp"
#include "gateway/threads/side_thread.hpp"
#include "net/http1/head.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::a2a {

class dialect_bridge final : public relay::answer_edit, public relay::call_repair {
public:
    struct means {
        ::a2a::error_profile profile = ::a2a::error_profile::v1_0_1;
        std::uint64_t largest_request = 0;  // in bytes
        std::uint64_t largest_answer = 0;   // or event
        std::uint64_t largest_target = 0;   // behind the agent's own path, or id of a call
        std::uint64_t largest_message = 0;  // of gRPC
        threads::side_thread& long_texts;   // outlives the bridge
        net::executor here;                 // of the caller's loop
        net::shared_budget* bodies;         // what bodies may take in memory; outlives the bridge; null: anything
    };

    // To this interface of the agent; null: JSON-RPC of the caller's generation, at the agent's call_url.
    dialect_bridge(
        std::shared_ptr<const model::agent_entry> agent,
        const model::agent_interface* to,
        ::a2a::dialect caller,
        means with
    );

    // `in` but for its dialect; `id`: of the caller's JSON-RPC request, raw, empty in HTTP+JSON. The views in `in` and `id`
    // outlive the routine and the bridge. Fails as a2a::translate_request(), with nothing to be sent then, and with invalid_request
    // for an id that is too long.
    net::routine<::a2a::translation<>> take_request(::a2a::incoming_request in, std::string_view id);

    // Before take_request(): whether there is room for a translation that is as long as this.
    bool reserve(std::size_t bytes) noexcept { return share_.set(bytes); }

    // After take_request(): whether there is room for the requests that the bridge holds, until a stream begins.
    bool hold_request() noexcept
    {
        return share_.set(room_of(request_) + message_.capacity() + (task_ ? room_of(*task_) : 0));
    }

    // Sets the request for the agent, which the bridge holds.
    void fill(relay::relay_call& call);

    // Sets the facts of the call, for a caller of JSON-RPC.
    void set_facts(call_facts facts) { facts_ = std::move(facts); }

    // The answer holds a card, which this edit makes fit for callers first.
    void set_card(std::unique_ptr<relay::answer_edit> edit) noexcept { card_ = std::move(edit); }

    // That the agent speaks, or stands for if it is called by gRPC.
    ::a2a::dialect agent_dialect() const noexcept { return to_; }

    // After fill(): lines that come behind the answer of an agent that is called by gRPC; null: it is not.
    const std::string* metadata() const noexcept { return grpc_ ? &grpc_->trailers() : nullptr; }

    void begin(const net::http1::response_head& head, bool events, relay::side_requests& beside) override;
    void add_fields(std::string& fields) const override;
    net::routine<core::result<std::string>> opening() override;
    net::routine<core::result<model::edited_answer>> edit(std::string text) override;
    std::optional<model::edited_answer> instead() override { return std::exchange(instead_, std::nullopt); }
    bool over() const noexcept override { return over_; }
    void note(relay::relay_outcome& outcome) const override;

    std::optional<std::size_t> interest(const net::http1::response_head& head) const override
    {
        return may_get_ && head.status == 405 ? std::optional<std::size_t>{0} : std::nullopt;
    }
    net::routine<core::result<bool>> repair(
        relay::relay_call& call,
        relay::agent_exchange& on,
        const net::http1::response_head& head,
        std::string body
    ) override;
    void gave_up(const relay::relay_call& call) override { static_cast<void>(call); }
    // A stream of A2A that breaks off is resumed by a subscription: callers see the cut.
    std::string failure_text(const core::error& why) const override
    {
        static_cast<void>(why);
        return {};
    }

private:
    static std::size_t room_of(const ::a2a::outgoing_request& of) noexcept
    {
        return of.body.capacity() + of.target.capacity();
    }
    ::a2a::translation<> translate_request(const ::a2a::incoming_request& in);
    net::routine<core::result<relay::side_answer>> ask(const ::a2a::outgoing_request& further, ::a2a::operation what);
    std::string head_for(const ::a2a::outgoing_request& out, std::string_view fields) const;
    net::routine<core::result<>> add_pages(model::edited_answer& whole);
    void ask_for_page(::a2a::outgoing_request& page) const;
    model::edited_answer translate(std::string_view text);
    model::edited_answer refused(const ::a2a::refusal& why, std::string out);
    ::a2a::answer_options options() const
    {
        return {.id = id_, .profile = with_.profile, .limits = {.bytes = with_.largest_answer}};
    }

    std::shared_ptr<const model::agent_entry> agent_;
    const model::agent_interface* interface_;
    ::a2a::dialect caller_;
    ::a2a::dialect to_;
    means with_;
    std::string_view id_;
    ::a2a::exchange how_;
    ::a2a::outgoing_request request_;
    std::optional<grpc_agent> grpc_;               // nullopt: the agent is not called by gRPC
    std::string message_;                          // that `request_` is to it, with its prefix
    net::budget_share share_;                      // for `request_` and `task_`
    std::optional<::a2a::outgoing_request> task_;  // asks for the task that a subscription begins with
    std::string sent_head_;                        // what call.head and call.session point into
    std::string sent_fields_;
    std::string next_page_;  // raw token of a page that belongs to the answer; empty: none
    call_facts facts_;
    std::unique_ptr<relay::answer_edit> card_;
    relay::side_requests* beside_ = nullptr;
    std::optional<core::error> failure_;
    std::size_t lost_ = 0;
    unsigned agent_status_ = 200;
    unsigned status_ = 0;
    bool events_ = false;
    std::optional<model::edited_answer> instead_{};
    bool over_ = false;
    bool began_with_task_ = false;  // and no event of the agent has come since
    bool may_get_ = false;          // a subscription goes out as POST, and may be a GET at this agent
};

}  // namespace gateway::a2a
