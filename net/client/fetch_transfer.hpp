// One exchange of curl_fetcher. Seen by fetch.cpp only.
#pragma once

#include "net/client/curl_transfer.hpp"
#include "net/client/fetch.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace net {

using fetch_result = core::result<fetch_response>;
using fetch_token = boost::asio::use_awaitable_t<fetcher::executor_type>;
using fetch_completion = boost::asio::async_result<fetch_token, void(fetch_result)>::handler_type;

// Posts it, so that whoever waits may destroy the fetcher without libcurl being on the stack.
void complete(fetch_completion waiting, fetch_result result);

class fetch_transfer final : public curl_transfer {
public:
    fetch_transfer(fetch_request request, const std::string& user_agent);

    using curl_transfer::prepare;

    // Once: whoever waits goes on with it.
    void end_with(fetch_result result)
    {
        if (waiting) {
            complete(std::move(*waiting), std::move(result));
        }
    }

    void over(CURLcode code) override;

    std::optional<fetch_completion> waiting;

private:
    void set_options() override;
    bool take_head() override;
    bool take_body(std::string_view data) override;

    fetch_request request_;
    std::string body_;
    bool has_head_ = false;  // all of the final answer's
};

}  // namespace net
