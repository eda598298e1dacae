#include "net/client/curl_addresses.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

namespace net {
namespace {

// Without the zone of a link: libcurl reads none here.
std::string text_of(const boost::asio::ip::address& address)
{
    using boost::asio::ip::address_v6;
    return address.is_v4() ? address.to_string() : '[' + address_v6{address.to_v6().to_bytes()}.to_string() + ']';
}

std::string joined(const std::vector<std::string>& all)
{
    std::string out;
    for (const auto& each : all) {
        out.append(out.empty() ? "" : ",").append(each);
    }
    return out;
}

}  // namespace

// libcurl knows connections by the name that they go to: a name for each set of addresses keeps it from using one to an address that
// the host has no more. A name that ends so is nobody's (RFC 6761 section 6.4). `+`: libcurl forgets the addresses again.
CURLcode curl_addresses::name(CURL* easy, const std::string& port, const address_list& found)
{
    std::vector<std::string> all;
    std::ranges::transform(found, std::back_inserter(all), text_of);
    const auto in_order = joined(all);
    std::ranges::sort(all);
    stand_in_ = std::to_string(std::hash<std::string>{}(joined(all))) + ".invalid";
    addresses_.reset(curl_slist_append(nullptr, ('+' + stand_in_ + ':' + port + ':' + in_order).c_str()));
    return addresses_ == nullptr ? CURLE_OUT_OF_MEMORY : curl_easy_setopt(easy, CURLOPT_RESOLVE, addresses_.get());
}

CURLcode curl_addresses::give_to(CURL* easy, const std::string& port, const address_list& found)
{
    const auto code = name(easy, port, found);
    connect_to_.reset(curl_slist_append(nullptr, ("::" + stand_in_ + ':').c_str()));
    if (connect_to_ == nullptr) {
        return CURLE_OUT_OF_MEMORY;
    }
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_CONNECT_TO, connect_to_.get()) : code;
}

// CURLOPT_CONNECT_TO would name another host to the proxy.
CURLcode curl_addresses::give_proxy_to(CURL* easy, const std::string& port, const address_list& found)
{
    const auto code = name(easy, port, found);
    const auto proxy = "http://" + stand_in_ + ':' + port;
    return code == CURLE_OK ? curl_easy_setopt(easy, CURLOPT_PROXY, proxy.c_str()) : code;
}

std::string curl_addresses::with_name(std::string text, std::string_view host) const
{
    if (const auto at = stand_in_.empty() ? text.npos : text.find(stand_in_); at != text.npos) {
        text.replace(at, stand_in_.size(), host);
    }
    return text;
}

}  // namespace net
