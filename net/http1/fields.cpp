#include "net/http1/fields.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace net::http1 {
namespace {

using core::lower;

// The letters among the bytes of a word in lower case. None of the sums carries into the next byte.
template <class Word>
Word lower_bytes(Word bytes) noexcept
{
    constexpr auto every = static_cast<Word>(0x0101010101010101);
    const Word without_top = bytes & (every * 0x7F);
    const Word from_a = without_top + every * (0x80 - 'A');
    const Word beyond_z = without_top + every * (0x7F - 'Z');
    const Word capitals = (from_a ^ beyond_z) & ~bytes & (every * 0x80);
    return bytes | (capitals >> 2U);
}

template <class Word>
bool matches_word(const char* name, const char* known) noexcept
{
    Word a = 0;
    Word b = 0;
    std::memcpy(&a, name, sizeof a);
    std::memcpy(&b, known, sizeof b);
    return a == b || lower_bytes(a) == b;
}

template <class Word>
void lower_word(char* at) noexcept
{
    Word bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);
    bytes = lower_bytes(bytes);
    std::memcpy(at, &bytes, sizeof bytes);
}

// The last word begins early enough to end with the name.
template <class Word>
bool matches_words(std::string_view name, std::string_view known) noexcept
{
    const auto last = known.size() - sizeof(Word);
    for (std::size_t at = 0; at < last; at += sizeof(Word)) {
        if (!matches_word<Word>(name.data() + at, known.data() + at)) {
            return false;
        }
    }
    return matches_word<Word>(name.data() + last, known.data() + last);
}

// `known` in lower case, no longer than `name`.
bool matches(std::string_view name, std::string_view known) noexcept
{
    if (known.size() >= sizeof(std::uint64_t)) {
        return matches_words<std::uint64_t>(name, known);
    }
    if (known.size() >= sizeof(std::uint32_t)) {
        return matches_words<std::uint32_t>(name, known);
    }
    for (std::size_t at = 0; at < known.size(); ++at) {
        if (lower(name[at]) != known[at]) {
            return false;
        }
    }
    return true;
}

bool has_prefix(std::string_view name, std::string_view prefix) noexcept
{
    return name.size() >= prefix.size() && matches(name, prefix);
}

struct known_name {
    std::string_view text;
    field_name id;
};

constexpr std::array known_names{
    known_name{"te", field_name::te},
    known_name{"via", field_name::via},
    known_name{"nel", field_name::of_origin},
    known_name{"date", field_name::date},
    known_name{"host", field_name::host},
    known_name{"cookie", field_name::cookie},
    known_name{"expect", field_name::expect},
    known_name{"origin", field_name::origin},
    known_name{"server", field_name::server},
    known_name{"apikey", field_name::api_key},
    known_name{"trailer", field_name::trailer},
    known_name{"upgrade", field_name::upgrade},
    known_name{"api-key", field_name::api_key},
    known_name{"alt-svc", field_name::of_origin},
    known_name{"x-apikey", field_name::api_key},
    known_name{"forwarded", field_name::forwarded},
    known_name{"x-real-ip", field_name::x_forwarded},
    known_name{"x-api-key", field_name::api_key},
    known_name{"accept-ch", field_name::of_origin},
    known_name{"expect-ct", field_name::of_origin},
    known_name{"report-to", field_name::of_origin},
    known_name{"set-login", field_name::of_origin},
    known_name{"connection", field_name::connection},
    known_name{"keep-alive", field_name::keep_alive},
    known_name{"set-cookie", field_name::set_cookie},
    known_name{"tracestate", field_name::tracestate},
    known_name{"traceparent", field_name::traceparent},
    known_name{"critical-ch", field_name::of_origin},
    known_name{"set-cookie2", field_name::of_origin},
    known_name{"content-type", field_name::content_type},
    known_name{"x-auth-token", field_name::api_key},
    known_name{"authorization", field_name::authorization},
    known_name{"if-none-match", field_name::if_none_match},
    known_name{"content-length", field_name::content_length},
    known_name{"http2-settings", field_name::http2_settings},
    known_name{"x-access-token", field_name::api_key},
    known_name{"x-goog-api-key", field_name::api_key},
    known_name{"accept-encoding", field_name::accept_encoding},
    known_name{"clear-site-data", field_name::of_origin},
    known_name{"public-key-pins", field_name::of_origin},
    known_name{"content-encoding", field_name::content_encoding},
    known_name{"proxy-connection", field_name::proxy_connection},
    known_name{"if-modified-since", field_name::if_modified_since},
    known_name{"transfer-encoding", field_name::transfer_encoding},
    known_name{"idp-signin-status", field_name::of_origin},
    known_name{"cdn-cache-control", field_name::of_origin},
    known_name{"surrogate-control", field_name::of_origin},
    known_name{"use-as-dictionary", field_name::of_origin},
    known_name{"alternate-protocol", field_name::of_origin},
    known_name{"proxy-authenticate", field_name::proxy_authenticate},
    known_name{"accept-ch-lifetime", field_name::of_origin},
    known_name{"proxy-authorization", field_name::proxy_authorization},
    known_name{"reporting-endpoints", field_name::of_origin},
    known_name{"origin-agent-cluster", field_name::of_origin},
    known_name{"x-amz-security-token", field_name::api_key},
    known_name{"sec-session-challenge", field_name::of_origin},
    known_name{"service-worker-allowed", field_name::of_origin},
    known_name{"observe-browsing-topics", field_name::of_origin},
    known_name{"activate-storage-access", field_name::of_origin},
    known_name{"sec-session-registration", field_name::of_origin},
    known_name{"x-goog-iap-jwt-assertion", field_name::api_key},
    known_name{"ocp-apim-subscription-key", field_name::api_key},
    known_name{"strict-transport-security", field_name::of_origin},
    known_name{"secure-session-registration", field_name::of_origin},
    known_name{"public-key-pins-report-only", field_name::of_origin},
};

constexpr std::size_t longest_name = 27;

// Of names whose letters are in lower case.
constexpr std::size_t bucket_of(std::size_t size, char first, char last) noexcept
{
    return (size + static_cast<unsigned char>(first) * 29U + static_cast<unsigned char>(last) * 37U) % 128;
}

// The names of each bucket, as one more than their places in known_names: the first one, then the next of each.
struct buckets {
    std::array<std::uint8_t, 128> first{};
    std::array<std::uint8_t, known_names.size()> next{};
};
constexpr buckets by_bucket = [] {
    buckets made;
    for (std::size_t i = 0; i < known_names.size(); ++i) {
        const auto text = known_names[i].text;
        auto& first = made.first[bucket_of(text.size(), text.front(), text.back())];
        made.next[i] = first;
        first = static_cast<std::uint8_t>(i + 1);
    }
    return made;
}();

static_assert(std::all_of(known_names.begin(), known_names.end(), [](const known_name& each) {
    return each.text.size() <= longest_name;
}));

// Looks up a name that begins with an x.
field_name lookup_extension(std::string_view name) noexcept
{
    if (has_prefix(name, "x-forwarded-")) {
        return field_name::x_forwarded;
    }
    const bool commands = has_prefix(name, "x-accel-") || has_prefix(name, "x-reproxy-") ||
                          has_prefix(name, "x-sendfile") || has_prefix(name, "x-lighttpd-") ||
                          has_prefix(name, "x-litespeed-");
    return commands ? field_name::of_origin : field_name::other;
}

}  // namespace

field_name lookup_field(std::string_view name) noexcept
{
    if (name.empty()) {
        return field_name::other;
    }
    const char first = lower(*name.data());
    if (name.size() <= longest_name) {
        std::size_t at = by_bucket.first.data()[bucket_of(name.size(), first, lower(name.data()[name.size() - 1]))];
        for (; at > 0; at = by_bucket.next.data()[at - 1]) {
            const auto& known = known_names.data()[at - 1];
            if (known.text.size() == name.size() && matches(name, known.text)) {
                return known.id;
            }
        }
    }
    switch (first) {
        case 'x':
            return lookup_extension(name);
        case 'c':
            return has_prefix(name, "cardea-") ? field_name::cardea : field_name::other;
        case 'a':
            return has_prefix(name, "access-control-") || has_prefix(name, "attribution-reporting-")
                       ? field_name::of_origin
                       : field_name::other;
        default:
            return field_name::other;
    }
}

void lower_name(char* name, std::size_t size) noexcept
{
    constexpr auto word = sizeof(std::uint64_t);
    std::size_t at = 0;
    for (; size - at >= word; at += word) {
        lower_word<std::uint64_t>(name + at);
    }
    if (at < size && size >= word) {
        lower_word<std::uint64_t>(name + size - word);  // some of it again
        return;
    }
    for (; at < size; ++at) {
        name[at] = lower(name[at]);
    }
}

const std::string_view* find(const field_list& fields, field_name id) noexcept
{
    for (const auto& line : fields) {
        if (line.id == id) {
            return &line.value;
        }
    }
    return nullptr;
}

const std::string_view* find(const field_list& fields, std::string_view name) noexcept
{
    for (const auto& line : fields) {
        if (core::equal_ignoring_case(line.name, name)) {
            return &line.value;
        }
    }
    return nullptr;
}

bool hop_by_hop(field_name id) noexcept
{
    switch (id) {
        case field_name::connection:
        case field_name::content_length:
        case field_name::http2_settings:
        case field_name::keep_alive:
        case field_name::proxy_authenticate:
        case field_name::proxy_authorization:
        case field_name::proxy_connection:
        case field_name::te:
        case field_name::trailer:
        case field_name::transfer_encoding:
        case field_name::upgrade:
            return true;
        case field_name::other:
        case field_name::accept_encoding:
        case field_name::api_key:
        case field_name::authorization:
        case field_name::cardea:
        case field_name::content_encoding:
        case field_name::content_type:
        case field_name::cookie:
        case field_name::date:
        case field_name::expect:
        case field_name::forwarded:
        case field_name::host:
        case field_name::if_modified_since:
        case field_name::if_none_match:
        case field_name::of_origin:
        case field_name::origin:
        case field_name::server:
        case field_name::set_cookie:
        case field_name::traceparent:
        case field_name::tracestate:
        case field_name::via:
        case field_name::x_forwarded:
            return false;
    }
    return true;
}

bool named_by_connection(const field_list& fields, std::string_view name) noexcept
{
    for (const auto& line : fields) {
        if (line.id != field_name::connection) {
            continue;
        }
        for (auto rest = line.value; !rest.empty();) {
            const auto comma = std::min(rest.find(','), rest.size());
            if (core::equal_ignoring_case(core::trim(rest.substr(0, comma)), name)) {
                return true;
            }
            rest.remove_prefix(std::min(comma + 1, rest.size()));
        }
    }
    return false;
}

}  // namespace net::http1
