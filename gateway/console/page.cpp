#include "gateway/console/page.hpp"

#include "core/ascii.hpp"
#include "core/error.hpp"
#include "gateway/model/published_card.hpp"
#include "net/http1/fields.hpp"
#include "net/http1/head_writer.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace gateway::console {
namespace {

using net::http1::method;

// Nothing in the page comes from elsewhere, and no text of an agent can become a script.
constexpr std::string_view security_fields =
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Cache-Control: no-cache\r\n"
    "Vary: Accept-Encoding\r\n";

std::string_view type_of(std::string_view name) noexcept
{
    constexpr std::array<std::pair<std::string_view, std::string_view>, 4> types{{
        {".html", "text/html; charset=utf-8"},
        {".css", "text/css; charset=utf-8"},
        {".js", "text/javascript; charset=utf-8"},
        {".svg", "image/svg+xml"},
    }};
    const auto* const found = std::ranges::find_if(types, [&](const auto& each) { return name.ends_with(each.first); });
    return found == types.end() ? "application/octet-stream" : found->second;
}

// RFC 1952. Empty: there is no memory for it.
std::string gzip(std::string_view bytes)
{
    constexpr int window_of_gzip = 15 + 16;
    constexpr int usual_memory = 8;
    z_stream stream{};
    if (::deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, window_of_gzip, usual_memory, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        return {};
    }
    std::string out(::deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
    // NOLINTNEXTLINE(*-const-cast,*-reinterpret-cast): zlib reads there
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());  // NOLINT(*-reinterpret-cast)
    stream.avail_out = static_cast<uInt>(out.size());
    const bool whole = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
    out.resize(whole ? stream.total_out : 0);
    ::deflateEnd(&stream);
    return out;
}

// The weight of a coding, such as ` gzip;q=0.5`, is not zero (RFC 9110 section 12.4.2).
bool has_weight(std::string_view coding)
{
    const auto at = coding.find(';');
    const auto weight = at == std::string_view::npos ? std::string_view{} : core::trim(coding.substr(at + 1));
    return weight.find_first_not_of("qQ=0. \t") != std::string_view::npos || weight.empty();
}

// RFC 9110 section 12.5.3.
bool takes_gzip(const net::http1::request_head& asked)
{
    std::optional<bool> named;
    bool any = false;
    for (const auto& field : asked.fields) {
        if (field.id != net::http1::field_name::accept_encoding) {
            continue;
        }
        for (auto rest = field.value; !rest.empty();) {
            const auto each = rest.substr(0, rest.find(','));
            rest.remove_prefix(std::min(each.size() + 1, rest.size()));
            const auto name = core::trim(each.substr(0, each.find(';')));
            if (core::equal_ignoring_case(name, "gzip") || core::equal_ignoring_case(name, "x-gzip")) {
                named = named.value_or(false) || has_weight(each);
            } else if (name == "*") {
                any = has_weight(each);
            }
        }
    }
    return named.value_or(any);
}

}  // namespace

bool is_page_path(std::string_view path) noexcept
{
    return path.starts_with(page_path) || path == page_path.substr(0, page_path.size() - 1);
}

bool wants_page(const net::http1::request_head& asked)
{
    return (asked.verb == method::get || asked.verb == method::head) &&
           std::ranges::any_of(asked.fields, [](const auto& each) {
               return core::equal_ignoring_case(each.name, "Accept") &&
                      core::find_ignoring_case(each.value, "text/html") != std::string_view::npos;
           });
}

responses::answer lead_to_page()
{
    responses::answer out;
    out.status = 303;
    out.content_type = "text/plain; charset=utf-8";
    out.fields = "Location: console/\r\nCache-Control: no-store\r\nVary: Accept\r\n";
    out.body = "The console is at /console/.\n";
    return out;
}

page::page(std::span<const embedded_file> files)
{
    for (const auto& each : files) {
        auto etag = model::body_with_strong_etag(std::string{each.bytes}).etag;
        files_.emplace(each.name, served_file{type_of(each.name), each.bytes, std::move(etag), {}});
    }
}

responses::answer page::answer(const net::http1::request_head& asked, std::string_view path)
{
    if (asked.verb != method::get && asked.verb != method::head) {
        return responses::method_not_allowed("GET, HEAD");
    }
    if (!path.starts_with(page_path)) {
        return lead_to_page();
    }
    path.remove_prefix(page_path.size());
    const auto found = files_.find(path.empty() ? "index.html" : path);
    if (found == files_.end()) {
        return responses::error_answer(core::errc::not_found, {});
    }
    auto& file = found->second;
    const bool small = takes_gzip(asked);
    if (small && file.compressed.empty()) {
        file.compressed = gzip(file.bytes);
    }
    const bool compressed = small && !file.compressed.empty();
    auto etag = file.etag;
    if (compressed) {
        etag.insert(etag.size() - 1, "-gzip");
    }
    responses::answer out;
    out.content_type = file.type;
    out.fields = security_fields;
    net::http1::head_writer fields{out.fields};
    fields.field("ETag", etag);
    const auto* const kept = net::http1::find(asked.fields, "If-None-Match");
    if (kept != nullptr && model::none_match_hits(*kept, etag)) {
        out.status = 304;
        return out;
    }
    if (compressed) {
        fields.field("Content-Encoding", "gzip");
    }
    out.rest = compressed ? std::string_view{file.compressed} : file.bytes;
    return out;
}

}  // namespace gateway::console
