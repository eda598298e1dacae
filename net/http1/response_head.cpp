#include "net/http1/grammar.hpp"
#include "net/http1/head.hpp"

#include <algorithm>
#include <utility>

namespace net::http1 {
namespace {

using stage = head_scan::stage;

constexpr std::size_t usual_fields = 16;

constexpr std::string_view status_pattern = "HTTP/1.d ddd ";

// One call of response_parser::parse; see request_reader.
class response_reader {
public:
    response_reader(std::string_view in, const head_limits& limits, head_scan& scan, response_head& head) noexcept
        : in_{in},
          limits_{limits},
          scan_{scan},
          head_{head}
    {
    }

    fault run(method to)
    {
        fault why;
        if (scan_.where == stage::start || scan_.where == stage::status_line) {
            why = read_status_line();
        }
        if (!why && scan_.where >= stage::line_start && scan_.where < stage::done) {
            why = read_fields(to);
        }
        return why;
    }

private:
    // RFC 9112 section 4. The space before an absent reason phrase is required there, and here.
    fault read_status_line() noexcept
    {
        if (scan_.where == stage::start) {
            for (; scan_.at < status_pattern.size(); ++scan_.at) {
                if (scan_.at == in_.size()) {
                    return {};
                }
                const char wanted = status_pattern[scan_.at];
                if (wanted == 'd' ? !is(in_[scan_.at], digit_byte) : in_[scan_.at] != wanted) {
                    return bad("the answer does not begin with an HTTP/1.x status line");
                }
            }
            if (const auto why = take_status()) {
                return why;
            }
            scan_.where = stage::status_line;
        }
        scan_.at = skip(in_, scan_.at, value_byte);
        if (scan_.at == in_.size() || (in_[scan_.at] == '\r' && scan_.at + 1 == in_.size())) {
            return {};
        }
        if (in_[scan_.at] != '\r' || in_[scan_.at + 1] != '\n') {
            return bad("a control byte, or a line end that is not CRLF, in the reason phrase");
        }
        scan_.at += 2;
        scan_.where = stage::line_start;
        return {};
    }

    fault take_status() noexcept
    {
        const char minor = in_[7];
        if (minor > '1') {
            return bad("the answer has a version that is neither HTTP/1.1 nor HTTP/1.0");
        }
        head_.minor_version = static_cast<unsigned>(minor - '0');
        for (const char digit : in_.substr(9, 3)) {
            head_.status = head_.status * 10 + static_cast<unsigned>(digit - '0');
        }
        if (head_.status < 100 || head_.status > 599) {
            return bad("a status outside 100 to 599");
        }
        // RFC 9110 section 15.2.2: only in answer to Upgrade, which is never forwarded.
        if (head_.status == 101) {
            return bad("an unasked change of protocol");
        }
        return {};
    }

    fault read_fields(method to)
    {
        fault why;
        while (true) {
            switch (next_field(in_, scan_, head_.fields, limits_, why)) {
                case line_result::more:
                case line_result::failed:
                    return why;
                case line_result::field:
                    why = take_field(head_.fields.back());
                    if (why) {
                        return why;
                    }
                    break;
                case line_result::end:
                    return finish(to);
            }
        }
    }

    fault take_field(const field& line) noexcept
    {
        switch (line.id) {
            case field_name::content_length:
            case field_name::transfer_encoding:
                return note_framing(line, head_.minor_version, scan_);
            case field_name::connection:
                return note_connection(line.value, scan_);
            default:
                return {};
        }
    }

    // RFC 9112 section 6.3, in its order:
    //
    //   1xx                         none; announced bytes would be taken for the next head: refused
    //   204, 304                    none; kept only if no body is announced: one that came late all the same would be the
    //                               beginning of the next caller's answer
    //   answer to HEAD              none; never kept, for the same reason: there a body is announced as a rule, and an agent
    //                               that takes HEAD for GET sends it
    //   chunked / Content-Length    as they say
    //   neither                     up to the end of the connection, which then cannot be kept
    fault finish(method to) noexcept
    {
        head_.keep_alive = head_.minor_version == 1 && !scan_.close;
        const bool announced = scan_.has_length || scan_.chunked;
        if (head_.status < 200) {
            return scan_.chunked || scan_.length > 0 ? bad("a body announced by an interim answer") : fault{};
        }
        if (head_.status == 204 || head_.status == 304 || to == method::head) {
            head_.keep_alive = head_.keep_alive && !announced && to != method::head;
            return {};
        }
        if (scan_.chunked) {
            head_.body = framing::chunked;
        } else if (scan_.has_length) {
            head_.body = framing::length;
            head_.content_length = scan_.length;
        } else {
            head_.body = framing::until_close;
            head_.keep_alive = false;
        }
        return {};
    }

    std::string_view in_;
    const head_limits& limits_;
    head_scan& scan_;
    response_head& head_;
};

}  // namespace

response_parser::response_parser(head_limits limits)
    : limits_{limits}
{
    head_.fields.reserve(std::min(limits_.fields, usual_fields));
}

core::result<std::size_t> response_parser::parse(std::string_view received, method to)
{
    if (received.data() != scan_.base) {
        reset();
        scan_.base = received.data();
    }
    const auto in = received.substr(0, limits_.bytes);
    if (const auto why = response_reader{in, limits_, scan_, head_}.run(to)) {
        return core::upstream_error(core::errc::upstream_protocol, why.rule);
    }
    if (scan_.where == stage::done) {
        return scan_.at;
    }
    if (in.size() == limits_.bytes) {
        return core::upstream_error(core::errc::upstream_protocol, "the head is over the limit");
    }
    return 0;
}

void response_parser::reset() noexcept
{
    scan_ = {};
    auto fields = std::move(head_.fields);
    fields.clear();
    head_ = {};
    head_.fields = std::move(fields);
}

}  // namespace net::http1
