#include "config/url.hpp"

#include "core/secret.hpp"

#include <boost/url/host_type.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <charconv>

namespace config {
namespace {

core::error invalid(std::string_view detail)
{
    return core::gateway_error(core::errc::config_invalid, std::string{detail});
}

char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
}

bool valid_port(std::string_view digits)
{
    unsigned value = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    return failed == std::errc{} && end == digits.data() + digits.size() && value >= 1 && value <= 65535;
}

// RFC 3986 lets a host be nearly anything; what DNS and sockets take is less.
bool valid_host(const boost::urls::url_view& url)
{
    const std::string_view host{url.encoded_host().data(), url.encoded_host().size()};
    switch (url.host_type()) {
        case boost::urls::host_type::ipv4:
        case boost::urls::host_type::ipv6:
            return true;
        case boost::urls::host_type::name: {
            const auto in_name = [](char c) {
                const char l = lower(c);
                return (l >= 'a' && l <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
            };
            const bool numeric =
                std::none_of(host.begin(), host.end(), [](char c) { return lower(c) >= 'a' && lower(c) <= 'z'; });
            return !numeric && host.size() <= 253 && std::all_of(host.begin(), host.end(), in_name);
        }
        case boost::urls::host_type::none:
        case boost::urls::host_type::ipvfuture:
            return false;
    }
    return false;
}

}  // namespace

core::result<std::string> parse_http_url(std::string_view text, query allowed)
{
    constexpr std::size_t longest = 8 * 1024;
    if (text.empty()) {
        return invalid("is empty");
    }
    if (text.size() > longest) {
        return invalid("is longer than 8192 bytes");
    }
    const auto parsed = boost::urls::parse_uri(boost::core::string_view{text.data(), text.size()});
    if (!parsed) {
        return invalid("is not a URL");
    }
    const auto& url = *parsed;
    // Boost.URL 1.81 takes `http://[::1]x/` and makes a path of the x (RFC 3986 section 3.3: it starts with a slash).
    if (url.has_authority() && !url.encoded_path().empty() && !url.encoded_path().starts_with('/')) {
        return invalid("is not a URL");
    }
    if (url.scheme_id() != boost::urls::scheme::http && url.scheme_id() != boost::urls::scheme::https) {
        return invalid("is not an http or https URL");
    }
    if (!url.has_authority() || url.encoded_host().empty()) {
        return invalid("has no host");
    }
    if (url.has_userinfo()) {
        return invalid("has a user name or password in it");
    }
    if (!valid_host(url)) {
        return invalid("has no valid host");
    }
    if (url.has_port() && !valid_port({url.port().data(), url.port().size()})) {
        return invalid("has no valid port (1 to 65535)");
    }
    if (url.has_fragment()) {
        return invalid("has a fragment (#)");
    }
    if (allowed == query::refused && url.has_query()) {
        return invalid("has a query (?)");
    }
    std::string normal{text};
    const auto authority_end = normal.find_first_of("/?", normal.find("//") + 2);
    std::transform(
        normal.begin(),
        authority_end == std::string::npos ? normal.end() : normal.begin() + static_cast<std::ptrdiff_t>(authority_end),
        normal.begin(),
        lower
    );
    return normal;
}

core::result<std::string> parse_base_url(std::string_view text)
{
    auto url = parse_http_url(text);
    if (url) {
        while (url->ends_with('/')) {
            url->pop_back();
        }
    }
    return url;
}

std::string shown_url(std::string_view url)
{
    const auto query = url.find('?');
    return query == std::string_view::npos ? std::string{url} : std::string{url.substr(0, query + 1)} + core::masked;
}

}  // namespace config
