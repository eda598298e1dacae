#include "config/url.hpp"

#include "config/problem.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"
#include "core/url.hpp"

#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>

#include <algorithm>

namespace config {
namespace {

bool valid_port(std::string_view digits)
{
    const auto number = parse_count(digits);
    return number && *number >= 1 && *number <= 65535;
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
    if (!parse_host({url.encoded_host().data(), url.encoded_host().size()})) {
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
    const auto path = path_begin(text);
    return core::in_lower_case(text.substr(0, path)).append(text.substr(path));
}

core::result<std::string> parse_grpc_url(std::string_view text)
{
    if (!core::is_grpc_url(text)) {
        return invalid(text.empty() ? "is empty" : "is not a grpc or grpcs URL");
    }
    const auto url = parse_http_url(core::http_form(std::string{text}));
    if (!url) {
        return url;
    }
    if (path_begin(*url) < url->size()) {
        return invalid("has a path, which gRPC does not have");
    }
    if (url->find(':', url->find("//")) == std::string::npos || url->ends_with(']')) {
        return invalid("has no port");
    }
    return core::in_lower_case(text);
}

core::result<std::string> parse_agent_url(std::string_view text, query allowed)
{
    return core::is_grpc_url(text) ? parse_grpc_url(text) : parse_http_url(text, allowed);
}

std::size_t path_begin(std::string_view url) noexcept
{
    return std::min(url.find_first_of("/?", url.find("//") + 2), url.size());
}

core::result<std::string> parse_base_url(std::string_view text)
{
    auto url = parse_http_url(text);
    if (url) {
        url->erase(url->find_last_not_of('/') + 1);
    }
    return url;
}

std::optional<std::string> parse_page_origin(const std::string& text)
{
    constexpr std::string_view any_port = ":*";
    std::string_view origin = text;
    const auto scheme = origin.find("://");
    if (scheme == std::string_view::npos || scheme == 0 ||
        !std::ranges::all_of(origin, [](char c) { return c > ' ' && c < '\x7F'; })) {
        return std::nullopt;
    }
    const auto host = origin.substr(scheme + 3);
    if (host.empty() || host.find_first_of("/?#@\\\"") != std::string_view::npos) {
        return std::nullopt;
    }
    const auto name = origin.substr(0, scheme);
    if (name != "http" && name != "https") {  // such as extensions of browsers
        return text.find('*') == std::string::npos ? std::optional{text} : std::nullopt;
    }
    origin.remove_suffix(origin.ends_with(any_port) ? any_port.size() : 0);
    return origin.find('*') == std::string_view::npos && !core::origin_of(origin).empty() ? std::optional{text}
                                                                                          : std::nullopt;
}

std::string shown_url(std::string_view url)
{
    const auto query = url.find('?');
    return query == std::string_view::npos ? std::string{url} : std::string{url.substr(0, query + 1)} + core::masked;
}

core::secret take_query(std::string& url)
{
    const auto mark = url.find('?');
    if (mark == std::string::npos) {
        return {};
    }
    core::secret query{url.substr(mark + 1)};
    url.resize(mark);
    return query;
}

}  // namespace config
