#include "net/http2/heads.hpp"

#include <algorithm>
#include <array>

namespace net::http2 {
namespace {

using http1::field_name;

constexpr std::size_t field_overhead = 32;
constexpr std::size_t most_times = 4;  // beyond so many times a limit the peer means harm
constexpr std::size_t usual_text = 512;
constexpr std::size_t most_usual_text = 4096;
constexpr std::size_t longest_type = 256;

// Beginnings of names of requests' fields that carry no credential.
constexpr std::array<std::string_view, 7>
    harmless{"a2a-", "accept", "cache-control", "content-", "grpc-", "mcp-protocol-version", "user-agent"};

bool begins(std::string_view text, std::string_view word) noexcept
{
    return core::equal_ignoring_case(text.substr(0, word.size()), word);
}

}  // namespace

void head_builder::begin(kind of)
{
    text_.clear();
    text_.reserve(usual_text);
    lines_.clear();
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
    if (too_large() || too_many()) {  // counted on, but not kept
        if (name == "content-type") {
            keep_type(value);
        }
        return bytes_ <= most_times * limits_.bytes && fields_ <= most_times * limits_.fields;
    }
    if (pseudo) {
        add_pseudo(name, value);
    } else {
        add_field(name, value);
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
        text_.append("HTTP/1.1 ").append(value).append(" ");
        end_first_line();
    }
}

// Every pseudo field comes before the first other one: the library has seen to it.
void head_builder::begin_request()
{
    begun_ = true;
    const bool connects = method_ == "CONNECT";  // it has no path, and is answered like any unknown method
    if (!connects && !target_.starts_with('/') && target_ != "*") {
        fault_ = "a path that is none";
    }
    text_.append(method_).append(" ").append(connects ? "*" : target_).append(" HTTP/1.1");
    end_first_line();
    if (!authority_.empty()) {
        add_line("host", authority_);
    }
}

void head_builder::end_first_line()
{
    text_.append("\r\n");
    lines_.push_back({.colon = 0, .end = static_cast<std::uint32_t>(text_.size())});
}

void head_builder::add_line(std::string_view name, std::string_view value)
{
    const auto colon = text_.size() + name.size();
    text_.append(name).append(": ").append(value).append("\r\n");
    if (of_ != kind::trailers) {
        lines_.push_back({static_cast<std::uint32_t>(colon), static_cast<std::uint32_t>(text_.size())});
    }
}

void head_builder::add_field(std::string_view name, std::string_view value)
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
    add_line(name, value);
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
            lines_.clear();
            return core::caller_error(core::errc::bad_request, fault_);
        }
        if (!cookies_.empty()) {
            add_line("cookie", cookies_);
        }
    }
    if (!has_length_ && !interim_) {
        if (!last) {
            add_line("transfer-encoding", "chunked");
        } else if (of_ == kind::answer && !text_.starts_with("HTTP/1.1 204") && !text_.starts_with("HTTP/1.1 304")) {
            add_line("content-length", "0");
        }
    }
    text_.append("\r\n");
    return std::nullopt;
}

void head_builder::keep_type(std::string_view value)
{
    if (value.size() <= longest_type) {
        content_type_ = value;
    }
}

void head_builder::keep_least()
{
    std::size_t begin = 0;
    for (const auto& line : lines_) {
        const auto name = std::string_view{text_}.substr(begin, std::max<std::size_t>(line.colon, begin) - begin);
        if (name == "content-type") {
            keep_type(std::string_view{text_}.substr(line.colon + 2, line.end - line.colon - 4));
        }
        begin = line.end;
    }
    text_.clear();
    lines_.clear();
    begin_request();
    if (!content_type_.empty()) {
        add_line("content-type", content_type_);
    }
    text_.append("\r\n");
    if (fault_ != nullptr) {
        text_.clear();
        lines_.clear();
    }
}

void head_builder::rest()
{
    for (auto* const text : {&text_, &target_, &cookies_}) {
        if (text->capacity() > most_usual_text) {
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

request_line split_request_line(std::string_view line) noexcept
{
    const auto space = std::min(line.find(' '), line.size());
    const auto rest = line.substr(std::min(space + 1, line.size()));
    return {line.substr(0, space), rest.substr(0, rest.rfind(' '))};
}

}  // namespace net::http2
