// A caller's connection: reads request heads within their limits, hands each to the handler, keeps the connection for
// the next, ends it in order: an exchange of HTTP/1.1 after the other, or those of an http2_connection. One loop's thread.
#pragma once

#include "core/error.hpp"
#include "net/loop/stream.hpp"
#include "net/server/answer_writer.hpp"
#include "net/server/caller_exchange.hpp"
#include "net/server/http2_connection.hpp"
#include "net/server/request_body.hpp"
#include "net/server/server_settings.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ssl/error.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace net {

class server_connection final : public caller_exchange {
public:
    // `spaces` have the limits of `settings`.
    server_connection(
        loop& owner,
        accepted_socket from,
        http_handler& handler,
        const server_settings& settings,
        request_buffer_pool& spaces
    );

    // Serves until the caller leaves, an answer demands the end, or close().
    routine<> run();

    // Ends a connection after the last answer to requests that have come, and an idle one soon, unless one was on its way.
    void drain();
    // Drains the connection if its caller has shown a certificate or is about to: its authorities do not count any more.
    void distrust();
    // Ends the connection after the next answer that begins: an idle connection stays until then.
    void announce_end();

    void abort() override;

    unsigned major_version() const noexcept override { return 1; }
    const client_certificate* certificate() const noexcept override { return certificate_.get(); }
    std::uint64_t request_bytes() const noexcept override { return body_.request_bytes(); }
    std::uint64_t answer_bytes() const noexcept override { return answer_.bytes(); }
    shared_budget* bodies() const noexcept override { return settings_.bodies; }

    routine<core::result<std::string_view>> read_body(std::uint64_t limit) override { return body_.read(limit); }
    core::result<std::string_view> body_at_hand(std::uint64_t limit) override { return body_.at_hand(limit); }
    routine<core::result<bool>> hold_body(std::uint64_t enough, std::uint64_t limit) override
    {
        return body_.hold(enough, limit);
    }
    core::result<request_piece> take_piece(std::uint64_t limit) override { return body_.take_piece(limit); }
    core::steady_time body_due(core::steady_time until, core::steady_time now) noexcept override
    {
        return body_.due(until, now);
    }
    void waited_for_body(core::steady_time since) noexcept override { body_.waited(since); }
    void release_request() override;
    void on_sweep(core::steady_time now) override;

    // With `Connection: close` if this answer is the last one. An open length is chunks, or in HTTP/1.0 the end of the connection.
    void complete_head(std::string& text, answer_length length) override;
    void close_after_answer() noexcept override { close_ = true; }
    std::optional<core::result<>> try_send(const answer_part& part) override { return answer_.try_send(part); }
    routine<core::result<>> finish_send() override { return answer_.finish_send(); }

    // A reset, which may cost the caller what it has not read, comes only where the framing cannot show that something is missing.
    void cut() noexcept override { answer_.cut(); }
    void hurry() override { answer_.hurry(); }
    void ping() override {}  // HTTP/1.1 has no such thing
    bool answered() const noexcept override { return answer_.answered(); }
    void watch_caller() override
    {
        if (!body_.whole() || body_.bytes_behind() < settings_.read_ahead) {
            caller_.arm();
        }
    }
    bool aborted() const noexcept override { return answer_.aborted(); }
    bool caller_left() const noexcept override { return caller_.ended() || caller_.closed(); }
    bool was_reset() const noexcept override { return caller_.closed() || (caller_.ended() && caller_.broken()); }

private:
    enum class phase : std::uint8_t { idle, head, exchange, closing };

    bool closing() noexcept;
    routine<bool> shake_hands();
    routine<bool> begins_http2();
    bool is_foreign() const noexcept;
    routine<> run_http2();
    void begin_wait();
    bool waits_idle() const noexcept;
    routine<core::result<>> read_head();
    routine<bool> serve_one();
    routine<> guarded_handle();
    routine<> linger();
    routine<> drop_rest();
    routine<bool> dropped_some(core::steady_time until);

    http_handler& handler_;
    const server_settings& settings_;
    stream caller_;
    request_buffer_pool& spaces_;
    std::unique_ptr<const client_certificate> certificate_;
    answer_writer answer_;
    request_body body_;
    std::unique_ptr<http2_connection> http2_;  // null: HTTP/1.1
    std::uint64_t served_ = 0;
    phase phase_ = phase::idle;
    bool close_ = false;
    bool ending_ = false;
    bool draining_ = false;
};

}  // namespace net
