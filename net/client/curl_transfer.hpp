// One transfer of libcurl: the options of a fetch, the head and the body of its answer, and the meaning of libcurl's codes. Only fetch.cpp
// and curl_driver include this header.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "net/client/curl_addresses.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/resolver.hpp"
#include "net/upstream/proxies.hpp"

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
#include <utility>
#include <vector>

namespace net {

using field_lines = std::vector<std::pair<std::string, std::string>>;
using fetch_result = core::result<fetch_response>;
using fetch_token = boost::asio::use_awaitable_t<fetcher::executor_type>;
using fetch_completion = boost::asio::async_result<fetch_token, void(fetch_result)>::handler_type;

// Posts the result, so that the waiting coroutine may destroy the fetcher without libcurl being on the stack.
void complete(fetch_completion waiting, fetch_result result);

struct curl_easy_deleter {
    void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};

// libcurl keeps its address.
class curl_transfer {
public:
    curl_transfer(fetch_request request, const std::string& user_agent);
    curl_transfer(const curl_transfer&) = delete;
    curl_transfer& operator=(const curl_transfer&) = delete;

    CURL* easy() const noexcept { return easy_.get(); }

    // The name whose addresses the request needs: the host's, or its proxy's. Empty: it is an address, or libcurl reports what is wrong with
    // the URL.
    std::string host_name() const;

    // How long these may take to be found.
    core::duration patience() const noexcept;

    // After prepare(), before libcurl has it: connects to these, of which there is at least one, and looks nothing up. `waited`: how
    // long it took to find them. A kept connection is used again only by requests with the same addresses. False: out of memory.
    bool use(const resolver::name& found, core::steady_time now, core::duration waited);

    // There are none: over() follows.
    void not_found(const error_code& why);

    // libcurl has ended it: the waiting coroutine gets the outcome.
    void over(CURLcode code);

    // Nothing, or why the request cannot be sent.
    std::optional<core::error> prepare();

    // Resumes the waiting coroutine; later calls do nothing.
    void end_with(fetch_result result);

    std::optional<fetch_completion> waiting;

private:
    enum class expecting : std::uint8_t { status_line, fields, body };

    // The final head is whole. False: the transfer was refused.
    bool take_head();
    bool take_body(std::string_view data);

    // Has libcurl give up, for this reason.
    bool refuse(core::errc code, const char* why);

    // On a connection of its own, which no other request has before or afterwards.
    bool is_alone() const noexcept;

    // Nothing: `code` and all that was checked say that it went well.
    std::optional<core::error> failure(CURLcode code);

    unsigned status() const noexcept;

    template <class Value>
    void set(CURLoption option, Value value)
    {
        const auto code = curl_easy_setopt(easy_.get(), option, value);
        failed_option_ = failed_option_ == CURLE_OK ? code : failed_option_;
    }

    static curl_socket_t on_open(void* self, curlsocktype kind, curl_sockaddr* to) noexcept;
    static CURLcode on_tls(CURL*, void* context, void* self) noexcept;
    static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) noexcept;
    static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) noexcept;

    CURLcode prepare_tls(SSL_CTX& tls);
    bool take_head_line(std::string_view line);
    bool take_field(std::string_view line);
    bool end_of_head();
    bool judge_codings();
    bool add_headers();
    bool add_header_line(const std::string& line);
    void set_options();
    void set_times(core::duration waited);
    void set_proxy();
    bool is_secure() const;
    std::optional<core::error> failure_of_proxy(CURLcode code);

    fetch_request request_;
    std::shared_ptr<const proxy> through_;  // null: none
    const std::string& user_agent_;
    curl_list headers_;
    curl_addresses addresses_;
    CURLcode failed_option_ = CURLE_OK;
    std::array<char, CURL_ERROR_SIZE> why_{};
    std::shared_ptr<long> verdict_ = std::make_shared<long>(0);  // on the agent's certificate; 0: nothing is wrong
    std::size_t head_size_ = 0;
    expecting expecting_ = expecting::status_line;
    bool interim_ = false;   // 1xx: another head follows (RFC 9110 section 15.2)
    bool bodiless_ = false;  // 304: its Content-Length is that of what it does not send
    bool encoded_ = false;
    bool forbidden_ = false;  // one of the addresses is not allowed
    bool opened_ = false;     // another one is
    field_lines fields_;
    std::optional<std::uint64_t> length_;  // of a body that is neither decoded nor chunked
    std::string body_;
    bool has_head_ = false;  // all of the final answer's
    std::optional<core::error> refused_;
    std::unique_ptr<CURL, curl_easy_deleter> easy_;  // last: libcurl knows the addresses of the others
};

}  // namespace net
