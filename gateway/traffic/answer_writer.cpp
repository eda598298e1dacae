#include "gateway/traffic/answer_writer.hpp"

#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace gateway::traffic {

answer_writer::answer_writer(net::server_connection& caller, task_watch& tasks) noexcept
    : caller_{caller},
      tasks_{tasks}
{
}

void answer_writer::leave_length_open() noexcept
{
    chunked_ = caller_.head().minor_version == 1;
    if (!chunked_) {
        caller_.end_body_with_connection();  // HTTP/1.0
    }
}

void answer_writer::expect_events(std::uint64_t limit, core::duration keep_alive)
{
    events_.emplace(limit, keep_alive);
}

void answer_writer::write_fields(
    std::string& text,
    const net::http1::response_head& head,
    body_care care,
    answer_of from,
    std::string_view extensions_as
) const
{
    write_answer_fields(text, head, care, from, extensions_as);
    if (net::http1::find(head.fields, net::http1::field_name::date) == nullptr) {
        net::http1::head_writer{text}.field("Date", caller_.owner().http_date());
    }
    tasks_.begin(head, care);
}

void answer_writer::add_head(std::optional<std::uint64_t> length)
{
    auto& text = caller_.scratch();
    net::http1::head_writer out{text};
    if (chunked_) {
        out.field("Transfer-Encoding", "chunked");
    } else if (length) {
        out.field("Content-Length", *length);
    }
    if (caller_.closing()) {
        out.field("Connection", "close");
    }
    text += caller_.answer_fields();
    out.end();
    out_.add(text);
}

bool answer_writer::add(std::string_view data)
{
    if (data.empty()) {
        return true;
    }
    if (tasks_.reads()) {
        tasks_.see(data);
    }
    if (!events_) {
        add_framed(data);
        return true;
    }
    if (wrapping_ != wrap::none) {
        auto& text = copied_[chunks_];
        text = std::exchange(wrapping_, wrap::within) == wrap::before ? "data: " : "";
        const auto begin = text.size();
        text += data;
        std::replace_if(
            text.begin() + static_cast<std::ptrdiff_t>(begin),
            text.end(),
            [](char c) { return c == '\r' || c == '\n'; },
            ' '
        );
        data = text;
    } else if (gate_ != nullptr) {
        data = gate_->pass(data, copied_[chunks_]);
    }
    const auto passed = events_->pass(data);
    if (!passed.bytes.rest.empty()) {
        add_framed(passed.bytes.held, passed.bytes.rest);
    }
    return !passed.too_large && (gate_ == nullptr || !gate_->too_large());
}

void answer_writer::add_comment()
{
    if (events_) {
        add_framed(events_->comment());
    }
}

void answer_writer::add_event(std::string_view text)
{
    if (!text.empty()) {
        add_framed(text);
    }
}

void answer_writer::add_end()
{
    if (wrapping_ == wrap::within) {
        out_.add(chunked_ ? "2\r\n\n\n\r\n0\r\n\r\n" : "\n\n");
        return;
    }
    if (chunked_) {
        out_.add(net::http1::last_chunk);
    }
}

void answer_writer::add_framed(std::string_view first, std::string_view second)
{
    if (chunked_) {
        auto& header = chunk_headers_[chunks_];
        header = net::http1::chunk_header{first.size() + second.size()};
        out_.add(header.text());
    }
    ++chunks_;
    out_.add(first);
    out_.add(second);
    if (chunked_) {
        out_.add(net::http1::chunk_end);
    }
}

net::pieces answer_writer::take() noexcept
{
    begun_ = true;
    chunks_ = 0;
    return std::exchange(out_, {});
}

void answer_writer::wrote() noexcept
{
    if (events_) {
        events_->wrote(caller_.owner().now());
    }
}

}  // namespace gateway::traffic
