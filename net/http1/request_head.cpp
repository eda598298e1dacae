#include "net/http1/head_reader.hpp"

#include <algorithm>
#include <utility>

namespace net::http1 {
namespace {

// Far above the longest registered method; RFC 9112 section 3 asks for 501 beyond what one implements.
constexpr std::size_t longest_method = 32;

constexpr std::string_view version_pattern = "HTTP/d.d\r\n";

std::optional<method> lookup_method(std::string_view text) noexcept
{
    // RFC 9110 section 9.1: methods are case-sensitive.
    if (text == "POST") {  // nearly all
        return method::post;
    }
    for (const auto known : {method::get, method::head, method::put, method::patch, method::delete_, method::options}) {
        if (text == name(known)) {
            return known;
        }
    }
    return std::nullopt;
}

// RFC 9112 section 3.2: origin-form, asterisk-form, or the scheme of an absolute-form. What form the target of an
// unknown method has is that method's own affair.
constexpr bool begins_target(char byte, bool known_method) noexcept
{
    if (!known_method) {
        return byte != ' ';
    }
    return byte == '/' || byte == '*' || byte == 'h' || byte == 'H';
}

class request_reader : public head_reader<request_reader, request_head> {
public:
    request_reader(std::string_view received, const head_limits& limits, head_scan& scan, request_head& head) noexcept
        : head_reader{received, limits, scan, head}
    {
    }

    fault read_first_line() noexcept
    {
        fault why;
        if (scan_.where == stage::start) {
            why = empty_lines();
        }
        if (!why && scan_.where == stage::method) {
            why = read_method();
        }
        if (!why && scan_.where == stage::target) {
            why = read_target();
        }
        if (!why && scan_.where == stage::version) {
            why = read_version();
        }
        return why;
    }

    fault take_field(const field& line) noexcept
    {
        switch (line.id) {
            case field_name::host:
                return take_host(line.value);
            case field_name::expect:
                return take_expect(line.value);
            case field_name::authorization:
            case field_name::content_type:
            case field_name::date:
            case field_name::if_modified_since:
            case field_name::origin:
            case field_name::proxy_authorization:
                return take_single(line.id);
            default:
                return take_shared_field(line);
        }
    }

    fault finish() noexcept
    {
        if (!scan_.has_host && (head_.minor_version == 1 || scan_.absolute_form)) {
            return bad("no Host");
        }
        take_framing();
        const bool body_follows = scan_.chunked || scan_.length > 0;
        // RFC 9110 section 10.1.1: in HTTP/1.0 the expectation is ignored.
        head_.expect_continue = scan_.has_expect && body_follows && head_.minor_version == 1;
        head_.keep_alive = head_.minor_version == 1 && !scan_.close;
        return {};
    }

private:
    // RFC 9112 section 2.2: at least one empty line before the request line is ignored; here at most two.
    fault empty_lines() noexcept
    {
        while (scan_.at < in_.size() && in_[scan_.at] == '\r') {
            if (scan_.at == 4) {
                return bad("more than two empty lines before a request");
            }
            if (scan_.at + 1 == in_.size()) {
                return {};
            }
            if (in_[scan_.at + 1] != '\n') {
                return bad("CR without LF before a request");
            }
            scan_.at += 2;
        }
        if (scan_.at < in_.size()) {
            scan_.mark = scan_.at;
            scan_.where = stage::method;
        }
        return {};
    }

    fault read_method() noexcept
    {
        scan_.at = skip(in_, scan_.at, token_byte);
        const auto length = scan_.at - scan_.mark;
        if (length > longest_method) {
            return {core::errc::not_implemented, "the method is longer than any known"};
        }
        if (scan_.at == in_.size()) {
            return {};
        }
        if (in_[scan_.at] != ' ' || length == 0) {
            return bad("the method is not a token followed by one space");
        }
        const auto known = lookup_method(in_.substr(scan_.mark, length));
        // An unknown method is refused only when its line is known to be one of HTTP/1.x.
        scan_.known_method = known.has_value();
        head_.verb = known.value_or(method::get);
        scan_.mark = ++scan_.at;
        scan_.where = stage::target;
        return {};
    }

    fault read_target() noexcept
    {
        if (scan_.at == in_.size()) {
            return {};
        }
        if (scan_.at == scan_.mark && !begins_target(in_[scan_.at], scan_.known_method)) {
            return bad("the request target begins with a byte that none begins with");
        }
        // Brackets belong to an authority only (RFC 3986 section 3.2.2).
        const unsigned allowed = in_[scan_.mark] == '/' ? path_byte : path_byte | bracket_byte;
        // One byte over the limit is enough to know; what comes after it is not looked at.
        const auto window = in_.substr(0, std::min(in_.size(), scan_.mark + limits_.target + 1));
        while (true) {
            if (scan_.at < window.size()) {
                scan_.at = skip_path(window, scan_.at, allowed);
            }
            if (scan_.at - scan_.mark > limits_.target) {
                return {core::errc::target_too_long, "the request target is over the limit"};
            }
            if (scan_.at == in_.size()) {
                return {};
            }
            if (in_[scan_.at] != '%') {
                break;
            }
            const auto digits = in_.substr(scan_.at + 1, 2);
            if (skip(digits, 0, hex_byte) != digits.size()) {
                return bad("a percent sign without two hexadecimal digits in the request target");
            }
            if (digits.size() < 2) {
                return {};
            }
            scan_.at += 3;
        }
        if (in_[scan_.at] != ' ') {
            return bad("a byte that no request target may have");
        }
        const auto target = in_.substr(scan_.mark, scan_.at - scan_.mark);
        scan_.mark = ++scan_.at;
        scan_.where = stage::version;
        return take_target(target);
    }

    // RFC 9112 section 3.2.
    fault take_target(std::string_view target) noexcept
    {
        head_.target = target;
        if (!scan_.known_method || target.starts_with('/')) {
            return {};
        }
        if (target == "*" && head_.verb == method::options) {
            return {};
        }
        for (const std::string_view scheme : {"http://", "https://"}) {
            if (target.size() > scheme.size() && core::equal_ignoring_case(target.substr(0, scheme.size()), scheme)) {
                return take_absolute(target.substr(scheme.size()));
            }
        }
        return bad("the request target has a form that its method does not take");
    }

    // RFC 9112 section 3.2.2, reduced to origin-form; `rest` is what follows the scheme. The authority is compared with
    // Host, which was checked, and so needs no check here.
    fault take_absolute(std::string_view rest) noexcept
    {
        const auto end = std::min(rest.find_first_of("/?"), rest.size());
        head_.authority = rest.substr(0, end);
        head_.target = rest.substr(end);
        scan_.absolute_form = true;
        if (head_.target.empty()) {
            // RFC 9112 section 3.2.4: OPTIONS on an authority is about the server as a whole.
            head_.target = head_.verb == method::options ? "*" : "/";
        }
        if (head_.target.front() == '?' || head_.target.find_first_of("[]") != std::string_view::npos) {
            return bad("an absolute-form request target whose path is not one");
        }
        return {};
    }

    // RFC 9112 section 2.3.
    fault read_version() noexcept
    {
        if (in_.substr(scan_.mark, version_pattern.size()) == "HTTP/1.1\r\n") {  // nearly always
            scan_.at = scan_.mark + version_pattern.size();
        }
        for (; scan_.at - scan_.mark < version_pattern.size(); ++scan_.at) {
            if (scan_.at == in_.size()) {
                return {};
            }
            const char wanted = version_pattern[scan_.at - scan_.mark];
            const char byte = in_[scan_.at];
            if (wanted == 'd' ? !is(byte, digit_byte) : byte != wanted) {
                return bad("the request line does not end in an HTTP version and CRLF");
            }
        }
        const char major = in_[scan_.mark + 5];
        const char minor = in_[scan_.mark + 7];
        if (major != '1' || minor > '1') {
            return {core::errc::http_version_not_supported, "a version that is neither HTTP/1.1 nor HTTP/1.0"};
        }
        if (!scan_.known_method) {
            return {core::errc::not_implemented, "an unknown method"};
        }
        head_.minor_version = static_cast<unsigned>(minor - '0');
        scan_.where = stage::line_start;
        return {};
    }

    // RFC 9110 section 5.3: these are no lists, and of two such fields one reader takes the first and another the last.
    fault take_single(field_name id) noexcept
    {
        const auto bit = std::uint64_t{1} << static_cast<unsigned>(id);
        return (std::exchange(scan_.once, scan_.once | bit) & bit) != 0 ? bad("a field that is no list stands twice")
                                                                        : fault{};
    }

    // RFC 9112 section 3.2.
    fault take_host(std::string_view value) noexcept
    {
        if (std::exchange(scan_.has_host, true)) {
            return bad("more than one Host");
        }
        if (!valid_host(value)) {
            return bad("Host is not a host with an optional port");
        }
        if (scan_.absolute_form && !core::equal_ignoring_case(value, head_.authority)) {
            return bad("the request target names another host than Host");
        }
        head_.authority = value;
        return {};
    }

    // RFC 9110 section 10.1.1.
    fault take_expect(std::string_view value) noexcept
    {
        if (std::exchange(scan_.has_expect, true) || !core::equal_ignoring_case(value, "100-continue")) {
            return {core::errc::expectation_failed, "an expectation other than one 100-continue"};
        }
        return {};
    }
};

}  // namespace

request_parser::request_parser(head_limits limits)
    : limits_{limits}
{
    head_.fields.reserve(std::min(limits_.fields, usual_fields));
}

core::result<std::size_t> request_parser::parse(std::string_view received)
{
    if (const auto why = request_reader{received, limits_, scan_, head_}.read()) {
        return core::caller_error(why.code, why.rule);
    }
    return scan_.where == head_scan::stage::done ? scan_.at : 0;
}

core::result<> request_parser::read(std::string_view whole, const line_ends& lines)
{
    start_over(scan_, head_);
    scan_.base = whole.data();
    head_.fields.reserve(std::min(limits_.fields, lines.size()));
    if (const auto why = request_reader{whole, limits_, scan_, head_}.read(lines)) {
        return core::caller_error(why.code, why.rule);
    }
    return {};
}

void request_parser::reset() noexcept
{
    start_over(scan_, head_);
}

std::string_view host_of(std::string_view authority) noexcept
{
    if (authority.starts_with('[')) {
        return authority.substr(1, authority.find(']') - 1);
    }
    return authority.substr(0, authority.rfind(':'));
}

}  // namespace net::http1
