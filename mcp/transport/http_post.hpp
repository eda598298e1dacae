// One message on its way to a server over streamable HTTP, and what comes back for it: an answer, or a stream with it, which
// is taken up again if it ends before. Seen by what speaks to a server without a transport, and by http_transport.cpp.
#pragma once

#include "mcp/transport/http_wire.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/deadlines.hpp"
#include "net/sse/sse_events.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace mcp {

class http_post;

// The reports of a message on its way. Each may destroy it.
class http_post_owner {
public:
    // A message: a server's request or notification, or what it answers.
    virtual void take(std::string_view text) = 0;

    // The request is answered, or another message accepted: the next one may go.
    virtual void settled(http_post& post) = 0;

    // Nothing comes any more. `why`: no answer has come to the request, nor will one.
    virtual void over(http_post& post, std::optional<core::error> why, std::optional<era> says) = 0;

    virtual void forgotten() = 0;

protected:
    ~http_post_owner() = default;
};

class http_post final : private net::exchange_observer, private net::timed {
public:
    // Waits from now on. `first`: nothing went over this connection before. References outlive it.
    http_post(http_wire& wire, http_post_owner& owner, outgoing message, bool first);
    ~http_post() override = default;
    http_post(const http_post&) = delete;
    http_post& operator=(const http_post&) = delete;

    void begin();

    // An answer is waited for so long from now on.
    void await(core::duration patience);

    std::uint64_t id() const noexcept { return message_.id; }
    std::uint64_t answered_as() const noexcept { return message_.answered_as(); }
    bool of_caller() const noexcept { return message_.of_caller; }
    bool is_call() const noexcept { return message_.of_caller && message_.id != 0; }
    const std::string& method() const noexcept { return message_.method; }
    bool settled() const noexcept { return settled_; }

    // A text was passed on unread that may be the answer; answered_offloaded(): it was.
    bool passed_unread() const noexcept { return unread_; }
    void answered_offloaded();

    // Servers that do not know this transport answer `initialize` so.
    bool refused_initialize() const noexcept
    {
        const bool refused = status_ == 400 || status_ == 404 || status_ == 405;
        return refused && !resuming_ && message_.method == "initialize";
    }

private:
    void headed(const net::exchange_head& head) override;
    void took(std::string_view piece) override;
    void ended(core::result<> how) override;
    void on_due() override;

    bool is_good() const noexcept { return status_ >= 200 && status_ < 300; }
    void start();
    bool follow(const net::exchange_head& head);
    bool take_session_id(const net::exchange_head& head);
    // `known`: read_message() of the text, if it was read; else null.
    bool answers(
        std::string_view text,
        bool& ours,
        std::optional<core::error>& refused,
        const core::result<message>* known = nullptr
    );
    bool passes_unread(std::string_view text) const noexcept;
    void tell_answer(std::string_view text);
    void judge();
    void pass_unread();
    void judge_refusal(const message* answer);
    std::optional<era> era_said_by(const message* answer) const;
    void stream_ended(core::result<> how);
    void resume();
    void fail(core::error why, std::optional<era> says = std::nullopt);
    void refuse(std::string why);

    http_wire& wire_;
    http_post_owner& owner_;
    outgoing message_;                         // without its text
    std::shared_ptr<const std::string> text_;  // null once it is answered
    bool first_;
    bool named_session_ = false;
    bool streams_ = false;   // the exchange under way is a stream of events
    bool resuming_ = false;  // it asks for the rest of one
    bool settled_ = false;
    bool unread_ = false;
    unsigned status_ = 0;
    http_course course_;
    std::string refusal_;   // what the head says, of a refusal
    std::string type_;      // of the body
    bool page_ = false;     // of HTML
    bool unnamed_ = false;  // its answer is an error that does not say to what
    bool json_ = false;
    std::string body_;  // of what is no stream
    net::sse_reader events_;
    core::duration patience_{};
    std::optional<loop_timer> pause_;  // before a stream is taken up again
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    std::unique_ptr<net::exchange> exchange_;
};

}  // namespace mcp
