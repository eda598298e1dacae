#include "tests/support/http2_voice.hpp"

#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace test_support {
namespace {

using net::http2::by;
using net::http2::error_code;

net::http2::session_settings settings_of(bool secure)
{
    net::http2::session_settings out;
    out.as = net::http2::role::client;
    out.secure = secure;
    out.stream_window = 256 * 1024;  // about as much as two sockets hold for a caller that does not read
    out.head = {.bytes = 1'000'000, .fields = 10'000, .target = 1'000'000, .value = 1'000'000};
    return out;
}

constexpr net::http1::head_limits any_head{
    .bytes = 1'000'000,
    .fields = 10'000,
    .target = 1'000'000,
    .value = 1'000'000
};

}  // namespace

// One request, and its answer as text as far as it has come.
struct http2_voice::call final : net::http2::stream_user {
    call(net::http2::session& of, bool head)
        : session{of},
          to_head{head}
    {
    }

    void on_head(net::http2::received_head head) override
    {
        constexpr std::size_t status_at = 9;  // in "HTTP/1.1 200 \r\n"
        const auto status = static_cast<unsigned>(std::stoul(head.text.substr(status_at, 3)));
        head.text.insert(status_at + 4, net::http1::reason(status));
        chunked = head.text.find("transfer-encoding: chunked\r\n") != std::string::npos;
        const bool has_body = status >= 200 && status != 204 && status != 304 && !to_head;
        if (has_body && head.last && head.text.find("content-length: ") == std::string::npos) {
            head.text.insert(head.text.size() - 2, "content-length: 0\r\n");
        }
        text += head.text;
        if (status >= 200) {
            head_end = text.size() - 2;
        }
    }
    void on_body(std::string_view piece) override
    {
        if (chunked) {
            text += net::http1::chunk_header{piece.size()}.text();
            text.append(piece).append(net::http1::chunk_end);
        } else {
            text += piece;
        }
        session.consume(id, piece.size());
    }
    void on_trailers(std::string& lines) override { trailers = lines; }
    void on_end() override
    {
        whole = true;
        if (chunked && !to_head) {
            text += "0\r\n" + trailers + "\r\n";
        }
    }
    void on_closed(error_code, by) override { closed = true; }
    net::http2::outgoing next() noexcept override { return {body.size(), last}; }
    void take(std::size_t size, std::string& out) override
    {
        out.append(body, 0, size);
        body.erase(0, size);
    }

    net::http2::session& session;
    std::int32_t id = 0;
    std::string body;  // to be sent
    bool last = false;
    bool to_head = false;
    bool closes = false;  // its caller wants no other on the connection
    std::string text;
    std::size_t head_end = 0;  // where another field fits into `text`; 0: nowhere
    std::string trailers;
    bool chunked = false;
    bool whole = false;
    bool closed = false;
};

http2_voice::http2_voice(bool secure)
    : session_{settings_of(secure), *this},
      parser_{any_head}
{
}

http2_voice::~http2_voice() = default;

bool http2_voice::say(std::string_view text)
{
    said_ += text;
    while (!said_.empty()) {
        if (saying_ != nullptr) {
            const auto before = said_.size();
            say_body();
            if (said_.size() == before) {
                return true;
            }
        } else {
            const auto before = said_.size();
            if (!begin_call()) {
                return false;
            }
            if (said_.size() == before) {
                return true;
            }
        }
    }
    return true;
}

// False: no head that can be said.
bool http2_voice::begin_call()
{
    parser_.reset();
    const auto parsed = parser_.parse(said_);
    if (!parsed) {
        return begin_refused_call();
    }
    if (*parsed == 0) {
        return true;
    }
    const auto& head = parser_.head();
    auto& made = *calls_.emplace_back(std::make_unique<call>(session_, head.verb == net::http1::method::head));
    body_left_ = head.body == net::http1::framing::length ? head.content_length : 0;
    chunked_ = head.body == net::http1::framing::chunked;
    decoder_ = net::http1::chunked_decoder{};
    made.last = body_left_ == 0 && !chunked_;
    made.closes = !head.keep_alive;
    const auto id = session_.request(std::string_view{said_}.substr(0, *parsed), made, made.last);
    if (!id) {
        return false;
    }
    made.id = *id;
    saying_ = made.last ? nullptr : &made;
    said_.erase(0, *parsed);
    return true;
}

// Says a head that breaks a rule, as far as HTTP/2 has words for it, and no body.
bool http2_voice::begin_refused_call()
{
    const auto line = std::string_view{said_}.substr(0, said_.find("\r\n"));
    const auto end = said_.find("\r\n\r\n");
    if (end == std::string::npos || std::ranges::count(line, ' ') != 2 || !line.ends_with(" HTTP/1.1")) {
        return false;
    }
    auto& made = *calls_.emplace_back(std::make_unique<call>(session_, /*head=*/false));
    made.last = true;
    made.closes = true;
    if (const auto length = said_.find("\r\nContent-Length:"); length < end) {
        said_.erase(length, said_.find("\r\n", length + 2) - length);
    }
    const auto id =
        session_.request(std::string_view{said_}.substr(0, said_.find("\r\n\r\n") + 4), made, /*last=*/true);
    said_.clear();
    made.id = id ? *id : 0;
    return id.has_value();
}

void http2_voice::say_body()
{
    std::size_t used = 0;
    while (chunked_ && !saying_->last && used < said_.size()) {
        const auto step = decoder_.decode(std::string_view{said_}.substr(used));
        if (!step) {
            session_.reset(saying_->id, error_code::cancel);
            ended_ = true;
            said_.clear();
            return;
        }
        saying_->body += step->data;
        saying_->last = step->finished;
        used += step->consumed;
    }
    if (!chunked_) {
        used = static_cast<std::size_t>(std::min<std::uint64_t>(body_left_, said_.size()));
        saying_->body.append(said_, 0, used);
        body_left_ -= used;
        saying_->last = body_left_ == 0;
    }
    said_.erase(0, used);
    session_.resume(saying_->id);
    if (saying_->last) {
        saying_ = nullptr;
    }
}

void http2_voice::hear(std::string_view frames, std::string& text)
{
    session_.feed(frames, std::chrono::steady_clock::now());
    while (!calls_.empty()) {
        auto& first = *calls_.front();
        if ((leaving_ || first.closes) && first.head_end > 0) {
            first.text.insert(first.head_end, "Connection: close\r\n");
        }
        first.head_end = 0;
        text += std::exchange(first.text, {});
        if (!first.whole) {
            ended_ = ended_ || first.closed;
            break;
        }
        if (saying_ == &first) {  // answered before its body had been said
            saying_ = nullptr;
        }
        if (!first.closed) {
            session_.reset(first.id, error_code::cancel);
        }
        ended_ = ended_ || first.closes;
        calls_.pop_front();
    }
    ended_ = ended_ || session_.done();
}

bool http2_voice::waits_for_credit() const noexcept
{
    return std::ranges::any_of(calls_, [](const auto& each) { return !each->closed && !each->body.empty(); });
}

std::string http2_voice::take_frames()
{
    std::string out;
    do {
        session_.produce(0);
        out += std::exchange(session_.output(), {});
        session_.produce(0);
    } while (!session_.output().empty());
    return out;
}

}  // namespace test_support
