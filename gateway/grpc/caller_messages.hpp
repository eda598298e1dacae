// The answer to a call by gRPC. Messages of an agent by gRPC pass as they are; what handlers of A2A's JSON bindings answer becomes
// messages and trailers: a body of JSON one message, each event of a stream another, an error the trailers alone. One thread, that of
// the caller's loop.
#pragma once

#include "a2a/protobuf/methods.hpp"
#include "core/error.hpp"
#include "gateway/grpc/outcome.hpp"
#include "net/grpc/messages.hpp"
#include "net/grpc/status.hpp"
#include "net/loop/routine.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/server/caller_exchange.hpp"
#include "net/sse/sse_events.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::grpc {

class caller_messages final : public net::answer_filter {
public:
    struct terms {
        const ::a2a::protobuf::service_method* method = nullptr;  // null: none of A2A's
        ::a2a::error_profile profile = ::a2a::error_profile::v1_0_1;
        std::uint64_t limit = 0;                            // bytes of one message
        ::a2a::generation version = ::a2a::generation::v1;  // of the service
        const poster* elsewhere = nullptr;  // converts long messages, and outlives the object; null: the loop does
    };

    // Becomes the filter of `caller`, which outlives it, until it is destroyed.
    caller_messages(net::caller_exchange& caller, const terms& of);
    ~caller_messages() override { caller_.set_filter(nullptr); }
    caller_messages(const caller_messages&) = delete;
    caller_messages& operator=(const caller_messages&) = delete;

    // Fails with message_too_large (of the agent), upstream_protocol, answer_untranslatable or overloaded (bodies); then end() says so.
    core::result<net::answer_part> pass(const net::answer_part& part) override;
    bool puts_off() const noexcept override { return put_off_ != nullptr; }
    net::routine<core::result<net::answer_part>> later() override;
    bool copies() const noexcept override
    {
        return form_ == form::events || form_ == form::document || form_ == form::failure;
    }

    // Ends an answer that cannot go on: with the status of this code, or, if a message is under way, by a cut.
    net::routine<> end(core::errc why);

    // From now on called with each whole message that passes as it came, as JSON. With a method.
    using observer = std::function<void(std::string_view json)>;
    void observe(observer each) { observed_ = std::make_unique<observed>(std::move(each)); }

    // Lines of metadata that go out with the outcome of an answer that is converted. They outlive it.
    void set_metadata(const std::string& lines) noexcept { metadata_ = &lines; }

    // The outcome that went out. Nothing: none did.
    std::optional<core::grpc_code> status() const noexcept { return status_; }

    // Numbers that no double equals, and members that no message has.
    std::uint64_t rounded() const noexcept { return rounded_; }
    std::uint64_t lost() const noexcept { return lost_; }

    const ::a2a::protobuf::service_method* method() const noexcept { return terms_.method; }
    outcome_terms outcome() const noexcept;

private:
    enum class form : std::uint8_t { nothing, messages, document, events, failure, http };

    // Messages that somebody sees.
    struct observed {
        explicit observed(observer each)
            : to{std::move(each)}
        {
        }

        observer to;
        std::string message{};  // the part that has come of one
        std::string noted{};    // messages as JSON, one behind the other, that the observer is owed
        std::vector<std::size_t> ends{};
    };

    std::size_t held() const noexcept { return text_.size() + (events_ ? events_->held() : 0); }

    void begin(std::string_view head);
    core::result<net::answer_part> pass_messages(const net::answer_part& part);
    core::result<net::answer_part> seen(core::result<> done, const net::answer_part& part);
    core::result<> see(const net::answer_part& part);
    core::result<> see_piece(std::string_view piece);
    core::result<> note(std::string_view message);
    core::result<> convert(bool last, std::string_view text);
    core::result<net::answer_part> converted(core::result<> done, bool last);
    core::result<> read_events(bool last);
    core::result<> add_message(std::string_view json);
    net::answer_part take(bool last);
    void fail(net::grpc::status with);
    std::string_view result_in(std::string_view json);

    net::caller_exchange& caller_;
    terms terms_;
    form form_ = form::nothing;
    unsigned http_status_ = 0;
    std::optional<core::errc> own_;  // the error of the gateway's that this is
    std::string head_;               // that has not gone out
    std::string text_;               // of the body, not looked at
    std::string out_;                // messages that go out
    net::budget_share share_;        // for both
    std::string trailers_;
    const std::string* metadata_ = nullptr;      // null: there is none
    std::unique_ptr<net::sse_splitter> events_;  // null: the answer is no stream of events
    net::grpc::message_reader reader_;
    std::unique_ptr<observed> observed_;          // null: nobody looks
    std::unique_ptr<net::grpc::status> failure_;  // null: there is none
    std::optional<core::grpc_code> status_;
    std::uint64_t rounded_ = 0;
    std::uint64_t lost_ = 0;
    std::unique_ptr<net::answer_part> put_off_;  // waits for later(); null: none does
    bool commented_ = false;                     // the part had comments, which keep a stream alive
    bool headed_ = false;                        // the head is out
    bool outcome_in_head_ = false;               // of an agent's answer
    bool open_ = false;                          // a message is out without its end
    bool said_ = false;                          // the outcome too
};

}  // namespace gateway::grpc
