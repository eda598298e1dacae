#include "net/client/curl_transfer.hpp"

#include "core/ascii.hpp"
#include "core/url.hpp"
#include "net/tls/tls_files.hpp"
#include "net/upstream/connect_race.hpp"
#include "net/upstream/own_listeners.hpp"
#include "net/upstream/via.hpp"

#include <boost/asio/post.hpp>

#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace net {
namespace {

constexpr std::size_t max_head = 64 * 1024;  // all heads of one exchange, interim ones and trailers included
constexpr long max_ca_age_seconds = 300;     // how long a changed trust store may go unnoticed

constexpr unsigned proxy_authentication_required = 407;
constexpr std::string_view forbidden =
    "fetch: the address is not public, and no operator has named it, or it is this gateway's own";

constexpr std::string_view line_ends = " \t\r\n";

// Visible characters, spaces and tabs (RFC 9110 section 5.5): what may be sent back, an ETag say, as it is.
bool is_field_value(std::string_view text) noexcept
{
    return std::ranges::none_of(text, [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
}

std::string_view status_of(std::string_view status_line) noexcept
{
    return status_line.substr(std::min(status_line.find(' '), status_line.size() - 1) + 1).substr(0, 3);
}

core::errc errc_of(CURLcode code) noexcept
{
    switch (code) {
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_URL_MALFORMAT:
            return core::errc::upstream_unresolved;
        case CURLE_COULDNT_CONNECT:
            return core::errc::upstream_refused;
        case CURLE_OPERATION_TIMEDOUT:
            return core::errc::upstream_timeout;
        case CURLE_SSL_CONNECT_ERROR:
        case CURLE_SSL_ENGINE_NOTFOUND:
        case CURLE_SSL_ENGINE_SETFAILED:
        case CURLE_SSL_ENGINE_INITFAILED:
        case CURLE_SSL_CERTPROBLEM:
        case CURLE_SSL_CIPHER:
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_USE_SSL_FAILED:
        case CURLE_SSL_CACERT_BADFILE:
        case CURLE_SSL_SHUTDOWN_FAILED:
        case CURLE_SSL_CRL_BADFILE:
        case CURLE_SSL_ISSUER_ERROR:
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
        case CURLE_SSL_INVALIDCERTSTATUS:
        case CURLE_SSL_CLIENTCERT:
            return core::errc::upstream_tls;
        case CURLE_GOT_NOTHING:
        case CURLE_SEND_ERROR:
        case CURLE_RECV_ERROR:
        case CURLE_PARTIAL_FILE:
        case CURLE_SEND_FAIL_REWIND:
        case CURLE_HTTP2_STREAM:
            return core::errc::upstream_reset;
        case CURLE_WEIRD_SERVER_REPLY:
        case CURLE_UNSUPPORTED_PROTOCOL:
        case CURLE_BAD_CONTENT_ENCODING:
        case CURLE_HTTP2:
        case CURLE_OUT_OF_MEMORY:  // what libcurl calls a header line that is longer than it wants to hold
            return core::errc::upstream_protocol;
        default:
            return core::errc::internal;
    }
}

}  // namespace

void complete(fetch_completion waiting, fetch_result result)
{
    const auto executor = waiting.get_executor();
    asio::post(executor, [waiting = std::move(waiting), result = std::move(result)]() mutable {
        std::move(waiting)(std::move(result));
    });
}

curl_transfer::curl_transfer(fetch_request request, const std::string& user_agent)
    : request_{std::move(request)},
      user_agent_{user_agent},
      easy_{curl_easy_init()}
{
}

std::optional<core::error> curl_transfer::prepare()
{
    if (easy_ == nullptr || request_.url.find('\0') != std::string::npos) {
        return core::gateway_error(core::errc::internal, "fetch: not a URL, or out of memory");
    }
    const auto url = core::http_url::parse(request_.url);
    if (!url) {
        const auto scheme = core::in_lower_case(request_.url.substr(0, request_.url.find(':')));
        const bool http = scheme == "http" || scheme == "https";
        return core::upstream_error(
            http ? core::errc::upstream_unresolved : core::errc::upstream_protocol,
            "fetch: not an http or https URL with a host"
        );
    }
    auto through = proxy_to(*url, request_.proxy);
    if (!through) {
        return std::move(through).error();
    }
    through_ = std::move(*through);
    if (through_ != nullptr && !may_ask_for(request_.addresses.get(), url->host, url->port)) {
        return core::upstream_error(core::errc::upstream_forbidden, std::string{forbidden});
    }
    if (!add_headers()) {
        return core::gateway_error(core::errc::internal, "fetch: a header field cannot be sent");
    }
    set_options();
    if (failed_option_ != CURLE_OK) {
        return core::gateway_error(
            core::errc::internal,
            std::string{"fetch: options: "} + curl_easy_strerror(failed_option_)
        );
    }
    return std::nullopt;
}

// "Name:" would remove the field, "Name;" sends it empty (CURLOPT_HTTPHEADER).
bool curl_transfer::add_headers()
{
    bool is_gateway = true;
    for (const auto& [name, value] : request_.headers) {
        if (value.empty() && core::equal_ignoring_case(name, "Via")) {
            is_gateway = false;  // a command asks, which passes nothing on
            continue;
        }
        auto line = name;
        line += core::trim(value).empty() ? ";" : ": ";
        line += core::trim(value).empty() ? "" : value;
        if (!core::is_token(name) || !is_field_value(value) || !add_header_line(line)) {
            return false;
        }
    }
    // So that a request of ours that comes back to us is known.
    return !is_gateway || add_header_line("Via: 1.1 " + std::string{own_pseudonym()});
}

bool curl_transfer::add_header_line(const std::string& line)
{
    auto* const longer = curl_slist_append(headers_.get(), line.c_str());
    if (longer == nullptr) {
        return false;
    }
    auto* const shorter = headers_.release();  // its elements are part of the longer one
    static_cast<void>(shorter);
    headers_.reset(longer);
    return true;
}

void curl_transfer::set_times(core::duration waited)
{
    const auto left = [waited](core::duration of) {
        return static_cast<long>(
            std::clamp<core::duration::rep>((of - waited).count(), 1, std::numeric_limits<int>::max())
        );
    };
    set(CURLOPT_CONNECTTIMEOUT_MS, left(request_.connect_timeout));
    if (request_.timeout > core::duration::zero()) {
        set(CURLOPT_TIMEOUT_MS, left(request_.timeout));
    }
}

void curl_transfer::set_options()
{
    const auto url = core::with_parameters(request_.url, request_.query);
    set(CURLOPT_URL, url.c_str());  // libcurl copies it
    set(CURLOPT_PROTOCOLS_STR, "http,https");
    const bool secure = core::in_lower_case(request_.url.substr(0, request_.url.find(':'))) == "https";
    const auto version2 = secure ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE;
    set(CURLOPT_HTTP_VERSION, static_cast<long>(request_.http2 ? version2 : CURL_HTTP_VERSION_1_1));
    set(CURLOPT_FOLLOWLOCATION, 0L);
    set(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    set(CURLOPT_HTTPHEADER, headers_.get());
    set(CURLOPT_USERAGENT, user_agent_.c_str());
    set_proxy();
    set(CURLOPT_NOSIGNAL, 1L);
    set_times(core::duration::zero());
    // An abandoned name lookup goes on in its thread; without this its end would be waited for, here, on the loop.
    set(CURLOPT_QUICK_EXIT, 1L);
    set(CURLOPT_SSL_VERIFYPEER, 1L);
    set(CURLOPT_SSL_VERIFYHOST, 2L);
    set(CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
    set(CURLOPT_CA_CACHE_TIMEOUT, max_ca_age_seconds);
    if (!request_.tls.ca_file.empty()) {
        set(CURLOPT_CAINFO, request_.tls.ca_file.c_str());
        set(CURLOPT_CAPATH, static_cast<const char*>(nullptr));  // else the system's trust would count as well
    }
    if (!request_.tls.cert_file.empty()) {
        set(CURLOPT_SSLCERT, request_.tls.cert_file.c_str());
        set(CURLOPT_SSLKEY, request_.tls.key_file.c_str());
    }
    set(CURLOPT_OPENSOCKETFUNCTION, &curl_transfer::on_open);
    set(CURLOPT_OPENSOCKETDATA, static_cast<void*>(this));
    if (is_alone()) {
        set(CURLOPT_FRESH_CONNECT, 1L);
    }
    set(CURLOPT_SSL_CTX_FUNCTION, &curl_transfer::on_tls);
    set(CURLOPT_SSL_CTX_DATA, static_cast<void*>(this));
    set(CURLOPT_ERRORBUFFER, why_.data());
    set(CURLOPT_HEADERFUNCTION, &curl_transfer::on_header);
    set(CURLOPT_HEADERDATA, static_cast<void*>(this));
    set(CURLOPT_WRITEFUNCTION, &curl_transfer::on_body);
    set(CURLOPT_WRITEDATA, static_cast<void*>(this));
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

// libcurl looks at the environment unless it is told.
void curl_transfer::set_proxy()
{
    set(CURLOPT_NOPROXY, "");
    if (through_ == nullptr) {
        set(CURLOPT_PROXY, "");
        return;
    }
    const auto& at = through_->at;
    const bool v6 = at.host.find(':') != std::string::npos;
    set(CURLOPT_PROXY, ("http://" + (v6 ? '[' + at.host + ']' : at.host) + ':' + at.port).c_str());
    set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    if (const auto& user = at.user.reveal(); !user.empty()) {
        const auto colon = user.find(':');
        set(CURLOPT_PROXYAUTH, static_cast<long>(CURLAUTH_BASIC));
        set(CURLOPT_PROXYUSERNAME, user.substr(0, colon).c_str());
        set(CURLOPT_PROXYPASSWORD, user.substr(colon + 1).c_str());
    }
}

std::string curl_transfer::host_name() const
{
    const auto url = core::http_url::parse(request_.url);
    if (!url) {
        return {};
    }
    const auto& host = through_ != nullptr ? through_->at.host : url->host;
    error_code no_address;
    asio::ip::make_address(host, no_address);
    return no_address ? core::in_lower_case(host) : std::string{};
}

core::duration curl_transfer::patience() const noexcept
{
    const bool bounded = request_.timeout > core::duration::zero();
    return bounded ? std::min(request_.timeout, request_.connect_timeout) : request_.connect_timeout;
}

bool curl_transfer::use(const resolver::name& found, core::steady_time now, core::duration waited)
{
    const auto url = core::http_url::parse(request_.url);
    const auto in_order = in_turns(*found.addresses, found.families.get(), now);
    const auto used = through_ != nullptr ? addresses_.give_proxy_to(easy(), through_->at.port, in_order)
                                          : addresses_.give_to(easy(), url->port, in_order);
    failed_option_ = failed_option_ == CURLE_OK ? used : failed_option_;
    set_times(waited);
    return failed_option_ == CURLE_OK;
}

void curl_transfer::not_found(const error_code& why)
{
    if (why == asio::error::no_descriptors) {
        refuse(core::errc::overloaded, "fetch: no thread for a lookup");
        return;
    }
    const auto text = "Could not resolve host: " + host_name() + " (" + why.message() + ')';
    why_.back() = '\0';
    text.copy(why_.data(), why_.size() - 1);
}

// The address that libcurl connects to: what is checked here is not resolved again.
curl_socket_t curl_transfer::on_open(void* self, curlsocktype /*kind*/, curl_sockaddr* to) noexcept
{
    auto& transfer = *static_cast<curl_transfer*>(self);
    const auto* const rule = transfer.request_.addresses.get();
    // A proxy is where its operator says; what it may be asked for is checked before.
    const bool direct = transfer.through_ == nullptr;
    if (direct && !may_connect(rule, to->addr)) {
        transfer.forbidden_ = true;
        return CURL_SOCKET_BAD;
    }
    transfer.opened_ = true;
    return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

// libcurl takes a common name for a host's name, and keys of any size.
CURLcode curl_transfer::on_tls(CURL*, void* context, void* self) noexcept
{
    auto& tls = *static_cast<SSL_CTX*>(context);
    auto& transfer = *static_cast<curl_transfer*>(self);
    return transfer.prepare_tls(tls);
}

CURLcode curl_transfer::prepare_tls(SSL_CTX& tls)
{
    verify_strictly(tls);
    record_verdict(tls, verdict_);
    use_revocations(tls, request_.tls.ca_file);
    const auto url = core::http_url::parse(request_.url);
    return url && expect_name(*SSL_CTX_get0_param(&tls), url->host) ? CURLE_OK : CURLE_PEER_FAILED_VERIFICATION;
}

std::size_t curl_transfer::on_header(char* data, std::size_t, std::size_t size, void* self) noexcept
{
    auto& transfer = *static_cast<curl_transfer*>(self);
    return transfer.take_head_line({data, size}) ? size : 0;
}

std::size_t curl_transfer::on_body(char* data, std::size_t, std::size_t size, void* self) noexcept
{
    auto& transfer = *static_cast<curl_transfer*>(self);
    return transfer.take_body({data, size}) ? size : 0;
}

bool curl_transfer::refuse(core::errc code, const char* why)
{
    refused_ = core::upstream_error(code, why);
    return false;
}

bool curl_transfer::take_head_line(std::string_view line)
{
    head_size_ += line.size();
    if (head_size_ > max_head) {
        return refuse(core::errc::upstream_protocol, "fetch: the head is over 64 KiB");
    }
    switch (expecting_) {
        case expecting::status_line:
            fields_.clear();
            interim_ = status_of(line).starts_with("1");
            bodiless_ = status_of(line) == "304";
            expecting_ = expecting::fields;
            return true;
        case expecting::fields:
            return core::trim(line, line_ends).empty() ? end_of_head() : take_field(line);
        case expecting::body:
            return true;  // a trailer
    }
    return false;
}

bool curl_transfer::take_field(std::string_view line)
{
    const auto colon = std::min(line.find(':'), line.size());
    const auto value = core::trim(line.substr(std::min(colon + 1, line.size())), line_ends);
    if (colon == line.size() || !core::is_token(line.substr(0, colon)) || !is_field_value(value)) {
        return refuse(core::errc::upstream_protocol, "fetch: a line of the head is not a field");
    }
    fields_.emplace_back(core::in_lower_case(line.substr(0, colon)), value);
    return true;
}

bool curl_transfer::end_of_head()
{
    if (interim_) {
        expecting_ = expecting::status_line;
        return true;
    }
    expecting_ = expecting::body;
    if (through_ != nullptr && !is_secure() && status() == proxy_authentication_required) {
        return refuse(core::errc::upstream_proxy, "the proxy answered 407");
    }
    return judge_codings() && take_head();
}

// libcurl decodes every coding it was built with, stacked too: a small answer could keep the loop busy for minutes.
bool curl_transfer::judge_codings()
{
    bool chunked = false;
    for (const auto& [name, value] : fields_) {
        const auto coding = core::in_lower_case(value);
        if (name == "content-encoding" && coding != "identity") {
            if (encoded_ || (coding != "gzip" && coding != "x-gzip")) {
                return refuse(core::errc::upstream_protocol, "fetch: a content coding that was not asked for");
            }
            encoded_ = true;
        } else if (name == "transfer-encoding") {
            if (chunked || coding != "chunked") {
                return refuse(core::errc::upstream_protocol, "fetch: a transfer coding that was not asked for");
            }
            chunked = true;
        } else if (name == "content-length") {
            std::uint64_t length = 0;
            const auto end = value.data() + value.size();
            const auto read = std::from_chars(value.data(), end, length).ec;
            length_ = std::max(length_.value_or(0), read == std::errc{} ? length : ~std::uint64_t{0});
        }
    }
    if (encoded_ || chunked || bodiless_) {
        length_.reset();
    }
    return true;
}

unsigned curl_transfer::status() const noexcept
{
    long status = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_RESPONSE_CODE, &status);
    return static_cast<unsigned>(status);
}

// A connection that is kept may be to an address that another request may name, and this one not; and libcurl takes a tunnel of another
// user of the same proxy for this one's.
bool curl_transfer::is_alone() const noexcept
{
    return request_.addresses != nullptr || (through_ != nullptr && !through_->at.user.empty());
}

bool curl_transfer::is_secure() const
{
    const auto url = core::http_url::parse(request_.url);
    return url && url->secure;
}

// Nothing: it is not the proxy that failed.
std::optional<core::error> curl_transfer::failure_of_proxy(CURLcode code)
{
    if (through_ == nullptr) {
        return std::nullopt;
    }
    long answered = 0;
    curl_easy_getinfo(easy_.get(), CURLINFO_HTTP_CONNECTCODE, &answered);
    const bool refused = answered != 0 && (answered < 200 || answered >= 300);
    if (refused) {
        return core::upstream_error(core::errc::upstream_proxy, "the proxy answered " + std::to_string(answered));
    }
    const bool no_name = code == CURLE_COULDNT_RESOLVE_PROXY || code == CURLE_COULDNT_RESOLVE_HOST;
    const bool no_connection = code == CURLE_COULDNT_CONNECT;
    const bool cut = code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_GOT_NOTHING ||
                     code == CURLE_WEIRD_SERVER_REPLY;
    const bool no_tunnel = opened_ && answered == 0 && cut && is_secure();
    if (!no_name && !no_connection && !no_tunnel) {
        return std::nullopt;
    }
    using enum core::errc;
    const auto& at = through_->at;
    return core::upstream_error(
        no_tunnel ? upstream_proxy
        : no_name ? upstream_unresolved
                  : upstream_refused,
        (no_tunnel ? "no tunnel through the proxy " : "no connection to the proxy ") + at.host + ':' + at.port + ": " +
            addresses_.with_name(why_.front() != '\0' ? why_.data() : curl_easy_strerror(code), at.host)
    );
}

std::optional<core::error> curl_transfer::failure(CURLcode code)
{
    if (refused_) {
        return std::exchange(refused_, std::nullopt);
    }
    if (code == CURLE_OK && expecting_ != expecting::body) {
        return core::upstream_error(
            core::errc::upstream_reset,
            "fetch: closed inside the head"
        );  // libcurl lets it pass
    }
    if (code == CURLE_OK) {
        return std::nullopt;
    }
    if (forbidden_ && !opened_) {
        return core::upstream_error(core::errc::upstream_forbidden, std::string{forbidden});
    }
    if (auto failed = failure_of_proxy(code)) {
        return failed;
    }
    auto detail =
        "fetch: " + addresses_.with_name(why_.front() != '\0' ? why_.data() : curl_easy_strerror(code), host_name());
    if (const std::string why = X509_verify_cert_error_string(*verdict_);
        *verdict_ != X509_V_OK && detail.find(why) == std::string::npos) {
        detail += ": " + why;
    }
    const bool bad_chunk = code == CURLE_RECV_ERROR && detail.ends_with("in chunked-encoding");
    const auto kind = bad_chunk ? core::errc::upstream_protocol : errc_of(code);
    return kind == core::errc::internal ? core::gateway_error(kind, std::move(detail))
                                        : core::upstream_error(kind, std::move(detail));
}

bool curl_transfer::take_head()
{
    has_head_ = true;
    if (length_.value_or(0) > request_.max_size) {
        return refuse(core::errc::card_too_large, "fetch: Content-Length is over the limit");
    }
    return true;
}

bool curl_transfer::take_body(std::string_view data)
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

void curl_transfer::over(CURLcode code)
{
    auto failed = failure(code);
    if (failed && !(request_.status_only && has_head_)) {
        end_with(std::move(*failed));
        return;
    }
    end_with(fetch_response{status(), std::move(fields_), std::move(body_)});
}

void curl_transfer::end_with(fetch_result result)
{
    if (waiting) {
        complete(std::move(*waiting), std::move(result));
    }
}

}  // namespace net
