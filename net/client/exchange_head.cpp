#include "net/client/exchange_head.hpp"

#include "core/ascii.hpp"
#include "net/http1/head_writer.hpp"
#include "net/upstream/via.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace net {
namespace {

using http1::method;

std::optional<method> method_of(std::string_view name) noexcept
{
    constexpr std::array
        all{method::get, method::head, method::post, method::put, method::patch, method::delete_, method::options};
    const auto found = std::ranges::find(all, name, [](method each) { return http1::name(each); });
    return found == all.end() ? std::nullopt : std::optional{*found};
}

// Visible characters, spaces and tabs (RFC 9110 section 5.5).
bool is_field_value(std::string_view text) noexcept
{
    return std::ranges::none_of(text, [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
}

bool has_field(const exchange_request& request, std::string_view name)
{
    return std::ranges::any_of(request.headers, [&](const auto& each) {
        return core::equal_ignoring_case(each.first, name);
    });
}

}  // namespace

std::optional<exchange_text>
write_exchange_head(const exchange_request& request, const upstream_target& to, std::string_view user_agent)
{
    const auto verb = method_of(request.method);
    if (!verb) {
        return std::nullopt;
    }
    exchange_text made{*verb, {}};
    http1::head_writer out{made.text};
    out.request_line(*verb, to.path);
    if (!has_field(request, "host")) {
        out.field("Host", to.authority);
    }
    if (!has_field(request, "user-agent")) {
        out.field("User-Agent", user_agent);
    }
    if (!has_field(request, "accept")) {
        out.field("Accept", "*/*");
    }
    for (const auto& [name, value] : request.headers) {
        if (!core::is_token(name) || !is_field_value(value)) {
            return std::nullopt;
        }
        out.field(name, core::trim(value));
    }
    out.field(
        "Via",
        "1.1 " + std::string{own_pseudonym()}
    );  // so that a request of ours that comes back to us is known
    if (request.body != nullptr) {
        out.field("Content-Length", std::uint64_t{request.body->size()});
    }
    out.end();
    return made;
}

}  // namespace net
