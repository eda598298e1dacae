// What libcurl's codes of transfers that failed mean. Seen by curl_transfer only.
#pragma once

#include "core/error.hpp"

#include <curl/curl.h>

namespace net {

core::errc errc_of(CURLcode code) noexcept;

}  // namespace net
