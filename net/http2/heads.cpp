#include "net/http2/heads.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <utility>

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

bool is_of_http1(field_name id) noexcept
{
    switch (id) {
        case field_name::connection:
        case field_name::host:
        case field_name::http2_settings:
        case field_name::keep_alive:
        case field_name::proxy_connection:
        case field_name::te:
        case field_name::transfer_encoding:
        case field_name::upgrade:
            return true;
        default:
            return false;
    }
}

bool carries_credential(field_name id) noexcept
{
    switch (id) {
        case field_name::api_key:
        case field_name::authorization:
        case field_name::cardea:
        case field_name::cookie:
        case field_name::proxy_authorization:
        case field_name::set_cookie:
            return true;
        default:
            return false;
    }
}

// Names that an agent has chosen for a credential.
bool sounds_secret(std::string_view name) noexcept
{
    for (std::size_t at = 0; at < name.size(); ++at) {
        const auto rest = name.substr(at);
        switch (rest.front()) {
            case 'a':
                if (rest.starts_with("auth") || rest.starts_with("assertion")) {
                    return true;
                }
                break;
            case 'c':
                if (rest.starts_with("cookie") || rest.starts_with("credential")) {
                    return true;
                }
                break;
            case 'k':
                if (rest.starts_with("key")) {
                    return true;
                }
                break;
            case 'p':
                if (rest.starts_with("password")) {
                    return true;
                }
                break;
            case 's':
                if (rest.starts_with("secret") || rest.starts_with("session")) {
                    return true;
                }
                break;
            case 't':
                if (rest.starts_with("token")) {
                    return true;
                }
                break;
            default:
                break;
        }
    }
    return false;
}

field_facts look_up(std::string_view name) noexcept
{
    const auto id = http1::lookup_field(name);
    const bool known = id != field_name::other;
    const auto begins = [name](std::string_view word) { return name.starts_with(word); };
    const bool secret = carries_credential(id);
    return {
        .id = id,
        .of_http1 = is_of_http1(id),
        .secret_of_requests = known ? secret : std::none_of(harmless.begin(), harmless.end(), begins),
        .secret_of_answers = known ? secret : sounds_secret(name)
    };
}

// The facts of names that came lately: heads of one kind are alike.
struct seen_name {
    std::array<char, 30> written{};
    std::array<char, 30> lowered{};
    std::uint8_t size = 0;
    field_facts facts;
};
constinit thread_local std::array<seen_name, 64> seen_names{};

// Gives where the next bytes belong.
char* put(char* to, std::string_view bytes) noexcept
{
    return to + bytes.copy(to, bytes.size());
}

}  // namespace

void head_builder::begin(kind of)
{
    clear_text();
    text_.resize(std::max(text_.capacity(), usual_text));
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
        add_first_line("HTTP/1.1", value, {});
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
    add_first_line(method_, connects ? "*" : std::string_view{target_}, "HTTP/1.1");
    if (!authority_.empty()) {
        add_line("host", authority_);
    }
}

char* head_builder::take_room(std::size_t size)
{
    if (text_.size() - used_ < size) {
        text_.resize(used_ + std::max(size, used_));
    }
    return text_.data() + std::exchange(used_, used_ + size);
}

void head_builder::add_first_line(std::string_view one, std::string_view two, std::string_view three)
{
    auto* at = take_room(one.size() + two.size() + three.size() + 4);
    at = put(put(at, one), " ");
    at = put(put(at, two), " ");
    put(put(at, three), "\r\n");
    lines_.push_back({.colon = 0, .end = static_cast<std::uint32_t>(used_)});
}

void head_builder::add_line(std::string_view name, std::string_view value)
{
    const auto colon = used_ + name.size();
    auto* at = take_room(name.size() + value.size() + 4);
    at = put(put(at, name), ": ");
    put(put(at, value), "\r\n");
    if (of_ != kind::trailers) {
        lines_.push_back({static_cast<std::uint32_t>(colon), static_cast<std::uint32_t>(used_)});
    }
}

// But for trailers the text ends with an empty line.
void head_builder::end_head()
{
    if (of_ != kind::trailers) {
        put(take_room(2), "\r\n");
    }
    text_.resize(used_);
}

void head_builder::clear_text() noexcept
{
    used_ = 0;
    lines_.clear();
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
        end_head();
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
            clear_text();
            text_.clear();
            return core::caller_error(core::errc::bad_request, fault_);
        }
        if (!cookies_.empty()) {
            add_line("cookie", cookies_);
        }
    }
    if (!last && !has_length_ && !interim_) {
        add_line("transfer-encoding", "chunked");
    }
    end_head();
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
    clear_text();
    begin_request();
    if (!content_type_.empty()) {
        add_line("content-type", content_type_);
    }
    if (fault_ != nullptr) {
        clear_text();
        text_.clear();
    } else {
        end_head();
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

field_facts facts_of(char* name, std::size_t size) noexcept
{
    if (size == 0 || size > std::tuple_size_v<decltype(seen_name::written)>) {
        http1::lower_name(name, size);
        return look_up({name, size});
    }
    const auto first = static_cast<unsigned char>(name[0]);
    const auto last = static_cast<unsigned char>(name[size - 1]);
    auto& seen = seen_names.data()[(size + first * 29U + last * 37U) % seen_names.size()];
    if (seen.size != size || std::memcmp(seen.written.data(), name, size) != 0) {
        std::copy_n(name, size, seen.written.data());
        http1::lower_name(name, size);
        std::copy_n(name, size, seen.lowered.data());
        seen.size = static_cast<std::uint8_t>(size);
        seen.facts = look_up({name, size});
    } else {
        std::copy_n(seen.lowered.data(), size, name);
    }
    return seen.facts;
}

request_line split_request_line(std::string_view line) noexcept
{
    const auto space = std::min(line.find(' '), line.size());
    const auto rest = line.substr(std::min(space + 1, line.size()));
    return {line.substr(0, space), rest.substr(0, rest.rfind(' '))};
}

}  // namespace net::http2
