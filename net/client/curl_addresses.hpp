// Addresses that libcurl connects to instead of looking its host up. Seen by curl_transfer only.
#pragma once

#include "net/loop/dns_entry.hpp"

#include <curl/curl.h>

#include <memory>
#include <string>
#include <string_view>

namespace net {

struct curl_list_deleter {
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
using curl_list = std::unique_ptr<curl_slist, curl_list_deleter>;

class curl_addresses {
public:
    // At least one address, in the order in which they are tried. Lives as long as the handle has these options. A kept connection is
    // used again only for the same addresses in any order.
    CURLcode give_to(CURL* easy, const std::string& port, const address_list& found);

    // Gives the handle the addresses of its proxy, which was set by its name.
    CURLcode give_proxy_to(CURL* easy, const std::string& port, const address_list& found);

    // Puts the host that was asked for into a message of libcurl about the connection.
    std::string with_name(std::string text, std::string_view host) const;

private:
    CURLcode name(CURL* easy, const std::string& port, const address_list& found);

    std::string stand_in_;  // for the host; empty: none
    curl_list addresses_;   // of the stand-in
    curl_list connect_to_;  // the stand-in
};

}  // namespace net
