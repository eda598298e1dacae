#include "net/client/fetch_transfer.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>

namespace net {

void complete(fetch_completion waiting, fetch_result result)
{
    const auto executor = waiting.get_executor();
    boost::asio::post(executor, [waiting = std::move(waiting), result = std::move(result)]() mutable {
        std::move(waiting)(std::move(result));
    });
}

fetch_transfer::fetch_transfer(fetch_request request, const std::string& user_agent)
    : curl_transfer{{request.url, request.headers, request.tls, request.connect_timeout, request.query, request.addresses, request.timeout, request.proxy}, user_agent},
      request_{std::move(request)}
{
}

void fetch_transfer::set_options()
{
    set(CURLOPT_HTTPGET, 1L);
    if (request_.body) {
        set(CURLOPT_POST, 1L);
        set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body->size()));
        set(CURLOPT_POSTFIELDS, request_.body->data());
    }
    set(CURLOPT_ACCEPT_ENCODING, "gzip");
    set(CURLOPT_FORBID_REUSE, request_.last_on_connection || is_alone() ? 1L : 0L);
    set(CURLOPT_MAXLIFETIME_CONN, static_cast<long>(request_.reuse.count()));
}

bool fetch_transfer::take_head()
{
    has_head_ = true;
    if (length().value_or(0) > request_.max_size) {
        return refuse(core::errc::card_too_large, "fetch: Content-Length is over the limit");
    }
    return true;
}

bool fetch_transfer::take_body(std::string_view data)
{
    if (data.size() > request_.max_size - body_.size()) {
        return refuse(core::errc::card_too_large, "fetch: the body is over the limit");
    }
    if (request_.status_only) {
        request_.max_size -= data.size();
        return true;
    }
    body_.append(data);
    return true;
}

void fetch_transfer::over(CURLcode code)
{
    auto failed = failure(code);
    if (failed && !(request_.status_only && has_head_)) {
        end_with(std::move(*failed));
        return;
    }
    end_with(fetch_response{status(), std::move(fields()), std::move(body_)});
}

}  // namespace net
