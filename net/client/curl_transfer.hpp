// One transfer of libcurl's: the options that all of the gateway's own requests share, the head of the answer, and what
// libcurl's codes mean. Seen by fetch only.
#pragma once

#include "core/clock.hpp"
#include "core/error.hpp"
#include "core/ip.hpp"
#include "net/client/curl_addresses.hpp"
#include "net/loop/resolver.hpp"
#include "net/tls/tls_context.hpp"
#include "net/upstream/proxies.hpp"

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

// The part of a request that libcurl needs for every one.
struct curl_request {
    std::string url;
    field_lines headers;  // an empty `Via`: none is sent; else it names this gateway
    tls_client_files tls;
    core::duration connect_timeout{5'000};
    std::string query = {};                                    // a further parameter of the URL; empty: none
    std::shared_ptr<const core::address_rule> addresses = {};  // what may_connect() asks; null: any address
    core::duration timeout{0};                                 // of the whole exchange, the lookup included; 0: none
    core::secret proxy = {};                                   // as core::agent::proxy; empty: that of the process
};

struct curl_easy_deleter {
    void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
};
// Its address is given to libcurl.
class curl_transfer {
public:
    curl_transfer(curl_request request, const std::string& user_agent);
    virtual ~curl_transfer() = default;
    curl_transfer(const curl_transfer&) = delete;
    curl_transfer& operator=(const curl_transfer&) = delete;

    CURL* easy() const noexcept { return easy_.get(); }

    // The name whose addresses the request needs: the host's, or its proxy's. Empty: that is an address, or libcurl has to say what is wrong
    // with the URL.
    std::string host_name() const;

    // How long these may take to be found.
    core::duration patience() const noexcept;

    // After prepare(), before libcurl has it: connects to these, of which there is at least one, and looks nothing up. `waited`: how
    // long it took to find them. A kept connection is used again only by requests with the same addresses. False: out of memory.
    bool use(const resolver::name& found, core::steady_time now, core::duration waited);

    // There are none: over() follows.
    void not_found(const error_code& why);

    // libcurl has ended it. May call nobody who could start, end or destroy anything.
    virtual void over(CURLcode code) = 0;

protected:
    // Nothing, or why the request cannot be sent.
    std::optional<core::error> prepare();

    // The options of the kind of request, on top of what all have.
    virtual void set_options() = 0;

    // The final head is whole; false after refuse().
    virtual bool take_head() = 0;
    virtual bool take_body(std::string_view data) = 0;

    // Has libcurl give up, for this reason.
    bool refuse(core::errc code, const char* why);

    // On a connection of its own, which no other request has before or afterwards.
    bool is_alone() const noexcept;

    // Nothing: `code` and all that was checked say that it went well.
    std::optional<core::error> failure(CURLcode code);

    unsigned status() const noexcept;
    field_lines& fields() noexcept { return fields_; }

    // The length of a body that is neither decoded nor chunked.
    std::optional<std::uint64_t> length() const noexcept { return length_; }

    template <class Value>
    void set(CURLoption option, Value value)
    {
        const auto code = curl_easy_setopt(easy_.get(), option, value);
        failed_option_ = failed_option_ == CURLE_OK ? code : failed_option_;
    }

private:
    enum class expecting : std::uint8_t { status_line, fields, body };

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
    void set_common_options();
    void set_times(core::duration waited);
    void set_proxy();
    bool is_secure() const;
    std::optional<core::error> failure_of_proxy(CURLcode code);

    curl_request request_;
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
    std::optional<std::uint64_t> length_;
    std::optional<core::error> refused_;
    std::unique_ptr<CURL, curl_easy_deleter> easy_;  // last: libcurl knows the addresses of the others
};

}  // namespace net
