// Requests that a page of another site has made an operator's browser send (Fetch Metadata; RFC 6454). Pure.
#pragma once

#include "net/http1/head.hpp"

#include <string_view>

namespace gateway::admin {

// Whether the request is one that pages of other sites may not make: any that acts, and GET of /events, which stays open. It is theirs if
// Origin is not the Host that was asked, with either scheme, since a proxy may have taken TLS off, or if Sec-Fetch-Site is neither
// `same-origin` nor `none`. What has neither field is no page's.
bool is_cross_site(const net::http1::request_head& asked, std::string_view path);

}  // namespace gateway::admin
