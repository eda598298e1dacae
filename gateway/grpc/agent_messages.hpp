// The answer of an agent by gRPC as one of A2A's JSON bindings: as_json() of its generation. Messages become a body of JSON, those of a
// stream its events, and a status other than OK an error. Everything else is the agent's side itself. One thread.
#pragma once

#include "a2a/protobuf/methods.hpp"
#include "gateway/grpc/outcome.hpp"
#include "net/grpc/messages.hpp"
#include "net/http1/head.hpp"
#include "net/loop/shared_budget.hpp"
#include "net/upstream/agent_side.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::grpc {

class agent_messages final : public net::agent_side {
public:
    // Facts about a call that outlive it, and what came of it.
    struct terms {
        const ::a2a::protobuf::service_method* method = nullptr;  // not null
        std::string id;                                           // of the call, raw, in events of JSON-RPC
        std::uint64_t limit = 0;                                  // bytes of one message
        net::shared_budget* bodies = nullptr;                     // what they may take in memory; null: anything
        poster elsewhere;                                         // converts long messages; empty: the loop does
        std::optional<net::executor> here;                        // of the loop; with elsewhere
        std::uint64_t rounded = 0;                                // numbers that no double equals
        std::uint64_t lost = 0;                                   // fields that A2A does not have
        std::string trailers{};  // lines of metadata behind the answer, once it is over
    };

    // `inner` outlives the object.
    agent_messages(net::agent_side& inner, std::shared_ptr<terms> of);
    ~agent_messages() override;
    agent_messages(const agent_messages&) = delete;
    agent_messages& operator=(const agent_messages&) = delete;

    void connect(net::signal& listener) override { inner_.connect(listener); }
    bool connecting() override { return inner_.connecting(); }
    const std::optional<core::error>& failure() const noexcept override { return inner_.failure(); }
    void set_listener(net::signal* listener) noexcept override
    {
        listener_ = listener;
        inner_.set_listener(listener);
    }
    const net::upstream_target& target() const noexcept override { return inner_.target(); }
    int socket() noexcept override { return inner_.socket(); }
    void send(const net::agent_request& request) override { inner_.send(request); }
    void send_body(std::string_view data, bool last) override { inner_.send_body(data, last); }
    bool sending() const noexcept override { return inner_.sending(); }
    net::error_code send_error() const noexcept override { return inner_.send_error(); }
    bool unprocessed() noexcept override { return inner_.unprocessed(); }
    bool reused() const noexcept override { return inner_.reused(); }

    // If the call is no stream, the head is there once the whole answer has come.
    core::result<bool> read_head(net::http1::method to) override;
    const net::http1::response_head& head() const noexcept override { return parser_.head(); }
    void consume_head() override {}
    bool answering() const noexcept override { return inner_.answering(); }

    core::result<std::string_view> take() override;
    bool release() override;
    void rewind() override { taken_ = 0; }
    bool body_done() const noexcept override { return over_ && taken_ == out_.size(); }
    bool full() const noexcept override { return inner_.full(); }
    std::uint64_t announced() const noexcept override { return 0; }
    void widen() override { inner_.widen(); }
    bool ready() const noexcept override
    {
        return taken_ < out_.size() ||
               (under_way_ ? under_way_->done : !over_ && (inner_.body_done() || inner_.ready()));
    }
    void arm() override { inner_.arm(); }
    bool ended() const noexcept override { return !under_way_ && inner_.ended(); }
    net::error_code end_reason() const noexcept override { return inner_.end_reason(); }
    std::uint64_t bytes_in() const noexcept override { return inner_.bytes_in(); }
    bool reusable() const noexcept override { return inner_.reusable(); }
    void close() noexcept override { inner_.close(); }

private:
    // The conversion of a long message, on another thread.
    struct conversion {
        agent_messages* owner = nullptr;  // null: it is no more
        std::string message;
        std::string out;
        core::result<::a2a::protobuf::conversion> made{};
        bool done = false;
    };

    core::result<> begin();
    core::result<> gather();
    core::result<bool> read_more();
    core::result<bool> take_conversion();
    void convert_elsewhere(std::string message);
    core::result<> read(std::string_view piece);
    static core::result<::a2a::protobuf::conversion>
    append_message(const terms& of, std::string_view message, std::string& out);
    void count(const ::a2a::protobuf::conversion& made) noexcept;
    core::result<> end();
    core::result<> add_failure(const net::grpc::status& why);
    core::result<> write_head(unsigned status, std::string_view type);
    std::size_t held() const noexcept;
    outcome_terms outcome() const noexcept;

    net::agent_side& inner_;
    std::shared_ptr<terms> terms_;
    net::grpc::message_reader reader_;
    net::budget_share share_;  // for message_ and out_
    net::http1::response_parser parser_;
    std::string fields_;   // of the agent's head that go on
    std::string head_;     // that parser_ has read
    std::string message_;  // the part that has come of one
    std::string out_;      // of the body
    std::size_t taken_ = 0;
    std::shared_ptr<conversion> under_way_;  // null: none is
    std::string behind_;                     // what has come behind its message
    net::signal* listener_ = nullptr;
    std::optional<net::grpc::status> outcome_;  // in a head that is all of the answer
    bool began_ = false;                        // the agent's head has come
    bool headed_ = false;                       // head() is there
    bool over_ = false;                         // out_ has the last of the body
};

}  // namespace gateway::grpc
