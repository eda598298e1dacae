#include "core/url.hpp"

#include "core/ascii.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

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

template <class Act>
void each_parameter(std::string_view query, const Act& act)
{
    while (!query.empty()) {
        const auto end = std::min(query.find('&'), query.size());
        act(query.substr(0, end));
        query.remove_prefix(std::min(end + 1, query.size()));
    }
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

bool is_grpc_url(std::string_view text) noexcept
{
    const auto scheme = text.substr(0, std::min(text.find("://"), text.size()));
    return scheme.size() < text.size() && (equal_ignoring_case(scheme, "grpc") || equal_ignoring_case(scheme, "grpcs"));
}

std::string http_form(std::string url)
{
    constexpr std::string_view grpc = "grpc";
    if (is_grpc_url(url)) {
        url.replace(0, grpc.size(), "http");
    }
    return url;
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

std::string without_parameters(std::string target, std::string_view parameters)
{
    const auto begin = target.find('?');
    if (parameters.empty() || begin == std::string::npos) {
        return target;
    }
    std::vector<std::string> names;
    each_parameter(parameters, [&](std::string_view pair) { names.push_back(decoded(name_of(pair))); });
    std::string out{target.substr(0, begin)};
    char before = '?';
    each_parameter(std::string_view{target}.substr(begin + 1), [&](std::string_view pair) {
        if (std::ranges::find(names, decoded(name_of(pair))) == names.end()) {
            (out += std::exchange(before, '&')) += pair;
        }
    });
    return out;
}

std::string with_parameters(std::string target, std::string_view parameters)
{
    if (parameters.empty()) {
        return target;
    }
    auto out = without_parameters(std::move(target), parameters);
    out += out.find('?') == std::string::npos ? '?' : '&';
    return out += parameters;
}

}  // namespace core
