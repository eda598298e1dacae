#include "net/upstream/upstream.hpp"

#include "core/ascii.hpp"
#include "core/url.hpp"
#include "net/loop/tcp_state.hpp"
#include "net/upstream/own_listeners.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>

#include <openssl/ssl.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <iterator>
#include <random>
#include <utility>

namespace net {
namespace {

using core::errc;

constexpr std::string_view forbidden =
    "the agent registered itself at an address that is not public, or at this gateway";

std::string status_of_proxy(unsigned status)
{
    return "the proxy answered " + std::to_string(status);
}

// Adds the first piece of a request's head, for which there is room for five, as the proxy of the target takes it.
void add_head(pieces& request, std::string_view head, const upstream_target& to)
{
    const auto path = head.find(' ') + 1;
    const auto line_end = head.find("\r\n", path) + 2;
    request.add(head.substr(0, path));
    request.add(to.absolute);
    request.add(head.substr(path, line_end - path));
    request.add(to.through->field);
    request.add(head.substr(line_end));
}

// An answer that is the proxy's own: it does not know the gateway. Its status as a detail.
std::optional<core::error> refusal_of_proxy(unsigned status, const upstream_target& to)
{
    constexpr unsigned proxy_authentication_required = 407;  // RFC 9110 section 15.5.8
    if (status != proxy_authentication_required || to.absolute.empty()) {
        return std::nullopt;
    }
    return core::upstream_error(errc::upstream_proxy, status_of_proxy(status));
}

}  // namespace

core::result<tls_context> client_contexts::get(const tls_client_files& files)
{
    auto& known = made_[{files.ca_file, files.cert_file, files.key_file}];
    if (known == nullptr) {
        auto context = make_client_tls(files);
        if (!context) {
            return context;
        }
        known = std::move(*context);
    }
    return known;
}

void client_contexts::renew()
{
    made_.clear();
    ++generation_;
}

core::result<upstream_target> make_target(
    const std::string& url,
    const tls_client_files& files,
    client_contexts& contexts,
    std::shared_ptr<const core::address_rule> addresses,
    const core::secret& own_proxy
)
{
    const auto parsed = core::http_url::parse(url);
    if (!parsed) {
        return core::gateway_error(errc::config_invalid, "not an http or https URL: " + url);
    }
    upstream_target target;
    target.host = parsed->host;
    target.port = parsed->port;
    target.authority = parsed->authority();
    target.path = parsed->path;
    if (parsed->secure) {
        auto tls = contexts.get(files);
        if (!tls) {
            return std::move(tls).error();
        }
        target.tls = std::move(*tls);
    }
    target.key = parsed->origin();
    target.key += parsed->secure ? '\n' + std::to_string(contexts.generation()) : "";
    for (const auto* const file : {&files.ca_file, &files.cert_file, &files.key_file}) {
        target.key += '\n' + *file;
    }
    // A connection that another agent has may be to an address that this one may not name.
    target.key += addresses == nullptr ? "" : "\naddresses";
    target.addresses = std::move(addresses);
    auto through = proxy_to(*parsed, own_proxy);
    if (!through) {
        return std::move(through).error();
    }
    target.through = std::move(*through);
    if (target.through != nullptr) {
        target.key += "\nproxy " + target.through->key;
        target.absolute = parsed->secure ? "" : "http://" + target.authority;
        target.tunnel = parsed->encoded_host + ':' + target.port;
    }
    return target;
}

upstream_target over_http2(upstream_target made)
{
    made.http2 = true;
    made.key += "\nhttp2";
    made.absolute.clear();
    return made;
}

upstream_connection::upstream_connection(
    loop& owner,
    std::shared_ptr<const upstream_target> target,
    std::size_t head_limit
)
    : target_{std::move(target)},
      loop_{owner},
      side_{owner},
      parser_{http1::head_limits{.bytes = head_limit, .fields = 256, .target = 0, .value = head_limit}}
{
}

void upstream_connection::connect(signal& listener)
{
    set_listener(&listener);
    connecting_ = true;
    if (target_->dial) {
        if (auto socket = target_->dial(); !socket.open() || side_.adopt(std::move(socket))) {
            return fail(errc::overloaded, "no descriptor is left for a connection within the process");
        }
        return finish();
    }
    if (target_->through != nullptr && !may_ask_for(target_->addresses.get(), target_->host, target_->port)) {
        fail(errc::upstream_forbidden, std::string{forbidden});
        return;
    }
    const auto& host = target_->through != nullptr ? target_->through->at.host : target_->host;
    error_code ec;
    const auto literal = asio::ip::make_address(host, ec);
    if (!ec) {
        begin({literal});
        return;
    }
    const auto now = loop_.now();
    name_ = loop_.names().find(core::in_lower_case(host), now);
    if (name_->addresses != nullptr) {
        begin(*name_->addresses);
        return;
    }
    lookup_ = loop_.names().ask(name_, [this](error_code failed) { on_resolved(failed); }, now);
}

void upstream_connection::on_resolved(error_code ec)
{
    lookup_.reset();
    if (ec) {
        fail(ec == asio::error::no_descriptors ? errc::overloaded : errc::upstream_unresolved, ec.message());
        return;
    }
    begin(*name_->addresses);
}

// The connection goes to the addresses that are checked here: the name is not looked up again.
void upstream_connection::begin(const address_list& found)
{
    checked_ = name_ != nullptr ? name_->changes : 0;
    const bool by_proxy = target_->through != nullptr;
    const auto port = static_cast<std::uint16_t>(std::stoul(by_proxy ? target_->through->at.port : target_->port));
    std::vector<tcp::endpoint> allowed;
    for (const auto& each : in_turns(found, name_ != nullptr ? name_->families.get() : nullptr, loop_.now())) {
        if (const tcp::endpoint to{each, port}; by_proxy || may_connect(target_->addresses.get(), *to.data())) {
            allowed.push_back(to);
        }
    }
    if (allowed.empty()) {
        fail(errc::upstream_forbidden, std::string{forbidden});
        return;
    }
    auto told = [this](error_code failed, core::descriptor socket, std::size_t place) {
        failed ? on_refused(failed) : on_connected(std::move(socket), place);
    };
    race_ = std::make_unique<connect_race>(loop_, std::move(allowed), std::move(told));
    race_->begin();
}

void upstream_connection::on_connected(core::descriptor socket, std::size_t place)
{
    address_ = race_->address(place).address();
    if (name_ != nullptr) {
        const auto worked = family_of(address_);
        name_->families->note_worked(worked);
        if (race_->passed_over(place)) {
            name_->families->note_failed(worked == family::v4 ? family::v6 : family::v4, loop_.now());
        }
    }
    race_.reset();
    if (const auto ec = side_.adopt(std::move(socket))) {
        on_refused(ec);
    } else if (target_->through != nullptr && (target_->tls != nullptr || target_->http2)) {
        ask_for_tunnel();
    } else {
        shake_hands();
    }
}

void upstream_connection::on_refused(error_code last)
{
    const bool ours = last == asio::error::no_descriptors || last == boost::system::errc::too_many_files_open_in_system;
    fail(ours ? errc::overloaded : errc::upstream_refused, last.message());
}

void upstream_connection::on_opened(error_code ec)
{
    if (ec) {
        fail(errc::upstream_tls, handshake_failure(side_.wire().tls(), ec.message()));
    } else if (target_->http2 && !chose_http2(side_.wire().tls())) {
        fail(errc::upstream_tls, "the agent did not choose HTTP/2 (ALPN `h2`)");
    } else {
        finish();
    }
}

bool upstream_connection::connecting()
{
    if (connecting_ && !tunnel_request_.empty()) {
        read_tunnel_answer();
    }
    return connecting_;
}

// With the name: the proxy looks it up.
void upstream_connection::ask_for_tunnel()
{
    tunnel_request_ = "CONNECT " + target_->tunnel + " HTTP/1.1\r\nHost: " + target_->tunnel + "\r\n";
    tunnel_request_ += target_->through->field;
    tunnel_request_ += "\r\n";
    pieces request;
    request.add(tunnel_request_);
    side_.write(request);
    side_.arm();
}

// A success has no body, whatever its fields say, and the server does not speak before the gateway does: more bytes would be the proxy's,
// in the place of the server's.
void upstream_connection::read_tunnel_answer()
{
    while (!side_.received().empty()) {
        const auto parsed = parser_.parse(side_.received(), http1::method::get);
        if (!parsed) {
            return fail(errc::upstream_proxy, "the proxy did not answer in HTTP: " + parsed.error().detail);
        }
        if (*parsed == 0) {
            if (side_.full()) {
                side_.grow();
            }
            break;
        }
        const auto status = parser_.head().status;
        if (status < 200 && ++interim_ <= most_interim_answers) {
            side_.consume(*parsed);
            parser_.reset();
            continue;
        }
        if (status < 200 || status >= 300) {
            return fail(errc::upstream_proxy, status_of_proxy(status));
        }
        side_.consume(*parsed);
        parser_.reset();
        if (!side_.received().empty() || side_.writing()) {
            return fail(errc::upstream_proxy, "bytes followed the proxy's answer, where TLS begins");
        }
        tunnel_request_.clear();
        return shake_hands();
    }
    if (side_.ended() || side_.write_error()) {
        return fail(errc::upstream_proxy, "the proxy closed the connection before its answer");
    }
    side_.arm();
}

void upstream_connection::shake_hands()
{
    if (target_->tls == nullptr) {
        return finish();
    }
    if (const auto ec = side_.start_tls(*target_->tls, tls_role::client, [this](error_code end) { on_opened(end); })) {
        fail(errc::upstream_tls, ec.message());
        return;
    }
    if (!expect_peer(side_.wire().tls(), target_->certified.empty() ? target_->host : target_->certified)) {
        fail(errc::upstream_tls, "the host's name cannot be verified");
    } else if (target_->http2 && !offer_http2(side_.wire().tls())) {
        fail(errc::upstream_tls, "HTTP/2 cannot be offered");
    }
}

// Until there is a connection to a proxy, its address is what fails.
void upstream_connection::fail(errc code, std::string detail)
{
    if (target_->through != nullptr && (code == errc::upstream_unresolved || code == errc::upstream_refused)) {
        const auto& at = target_->through->at;
        detail = "no connection to the proxy " + at.host + ':' + at.port + ": " + detail;
    }
    tunnel_request_.clear();
    failure_ = code == errc::overloaded ? core::gateway_error(code, std::move(detail))
                                        : core::upstream_error(code, std::move(detail));
    close();
    finish();
}

void upstream_connection::finish()
{
    connecting_ = false;
    if (listener_ != nullptr) {
        listener_->set();
    }
}

void upstream_connection::set_listener(signal* listener) noexcept
{
    listener_ = listener;
    side_.set_listener(listener);
}

void upstream_connection::add_body(pieces& out, std::string_view data, bool last)
{
    if (chunked_ && !data.empty()) {
        chunk_ = http1::chunk_header{data.size()};
        out.add(chunk_.text());
        out.add(data);
        out.add(http1::chunk_end);
    } else {
        out.add(data);
    }
    if (chunked_ && last) {
        out.add(http1::last_chunk);
    }
}

void upstream_connection::send(const agent_request& request)
{
    chunked_ = request.chunked;
    headed_ = false;
    interim_ = 0;
    taken_ = 0;
    body_ = {};
    sent_before_ = side_.bytes_out();
    pieces out;
    if (target_->absolute.empty()) {
        out = request.head;
    } else {
        for (const auto& each : request.head) {
            const std::string_view text{static_cast<const char*>(each.data()), each.size()};
            out.size() == 0 ? add_head(out, text, *target_) : out.add(text);
        }
    }
    add_body(out, request.body, request.last);
    side_.write(out);
    side_.arm();
}

void upstream_connection::send_body(std::string_view data, bool last)
{
    pieces out;
    add_body(out, data, last);
    if (out.size() > 0) {
        side_.write(out);
    }
}

core::result<bool> upstream_connection::read_head(http1::method to)
{
    while (!headed_ && !side_.received().empty()) {
        auto parsed = parser_.parse(side_.received(), to);
        if (!parsed) {
            return std::move(parsed).error();
        }
        if (*parsed == 0) {
            if (side_.full()) {
                side_.grow();
            }
            break;
        }
        if (auto refused = refusal_of_proxy(parser_.head().status, *target_)) {
            return std::move(*refused);
        }
        if (parser_.head().status >= 200) {
            headed_ = true;
            head_length_ = *parsed;
            taken_ = head_length_;
            body_ = {head().body, head().content_length};
        } else if (++interim_ > most_interim_answers) {
            return core::upstream_error(errc::upstream_protocol, "too many interim answers");
        } else {
            side_.consume(*parsed);
            parser_.reset();
        }
    }
    return headed_;
}

void upstream_connection::consume_head()
{
    side_.consume(head_length_);
    taken_ -= std::exchange(head_length_, 0);
}

core::result<std::string_view> upstream_connection::take()
{
    while (!body_.done() && side_.received().size() > taken_) {
        auto piece = body_.take(side_.received().substr(taken_));
        if (!piece) {
            return std::move(piece).error();
        }
        taken_ += piece->used;
        if (!piece->data.empty()) {
            return piece->data;
        }
    }
    if (!body_.done() && side_.received().empty() && side_.ended()) {
        const auto why = side_.read_error();
        auto ended = body_.end(why == asio::error::eof, why.message());
        if (!ended) {
            return std::move(ended).error();
        }
    }
    return std::string_view{};
}

bool upstream_connection::release()
{
    const bool filled = taken_ == side_.capacity();
    side_.consume(std::exchange(taken_, 0));
    return filled;
}

void upstream_connection::rewind()
{
    body_ = {head().body, head().content_length};
    taken_ = head_length_;
}

bool upstream_connection::unprocessed() noexcept
{
    return reused_ && !answering() && ended_before(sent_before_);
}

void upstream_connection::rest() noexcept
{
    reused_ = true;
    headed_ = false;
    parser_.reset();
}

// In order: a FIN, which is an end of stream, or EPIPE where our bytes then met no socket.
bool upstream_connection::ended_before(std::uint64_t bytes) noexcept
{
    const auto why = side_.read_error();
    if (why != asio::error::eof && why != asio::error::broken_pipe) {
        return false;
    }
    constexpr std::uint64_t handshake = 1;
    const auto acknowledged = bytes_acknowledged(side_.wire().number());
    return acknowledged && *acknowledged <= bytes + handshake;
}

void upstream_connection::close() noexcept
{
    lookup_.reset();
    race_.reset();
    connecting_ = false;
    side_.close();
}

bool upstream_connection::usable(core::steady_time now) noexcept
{
    if (!life_.usable(now)) {
        return false;
    }
    if (name_ == nullptr || name_->addresses == nullptr || name_->changes == checked_) {
        return true;
    }
    if (std::ranges::find(*name_->addresses, address_) == name_->addresses->end()) {
        return false;
    }
    checked_ = name_->changes;
    return true;
}

void upstream_connection::note_use(core::steady_time now) noexcept
{
    if (name_ != nullptr) {
        name_->used = now;
    }
}

bool upstream_connection::suits(const upstream_target& target) const noexcept
{
    if (target.through != nullptr) {
        return may_ask_for(target.addresses.get(), target.host, target.port);
    }
    return target.addresses == nullptr || target.addresses->allows(ip_of(*tcp::endpoint{address_, 0}.data()));
}

}  // namespace net
