#include "core/url.hpp"

#include "core/ascii.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>

namespace core {
namespace {

std::string_view default_port(bool secure) noexcept
{
    return secure ? "443" : "80";
}

std::string_view name_of(std::string_view parameter) noexcept
{
    return parameter.substr(0, parameter.find('='));
}

}  // namespace

std::optional<http_url> http_url::parse(std::string_view text)
{
    const auto parsed = boost::urls::parse_uri(text);
    if (!parsed || parsed->encoded_host().empty()) {
        return std::nullopt;
    }
    http_url url;
    url.secure = parsed->scheme_id() == boost::urls::scheme::https;
    if (!url.secure && parsed->scheme_id() != boost::urls::scheme::http) {
        return std::nullopt;
    }
    // Boost.URL 1.81 reads `10.0.0.1.example.com` as the host 10.0.0.1 and the path `.example.com`, which RFC 3986 section 3.2
    // does not have: refused, so that nobody takes the name for the address.
    if (!parsed->encoded_path().empty() && !parsed->encoded_path().starts_with('/')) {
        return std::nullopt;
    }
    url.encoded_host = std::string{parsed->encoded_host()};
    url.host = parsed->host();
    if (url.host.starts_with('[') && url.host.ends_with(']')) {
        url.host = url.host.substr(1, url.host.size() - 2);
    }
    url.port = parsed->port().empty() ? std::string{default_port(url.secure)} : std::string{parsed->port()};
    url.path = parsed->encoded_path().empty() ? "/" : std::string{parsed->encoded_path()};
    if (parsed->has_query()) {
        url.path += "?" + std::string{parsed->encoded_query()};
    }
    return url;
}

std::string http_url::authority() const
{
    return port == default_port(secure) ? encoded_host : encoded_host + ":" + port;
}

std::string http_url::origin() const
{
    return (secure ? "https://" : "http://") + in_lower_case(encoded_host) + ":" + port;
}

std::string origin_of(std::string_view url)
{
    const auto parsed = http_url::parse(url);
    return parsed ? parsed->origin() : std::string{};
}

std::string resolved(std::string_view base, std::string_view reference)
{
    const auto from = boost::urls::parse_uri(base);
    const auto to = boost::urls::parse_uri_reference(reference);
    if (!from || !to) {
        return {};
    }
    boost::urls::url out{*from};
    if (!out.resolve(*to)) {
        return {};
    }
    out.remove_fragment();
    return std::string{out.buffer()};
}

std::string decoded(std::string_view component)
{
    std::string out;
    for (std::size_t i = 0; i < component.size(); ++i) {
        const bool escape = component[i] == '%' && i + 2 < component.size();
        const int high = escape ? hex_value(component[i + 1]) : -1;
        const int low = escape ? hex_value(component[i + 2]) : -1;
        if (high >= 0 && low >= 0) {
            out += static_cast<char>(high * 16 + low);
            i += 2;
        } else {
            out += component[i];
        }
    }
    return out;
}

std::string without_parameter(std::string_view target, std::string_view name)
{
    const auto begin = std::min(target.find('?'), target.size());
    std::string out{target.substr(0, begin)};
    char before = '?';
    auto rest = target.substr(std::min(begin + 1, target.size()));
    while (!rest.empty()) {
        const auto end = std::min(rest.find('&'), rest.size());
        if (const auto pair = rest.substr(0, end); decoded(name_of(pair)) != name) {
            (out += std::exchange(before, '&')) += pair;
        }
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return out;
}

std::string with_parameter(std::string target, std::string_view parameter)
{
    if (parameter.empty()) {
        return target;
    }
    auto out = without_parameter(target, decoded(name_of(parameter)));
    out += out.find('?') == std::string::npos ? '?' : '&';
    return out += parameter;
}

}  // namespace core
