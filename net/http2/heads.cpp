#include "net/http2/heads.hpp"

#include <algorithm>
#include <array>

namespace net::http2 {
namespace {

using http1::field_name;

constexpr std::size_t field_overhead = 32;
constexpr std::size_t most_times = 4;  // beyond so many times a limit the peer means harm
constexpr std::size_t usual_text = 4096;
constexpr std::size_t longest_type = 256;

// Beginnings of names of requests' fields that carry no credential.
constexpr std::array<std::string_view, 7>
    harmless{"a2a-", "accept", "cache-control", "content-", "grpc-", "mcp-protocol-version", "user-agent"};

constexpr std::string_view open_length = "transfer-encoding: chunked\r\n";

// The parser refuses what else no target and no authority has.
bool is_visible(std::string_view text) noexcept
{
    unsigned other = 0;  // no way out before the end: so the compiler takes many bytes at a time
    for (const char byte : text) {
        const auto number = static_cast<unsigned char>(byte);
        other |= static_cast<unsigned>(number <= 0x20) | static_cast<unsigned>(number == 0x7f);
    }
    return other == 0;
}

std::string_view host_of(std::string_view lines) noexcept
{
    std::string_view host;
    while (!lines.empty() && host.empty()) {
        const auto line = take_line(lines);
        const auto colon = std::min(line.find(':'), line.size());
        if (http1::lookup_field(line.substr(0, colon)) == http1::field_name::host) {
            host = core::trim(line.substr(colon + 1));
        }
    }
    return host;
}

bool begins(std::string_view text, std::string_view word) noexcept
{
    return core::equal_ignoring_case(text.substr(0, word.size()), word);
}

}  // namespace

void head_builder::begin(kind of)
{
    text_.clear();
    method_.clear();
    target_.clear();
    authority_.clear();
    cookies_.clear();
    content_type_.clear();
    bytes_ = 0;
    fields_ = 0;
    of_ = of;
    begun_ = false;
    has_length_ = false;
    interim_ = false;
    fault_ = nullptr;
}

bool head_builder::add(std::string_view name, std::string_view value)
{
    bytes_ += name.size() + value.size() + field_overhead;
    const bool pseudo = name.starts_with(':');
    if (!pseudo || name == ":authority") {
        ++fields_;
    }
    if (of_ == kind::request && name == "content-type" && value.size() <= longest_type) {
        content_type_ = value;
    }
    if (too_large() || too_many()) {  // counted on, but not kept
        return bytes_ <= most_times * limits_.bytes && fields_ <= most_times * limits_.fields;
    }
    if (pseudo) {
        add_pseudo(name, value);
    } else {
        add_line(name, value);
    }
    return true;
}

void head_builder::add_pseudo(std::string_view name, std::string_view value)
{
    if (name == ":method") {
        method_ = value;
    } else if (name == ":path") {
        target_ = value;
    } else if (name == ":authority") {
        authority_ = value;
    } else if (name == ":scheme") {
        if (!core::equal_ignoring_case(value, "https") && !core::equal_ignoring_case(value, "http")) {
            fault_ = "a scheme other than http and https";
        }
    } else if (name == ":status") {
        of_ = kind::answer;
        interim_ = value.starts_with('1');
        text_.append("HTTP/1.1 ").append(value).append(" \r\n");
    }
}

// Every pseudo field comes before the first other one: the library has seen to it.
void head_builder::begin_request()
{
    begun_ = true;
    const bool connects = method_ == "CONNECT";  // it has no path, and is answered like any unknown method
    if (!connects && !target_.starts_with('/') && target_ != "*") {
        fault_ = "a path that is none";
    } else if (!is_visible(target_) || !is_visible(authority_)) {
        fault_ = "a byte that no path and no authority may have";
    }
    text_.append(method_).append(" ").append(connects ? "*" : target_).append(" HTTP/1.1\r\n");
    if (!authority_.empty()) {
        text_.append("host: ").append(authority_).append("\r\n");
    }
}

void head_builder::add_line(std::string_view name, std::string_view value)
{
    if (of_ == kind::request) {
        if (!begun_) {
            begin_request();
        }
        if (name == "cookie") {
            cookies_.append(cookies_.empty() ? "" : "; ").append(value);  // RFC 9113 section 8.2.3
            return;
        }
        if (name == "host" && !authority_.empty()) {
            if (!core::equal_ignoring_case(value, authority_)) {
                fault_ = "Host names another host than :authority";
            }
            return;
        }
    }
    has_length_ = has_length_ || name == "content-length";
    text_.append(name).append(": ").append(value).append("\r\n");
}

std::optional<core::error> head_builder::finish(bool last)
{
    if (of_ == kind::trailers) {
        return std::nullopt;
    }
    if (of_ == kind::request) {
        if (!begun_) {
            begin_request();
        }
        if (too_large() || too_many()) {
            keep_least();
            return core::caller_error(core::errc::header_too_large, "the header list is over the limit");
        }
        if (fault_ != nullptr) {
            text_.clear();
            return core::caller_error(core::errc::bad_request, fault_);
        }
        if (!cookies_.empty()) {
            text_.append("cookie: ").append(cookies_).append("\r\n");
        }
    }
    if (!last && !has_length_ && !interim_) {
        text_.append(open_length);
    }
    text_.append("\r\n");
    return std::nullopt;
}

void head_builder::keep_least()
{
    text_.clear();
    begin_request();
    if (!content_type_.empty()) {
        text_.append("content-type: ").append(content_type_).append("\r\n");
    }
    text_.append("\r\n");
    if (fault_ != nullptr) {
        text_.clear();
    }
}

void head_builder::rest()
{
    for (auto* const text : {&text_, &target_, &cookies_}) {
        if (text->capacity() > usual_text) {
            std::string{}.swap(*text);
        }
    }
}

bool is_secret(std::string_view name, field_name id, role of) noexcept
{
    switch (id) {
        case field_name::api_key:
        case field_name::authorization:
        case field_name::cardea:
        case field_name::cookie:
        case field_name::proxy_authorization:
        case field_name::set_cookie:
            return true;
        case field_name::other:
            break;
        default:
            return false;
    }
    if (of == role::client) {
        return std::none_of(harmless.begin(), harmless.end(), [name](std::string_view known) {
            return begins(name, known);
        });
    }
    // Names that an agent has chosen for a credential.
    for (std::size_t at = 0; at < name.size(); ++at) {
        const auto rest = name.substr(at);
        switch (core::lower(rest.front())) {
            case 'a':
                if (begins(rest, "auth") || begins(rest, "assertion")) {
                    return true;
                }
                break;
            case 'c':
                if (begins(rest, "cookie") || begins(rest, "credential")) {
                    return true;
                }
                break;
            case 'k':
                if (begins(rest, "key")) {
                    return true;
                }
                break;
            case 'p':
                if (begins(rest, "password")) {
                    return true;
                }
                break;
            case 's':
                if (begins(rest, "secret") || begins(rest, "session")) {
                    return true;
                }
                break;
            case 't':
                if (begins(rest, "token")) {
                    return true;
                }
                break;
            default:
                break;
        }
    }
    return false;
}

bool belongs_to_http1(field_name id, std::string_view value) noexcept
{
    switch (id) {
        case field_name::connection:
        case field_name::host:
        case field_name::http2_settings:
        case field_name::keep_alive:
        case field_name::proxy_connection:
        case field_name::transfer_encoding:
        case field_name::upgrade:
            return true;
        case field_name::te:
            return !core::equal_ignoring_case(value, "trailers");
        default:
            return false;
    }
}

request_parts split_request(std::string_view head) noexcept
{
    auto lines = head;
    const auto first = take_line(lines);
    const auto space = std::min(first.find(' '), first.size());
    const auto rest = first.substr(std::min(space + 1, first.size()));
    return {first.substr(0, space), rest.substr(0, rest.rfind(' ')), host_of(lines), lines};
}

}  // namespace net::http2
