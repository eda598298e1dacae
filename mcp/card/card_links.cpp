#include "mcp/card/card_links.hpp"

#include "core/ascii.hpp"
#include "core/json/jsonrpc_scan.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace mcp {
namespace {

constexpr std::size_t longest_url = 8 * 1024;
constexpr std::size_t most_icons = 64;  // of one item

bool is_url(std::string_view address, bool plain_too)
{
    if (address.size() > longest_url) {
        return false;
    }
    const auto read = boost::urls::parse_uri(boost::core::string_view{address.data(), address.size()});
    if (!read || !read->has_authority() || read->encoded_host().empty() || read->has_userinfo()) {
        return false;
    }
    const auto scheme = read->scheme_id();
    return scheme == boost::urls::scheme::https || (plain_too && scheme == boost::urls::scheme::http);
}

std::string safe_icons(std::string_view raw)
{
    std::string out{"["};
    const auto elements = core::scan_elements(raw, most_icons);
    if (elements) {
        for (const auto each : elements->raw) {
            if (const auto icon = raw_object::read(each); icon && is_icon(icon->text("src"))) {
                out.append(each).append(",");
            }
        }
    }
    close(out, ']');
    return out;
}

// What the member becomes; nothing: it is left out.
std::optional<std::string> safe_value(const raw_member& member)
{
    if (core::equal_ignoring_case(member.name, "icons")) {
        return safe_icons(member.value);
    }
    if (core::equal_ignoring_case(member.name, "websiteurl") &&
        !is_page(text_of(member.value).value_or(std::string{}))) {
        return std::nullopt;
    }
    return std::string{member.value};
}

}  // namespace

bool is_page(std::string_view address)
{
    return is_url(address, true);
}

bool is_icon(std::string_view address)
{
    return address.starts_with("data:image/") || is_url(address, false);
}

bool holds_links(std::string_view member)
{
    return core::equal_ignoring_case(member, "icons") || core::equal_ignoring_case(member, "websiteurl");
}

std::string with_safe_links(std::string_view raw)
{
    const auto read = raw_object::read(raw);
    if (!read || std::ranges::none_of(read->members(), holds_links, &raw_member::name)) {
        return std::string{raw};
    }
    std::string out{"{"};
    for (const auto& member : read->members()) {
        if (const auto value = safe_value(member)) {
            append_member(out, member.name, *value);
        }
    }
    close(out, '}');
    return out;
}

}  // namespace mcp
