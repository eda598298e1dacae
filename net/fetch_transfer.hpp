// One exchange of curl_fetcher: the options, what libcurl's callbacks collect, and what its codes mean. Seen by
// fetch.cpp only.
#pragma once

#include "net/fetch.hpp"

#include <boost/asio/async_result.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <curl/curl.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace net {

using fetch_result = core::result<fetch_response>;
using fetch_token = boost::asio::use_awaitable_t<fetcher::executor_type>;
using fetch_completion = boost::asio::async_result<fetch_token, void(fetch_result)>::handler_type;

struct curl_easy_deleter {
    void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
struct curl_list_deleter {
    void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};

// One exchange: what libcurl's callbacks write into. Its address is given to libcurl.
class fetch_transfer {
public:
    fetch_transfer(fetch_request request, const std::string& user_agent);

    // Nothing, or why the request cannot be sent.
    std::optional<core::error> prepare();
    CURL* easy() const noexcept { return easy_.get(); }
    fetch_result result(CURLcode code);

    std::optional<fetch_completion> waiting;

private:
    enum class expecting : std::uint8_t { status_line, fields, body };

    static CURLcode on_tls(CURL*, void* context, void* self) noexcept;
    static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) noexcept;
    static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) noexcept;
    // False: libcurl is to give up; refused_ says why.
    bool take_head_line(std::string_view line);
    bool take_field(std::string_view line);
    bool end_of_head();
    bool take_body(std::string_view data);
    bool refuse(core::errc code, const char* why);
    bool add_headers();
    void set_options();
    template <class Value>
    void set(CURLoption option, Value value)
    {
        const auto code = curl_easy_setopt(easy_.get(), option, value);
        failed_option_ = failed_option_ == CURLE_OK ? code : failed_option_;
    }

    fetch_request request_;
    const std::string& user_agent_;
    std::unique_ptr<curl_slist, curl_list_deleter> headers_;
    CURLcode failed_option_ = CURLE_OK;
    std::array<char, CURL_ERROR_SIZE> why_{};
    std::shared_ptr<long> verdict_ = std::make_shared<long>(0);  // on the agent's certificate; 0: nothing is wrong
    std::size_t head_size_ = 0;
    expecting expecting_ = expecting::status_line;
    bool bodiless_ = false;  // 304: its Content-Length is that of what it does not send
    bool interim_ = false;   // 1xx: another head follows (RFC 9110 section 15.2)
    std::optional<core::error> refused_;
    fetch_response response_;
    std::unique_ptr<CURL, curl_easy_deleter> easy_;  // last: libcurl knows the addresses of the others
};

}  // namespace net
