// Request and response heads of HTTP/1.x (RFC 9112), parsed strictly: the security boundary of the gateway. Pure: no
// I/O, no clock. Nothing is repaired and nothing is guessed; what a stricter or laxer neighbour might read differently
// is refused. The decision tables stand in docs/architecture.md and beside the code.
#pragma once

#include "core/error.hpp"
#include "net/http1/fields.hpp"

#include <boost/beast/http/verb.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace net::http1 {

// Requests with any other method than GET, HEAD, POST, PUT, PATCH, DELETE and OPTIONS are refused.
using method = boost::beast::http::verb;

inline std::string_view name(method m) noexcept
{
    return boost::beast::http::to_string(m);
}

enum class framing : std::uint8_t {
    none,         // no body
    length,       // exactly content_length bytes
    chunked,      // RFC 9112 section 7.1
    until_close,  // responses only: ends with the connection
};

struct head_limits {
    std::size_t bytes = 16 * 1024;  // the whole head, from its first byte to the empty line: 431 (502)
    std::size_t fields = 100;       // 431 (502)
    std::size_t target = 8 * 1024;  // 414
    std::size_t value = 8 * 1024;   // of one field, without the white space in front of it: 431 (502)
};

// Where the lines of a head end that was put together from its parts, each "name: value" with CRLF: nobody looks for them again.
struct line_end {
    std::uint32_t colon = 0;  // unused in the first line
    std::uint32_t end = 0;    // behind the CRLF
};
using line_ends = std::vector<line_end>;

// Where a parser stands between two calls. For the parsers alone.
struct head_scan {
    enum class stage : std::uint8_t { start, method, target, version, status_line, line_start, name, value, done };

    const char* base = nullptr;  // where the buffer lay; never dereferenced
    std::size_t at = 0;          // bytes that are decided
    std::size_t mark = 0;        // where the part of the line at hand begins
    std::size_t colon = 0;       // of the field line at hand
    std::uint64_t length = 0;    // of Content-Length
    std::uint64_t once = 0;      // fields that may stand once and did, as bits
    unsigned options = 0;        // of Connection
    stage where = stage::start;
    bool known_method = false;
    bool absolute_form = false;
    bool has_host = false;
    bool has_length = false;
    bool chunked = false;
    bool close = false;
    bool has_expect = false;
};

struct request_head {
    method verb = method::get;
    std::string_view target;     // origin-form: starts with '/', or "*" for OPTIONS; an absolute-form was reduced to it
    std::string_view authority;  // of Host, or of an absolute-form target; empty only in HTTP/1.0 without Host
    unsigned minor_version = 1;  // 0 or 1
    framing body = framing::none;
    std::uint64_t content_length = 0;
    bool keep_alive = true;        // RFC 9112 section 9.3; an HTTP/1.0 connection is never kept
    bool expect_continue = false;  // HTTP/1.1 with a body still to come
    field_list fields;
};

struct response_head {
    unsigned status = 0;           // 100 to 599
    unsigned minor_version = 1;    // 0 or 1
    framing body = framing::none;  // already by RFC 9112 section 6.3: none for HEAD, 1xx, 204 and 304
    std::uint64_t content_length = 0;
    bool keep_alive = true;  // false also for until_close and wherever surplus bytes are to be feared
    // `timeout` of Keep-Alive (RFC 2068 section 19.7.1.1), at most a day; the least if it stands more than once.
    std::optional<std::chrono::seconds> keep_alive_for;
    field_list fields;
};

// The host of `authority`, without its port and without the brackets of an IPv6 literal.
std::string_view host_of(std::string_view authority) noexcept;

// Parses one head after another. Views in the head point into the buffer of the call that completed it.
// Split-invariant: the same bytes in any pieces give the same result.
class request_parser {
public:
    explicit request_parser(head_limits limits);

    // `received` is everything that has arrived since the message's first byte (after reset()), the earlier bytes
    // included and unchanged, though they may have moved. Gives the length of the head once it is complete, leading
    // empty lines (at most two, RFC 9112 section 2.2) included, and 0 as long as more bytes are needed.
    // Fails with bad_request, target_too_long, header_too_large, not_implemented (method, transfer coding),
    // http_version_not_supported or expectation_failed as early as the bytes allow. After a failure: reset() or destroy.
    core::result<std::size_t> parse(std::string_view received);

    // Reads a whole head whose lines are known, such as one made from fields of HTTP/2: with the rules and failures of parse(). One whose
    // bytes tell of other lines is refused.
    core::result<> read(std::string_view whole, const line_ends& lines);

    const request_head& head() const noexcept { return head_; }
    void reset() noexcept;
    // The views of the head are void, and the memory of its fields is given up: what it has by value stays.
    void give_up_fields() noexcept { field_list{}.swap(head_.fields); }

private:
    head_limits limits_;
    head_scan scan_;
    request_head head_;
};

class response_parser {
public:
    explicit response_parser(head_limits limits);

    // Parses like request_parser::parse the answer to a request with the method `to`. Every failure is upstream_protocol
    // of the upstream. An interim answer (1xx) is given like any other: the caller skips it and resets.
    core::result<std::size_t> parse(std::string_view received, method to);

    // This does what request_parser::read() does.
    core::result<> read(std::string_view whole, const line_ends& lines, method to);

    const response_head& head() const noexcept { return head_; }
    void reset() noexcept;
    // This does what request_parser::give_up_fields() does.
    void give_up_fields() noexcept { field_list{}.swap(head_.fields); }

private:
    head_limits limits_;
    head_scan scan_;
    response_head head_;
};

}  // namespace net::http1
