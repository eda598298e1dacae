#include "core/ascii.hpp"
#include "net/http1/head_reader.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <system_error>
#include <utility>

namespace net::http1 {
namespace {

constexpr std::string_view status_pattern = "HTTP/1.d ddd ";

constexpr std::chrono::seconds longest_keep_alive{24 * 60 * 60};

// Nothing: none of the parameters is one. What is wrong here costs no answer.
std::optional<std::chrono::seconds> timeout_of(std::string_view keep_alive) noexcept
{
    constexpr std::string_view wanted = "timeout=";
    while (!keep_alive.empty()) {
        const auto end = std::min(keep_alive.find(','), keep_alive.size());
        const auto parameter = core::trim(keep_alive.substr(0, end));
        keep_alive.remove_prefix(std::min(end + 1, keep_alive.size()));
        if (!core::equal_ignoring_case(parameter.substr(0, wanted.size()), wanted)) {
            continue;
        }
        const auto digits = parameter.substr(wanted.size());
        std::uint64_t number = 0;
        const auto [stop, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
        if (ec == std::errc::result_out_of_range) {
            return longest_keep_alive;
        }
        if (ec == std::errc{} && stop == digits.data() + digits.size()) {
            const auto most = static_cast<std::uint64_t>(longest_keep_alive.count());
            return std::chrono::seconds{std::min(number, most)};
        }
    }
    return std::nullopt;
}

class response_reader : public head_reader<response_reader, response_head> {
public:
    response_reader(
        std::string_view received,
        const head_limits& limits,
        head_scan& scan,
        response_head& head,
        method to
    ) noexcept
        : head_reader{received, limits, scan, head},
          to_{to}
    {
    }

    // RFC 9112 section 4. The space before an absent reason phrase is required there, and here.
    fault read_first_line() noexcept
    {
        if (scan_.where != stage::start && scan_.where != stage::status_line) {
            return {};
        }
        if (scan_.where == stage::start) {
            constexpr std::string_view usual = "HTTP/1.1 200 ";
            if (in_.starts_with(usual)) {
                scan_.at = usual.size();
            }
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

    fault take_field(const field& line) noexcept
    {
        if (line.id == field_name::keep_alive) {
            if (const auto time = timeout_of(line.value)) {
                head_.keep_alive_for = std::min(*time, head_.keep_alive_for.value_or(*time));
            }
        }
        return take_shared_field(line);
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
    fault finish() noexcept
    {
        head_.keep_alive = head_.minor_version == 1 && !scan_.close;
        if (head_.status < 200) {
            return scan_.chunked || scan_.length > 0 ? bad("a body announced by an interim answer") : fault{};
        }
        if (head_.status == 204 || head_.status == 304 || to_ == method::head) {
            head_.keep_alive = head_.keep_alive && !announces_body() && to_ != method::head;
            return {};
        }
        take_framing();
        if (!announces_body()) {
            head_.body = framing::until_close;
            head_.keep_alive = false;
        }
        return {};
    }

private:
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

    method to_;
};

}  // namespace

response_parser::response_parser(head_limits limits)
    : limits_{limits}
{
}

core::result<std::size_t> response_parser::parse(std::string_view received, method to)
{
    head_.fields.reserve(std::min(limits_.fields, usual_fields)
    );  // not before: a connection may wait long for its first answer
    if (const auto why = response_reader{received, limits_, scan_, head_, to}.read()) {
        return core::upstream_error(core::errc::upstream_protocol, why.rule);
    }
    return scan_.where == head_scan::stage::done ? scan_.at : 0;
}

core::result<> response_parser::read(std::string_view whole, const line_ends& lines, method to)
{
    start_over(scan_, head_);
    scan_.base = whole.data();
    head_.fields.reserve(std::min(limits_.fields, lines.size()));
    if (const auto why = response_reader{whole, limits_, scan_, head_, to}.read(lines)) {
        return core::upstream_error(core::errc::upstream_protocol, why.rule);
    }
    return {};
}

void response_parser::reset() noexcept
{
    start_over(scan_, head_);
}

}  // namespace net::http1
