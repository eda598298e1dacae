#include "net/upstream/http2_side.hpp"

#include "net/upstream/http2_origin.hpp"
#include "net/upstream/http2_upstream.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace net {
namespace {

using core::errc;
using reason = http2::error_code;

constexpr std::size_t kept_head = 1024;           // of a head, while the body comes
constexpr std::size_t worth_a_frame = 16 * 1024;  // released: the agent may hear of it

// An agent of which nothing has come for so long is not given another call on the same connection.
constexpr std::chrono::seconds longest_silence{1};

http1::head_limits answer_limits(const pool_settings& settings)
{
    return {.bytes = settings.head_limit, .fields = 256, .target = 0, .value = settings.head_limit};
}

}  // namespace

http2_side::http2_side(http2_origin& origin)
    : parser_{answer_limits(origin.settings())},
      body_{origin.owner().buffers()}
{
}

http2_side::~http2_side()
{
    if (origin_ != nullptr) {
        finish();
    }
}

void http2_side::begin(std::shared_ptr<http2_origin> origin, std::shared_ptr<const upstream_target> target)
{
    origin_ = std::move(origin);
    target_ = std::move(target);
}

void http2_side::finish() noexcept
{
    listener_ = nullptr;
    close();
    if (connection_ != nullptr) {
        connection_->credit(0, body_.clear());
    }
    http2_change_hook::unlink();
    static_cast<http2_progress&>(*this) = {};
    parser_.reset();
    for (auto* const text : {&head_text_, &trailers_}) {
        text->clear();
        if (text->capacity() > kept_head) {
            std::string{}.swap(*text);
        }
    }
    connection_.reset();
    target_.reset();
    origin_.reset();
}

void http2_side::connect(signal& listener)
{
    listener_ = &listener;
    waiting_ = true;
    origin_->join(*this);
}

const std::optional<core::error>& http2_side::failure() const noexcept
{
    static const std::optional<core::error> no_stream =
        core::gateway_error(errc::overloaded, "every stream to the agent is in use");
    return waiting_ && attempt == nullptr && origin_->full() ? no_stream : failure_;
}

int http2_side::socket() noexcept
{
    return connection_ != nullptr ? connection_->wire().socket() : -1;
}

void http2_side::place(std::shared_ptr<http2_upstream> on, bool reused)
{
    waiting_ = false;
    reused_ = reused;
    connection_ = std::move(on);
}

void http2_side::fail(core::error why)
{
    waiting_ = false;
    failure_ = std::move(why);
    change();
}

void http2_side::notify()
{
    if (listener_ != nullptr) {
        listener_->set();
    }
}

void http2_side::change() noexcept
{
    origin_->note_change(*this);
}

void http2_side::send(const agent_request& request)
{
    unsent_ = request.body;
    last_ = request.last;
    if (const auto* const line = request.head.begin(); line != request.head.end()) {
        asks_head_ = std::string_view{static_cast<const char*>(line->data()), line->size()}.starts_with("HEAD ");
    }
    if (connection_ == nullptr || over_) {
        unprocessed_ = true;
        return end(asio::error::connection_reset);
    }
    sent_since_ = connection_->owner_loop().now();
    bytes_before_ = connection_->bytes_in();
    const auto begun = connection_->request(*this, request);
    if (!begun) {
        unprocessed_ = true;
        return end(asio::error::connection_reset);
    }
    id_ = begun->id;
    sent_at_ = begun->bytes_before;
    produce();
}

void http2_side::send_body(std::string_view data, bool last)
{
    if (id_ == 0) {
        send_error_ = asio::error::broken_pipe;
        return;
    }
    unsent_ = data;
    last_ = last;
    connection_->session().resume(id_);
    produce();
}

// Most bodies are in the output then: nobody has to wait.
void http2_side::produce()
{
    connection_->produce();
    waits_to_send_ = sending();
}

http2::outgoing http2_side::next() noexcept
{
    return {.size = unsent_.size(), .last = last_, .trailers = {}};
}

void http2_side::take(std::size_t size, std::string& out)
{
    out.append(unsent_.substr(0, size));
    unsent_.remove_prefix(size);
    if (unsent_.empty() && std::exchange(waits_to_send_, false)) {
        change();
    }
}

core::result<bool> http2_side::read_head(http1::method /*to*/)
{
    if (!headed_ && fault_) {
        return *fault_;
    }
    return headed_;
}

void http2_side::consume_head()
{
    if (!whole_) {  // the body may take its time
        parser_.give_up_fields();
    }
    if (!whole_ || head_text_.capacity() > kept_head) {
        std::string{}.swap(head_text_);
    }
}

core::result<std::string_view> http2_side::take()
{
    const auto piece = body_.take();
    if (!piece.empty() || whole_) {
        return piece;
    }
    if (body_.size() == 0 && fault_) {
        return *fault_;
    }
    if (body_.size() == 0 && over_) {
        return core::upstream_error(errc::upstream_reset, end_reason_.message());
    }
    return piece;
}

bool http2_side::release()
{
    const auto bytes = body_.release();
    if (bytes > 0 && connection_ != nullptr) {
        uncredited_ += bytes;
        connection_->credit(id_, bytes);
        if (uncredited_ >= worth_a_frame) {
            uncredited_ = 0;
            connection_->schedule();
        }
    }
    return false;
}

bool http2_side::body_done() const noexcept
{
    return headed_ && (whole_ ? body_.left() == 0 : head().body == http1::framing::none);
}

bool http2_side::full() const noexcept
{
    return body_.size() >= http2_upstream::stream_window;
}

// The connection's memory of the stream ends; what has come stays.
void http2_side::close() noexcept
{
    if (waiting_) {
        waiting_ = false;
        origin_->leave(*this);
    }
    if (connection_ != nullptr && !over_ && (id_ != 0 || !ended())) {
        const auto now = connection_->owner_loop().now();
        if (id_ != 0 && !ended() && connection_->bytes_in() == bytes_before_ && now - sent_since_ >= longest_silence) {
            connection_->retire();
        }
        connection_->leave(*this, std::exchange(id_, 0));
    }
    if (!whole_) {
        end(asio::error::operation_aborted);
    }
}

void http2_side::end(error_code why) noexcept
{
    id_ = 0;
    if (!whole_ && !over_) {
        over_ = true;
        end_reason_ = why;
    }
    if (!unsent_.empty() || !last_) {
        unsent_ = {};
        send_error_ = asio::error::broken_pipe;
    }
    change();
}

void http2_side::lose(error_code why, bool unprocessed)
{
    unprocessed_ = unprocessed;
    end(why == asio::error::eof ? asio::error::connection_reset : why);
}

void http2_side::break_off(core::error why)
{
    if (!whole_ && !fault_) {
        fault_ = std::move(why);
    }
    end(asio::error::connection_aborted);
}

void http2_side::on_head(http2::received_head head)
{
    answering_ = true;
    bytes_in_ += head.text.size();
    if (fault_) {
        return;
    }
    if (head.text.starts_with("HTTP/1.1 1")) {
        const bool switches = head.text.starts_with("HTTP/1.1 101");
        if (switches || ++interim_ > most_interim_answers) {
            fault_ = core::upstream_error(
                errc::upstream_protocol,
                switches ? "switches protocols, unasked" : "too many interim answers"
            );
            change();
        }
        return;
    }
    head_text_.swap(head.text);
    if (auto read = parser_.read(head_text_, head.lines, asks_head_ ? http1::method::head : http1::method::get);
        !read) {
        fault_ = std::move(read).error();
    } else {
        headed_ = true;
    }
    change();
}

void http2_side::on_body(std::string_view piece)
{
    bytes_in_ += piece.size();
    body_.add(piece);
    if (std::exchange(armed_, false)) {
        change();
    }
}

void http2_side::on_trailers(std::string& text)
{
    bytes_in_ += text.size();
    trailers_.swap(text);
}

void http2_side::on_end()
{
    whole_ = true;
    change();
}

void http2_side::on_closed(reason code, http2::by whom)
{
    connection_->stream_ended(*this);
    const std::string said{http2::name(code)};
    if (!whole_ && whom == http2::by::us) {
        return break_off(core::upstream_error(errc::upstream_protocol, "the stream was reset for a fault: " + said));
    }
    if (!whole_ && code != reason::refused_stream) {
        fault_ = core::upstream_error(errc::upstream_reset, "the agent reset the stream: " + said);
    }
    unprocessed_ = code == reason::refused_stream;
    end(asio::error::connection_reset);
}

}  // namespace net
