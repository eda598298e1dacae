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

constexpr unsigned most_interim_answers = 8;
constexpr std::string_view forbidden =
    "the agent registered itself at an address that is not public, or at this gateway";

std::string status_of_proxy(unsigned status)
{
    return "the proxy answered " + std::to_string(status);
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

void add_head(pieces& request, std::string_view head, const upstream_target& to)
{
    if (to.absolute.empty()) {
        request.add(head);
        return;
    }
    const auto path = head.find(' ') + 1;
    const auto line_end = head.find("\r\n", path) + 2;
    request.add(head.substr(0, path));
    request.add(to.absolute);
    request.add(head.substr(path, line_end - path));
    request.add(to.through->field);
    request.add(head.substr(line_end));
}

std::optional<core::error> refusal_of_proxy(unsigned status, const upstream_target& to)
{
    constexpr unsigned proxy_authentication_required = 407;  // RFC 9110 section 15.5.8
    if (status != proxy_authentication_required || to.absolute.empty()) {
        return std::nullopt;
    }
    return core::upstream_error(errc::upstream_proxy, status_of_proxy(status));
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
    } else if (target_->tls == nullptr) {
        finish();
    } else if (target_->through != nullptr) {
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
    if (const auto ec = side_.start_tls(*target_->tls, tls_role::client, [this](error_code end) { on_opened(end); })) {
        fail(errc::upstream_tls, ec.message());
        return;
    }
    if (!expect_peer(side_.wire().tls(), target_->certified.empty() ? target_->host : target_->certified)) {
        fail(errc::upstream_tls, "the host's name cannot be verified");
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

double random_share()
{
    thread_local std::minstd_rand dice{std::random_device{}()};
    return std::uniform_real_distribution<double>{0, 1}(dice);
}

upstream_pool::upstream_pool(loop& owner, pool_settings settings)
    : loop_{owner},
      settings_{settings}
{
    loop_.timers().add(*this);
}

upstream_pool::~upstream_pool() = default;

upstream_lease upstream_pool::take_idle(const upstream_target& target)
{
    const auto found = idle_.find(target.key);
    if (found == idle_.end()) {
        return nullptr;
    }
    auto& [list, trust, used] = found->second;
    const auto now = loop_.now();
    while (!list.empty()) {
        const auto& life = list.back()->life();
        if (!life.announced() && !trust.holds(life.idle_for(now))) {
            return nullptr;
        }
        auto last = std::move(list.back());
        list.pop_back();
        --idle_count_;
        // Bytes that nobody asked for are as bad as an end: they would be taken for the next answer. Both may have come
        // along with the call that wants this connection.
        last->side().look();
        if (!last->side().ended() && last->side().received().empty() && last->usable(now) && last->suits(target)) {
            last->note_use(now);
            return last;
        }
        discard(std::move(last));
    }
    return nullptr;
}

upstream_lease upstream_pool::make(std::shared_ptr<const upstream_target> target)
{
    auto made = std::make_unique<upstream_connection>(loop_, std::move(target), settings_.head_limit);
    made->life() = connection_life{settings_.life, loop_.now(), settings_.random()};
    return made;
}

void upstream_pool::give_back(upstream_lease connection)
{
    auto& side = connection->side();
    connection->set_listener(nullptr);
    const auto now = loop_.now();
    const bool lives =
        connection->life().rest(now, connection->parser().head().keep_alive_for) && connection->usable(now);
    if (closed_ || !lives || side.ended() || side.writing() || side.write_error() || !side.received().empty() ||
        settings_.idle_connections == 0) {
        discard(std::move(connection));
        return;
    }
    auto& place = idle_[connection->target().key];
    auto& list = place.list;
    place.used = now;
    if (list.size() >= settings_.idle_connections) {
        // The one that has rested longest goes: calls may not trust it any more.
        discard(std::move(list.front()));
        list.erase(list.begin());
        --idle_count_;
    }
    connection->mark_reused();
    connection->parser().reset();
    side.arm();  // its end is noticed while it waits
    list.push_back(std::move(connection));
    ++idle_count_;
}

void upstream_pool::discard(upstream_lease connection)
{
    connection->set_listener(nullptr);
    connection->close();
}

void upstream_pool::drop_idle(std::string_view key)
{
    const auto found = idle_.find(std::string(key));
    if (found == idle_.end()) {
        return;
    }
    idle_count_ -= found->second.list.size();
    for (auto& each : found->second.list) {
        discard(std::move(each));
    }
    idle_.erase(found);
}

void upstream_pool::close()
{
    closed_ = true;
    for (auto& [key, resting] : idle_) {
        auto& list = resting.list;
        while (!list.empty()) {
            discard(std::move(list.back()));
            list.pop_back();
        }
    }
    idle_count_ = 0;
}

void upstream_pool::on_sweep(core::steady_time now)
{
    for (auto at = idle_.begin(); at != idle_.end();) {
        auto& [list, trust, used] = at->second;
        for (std::size_t i = list.size(); i-- > 0;) {
            auto& each = *list[i];
            if (each.side().ended()) {
                trust.record_ended(each.life().idle_for(now));
            } else {
                trust.record_kept(each.life().idle_for(now));
            }
            if (each.side().ended() || !each.side().received().empty() || !each.usable(now)) {
                discard(std::move(list[i]));
                list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
                --idle_count_;
            }
        }
        at = list.empty() && now - used > settings_.life.max_age ? idle_.erase(at) : std::next(at);
    }
}

}  // namespace net
