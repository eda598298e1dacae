#include "net/upstream/upstream.hpp"

#include "core/url.hpp"
#include "net/loop/tcp_state.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/ip/address.hpp>

#include <openssl/ssl.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <utility>

namespace net {
namespace {

using core::errc;

core::ip_address ip_of(const asio::ip::address& address)
{
    core::ip_address out;
    const auto as_v6 = [&] {
        return address.is_v4() ? asio::ip::make_address_v6(asio::ip::v4_mapped, address.to_v4()) : address.to_v6();
    };
    std::ranges::copy(as_v6().to_bytes(), out.bytes.begin());
    return out;
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
    std::shared_ptr<const core::address_rule> addresses
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
    return target;
}

upstream_connection::upstream_connection(
    loop& owner,
    std::shared_ptr<const upstream_target> target,
    std::size_t head_limit
)
    : target_{std::move(target)},
      names_{owner.names()},
      side_{owner},
      parser_{http1::head_limits{.bytes = head_limit, .fields = 256, .target = 0, .value = head_limit}}
{
}

void upstream_connection::connect(signal& listener)
{
    set_listener(&listener);
    connecting_ = true;
    error_code ec;
    const auto literal = asio::ip::make_address(target_->host, ec);
    if (!ec) {
        begin({{literal, static_cast<std::uint16_t>(std::stoul(target_->port))}});
        return;
    }
    lookup_ = names_.ask(target_->host, target_->port, [this](error_code failed, const auto& found) {
        on_resolved(failed, found);
    });
}

void upstream_connection::on_resolved(error_code ec, const std::vector<tcp::endpoint>& found)
{
    lookup_.reset();
    if (ec) {
        fail(ec == asio::error::no_descriptors ? errc::overloaded : errc::upstream_unresolved, ec.message());
        return;
    }
    begin(found);
}

// What is checked here is what is connected to: the name is not looked up again.
void upstream_connection::begin(std::vector<tcp::endpoint> found)
{
    addresses_ = std::move(found);
    if (target_->addresses != nullptr) {
        std::erase_if(addresses_, [&](const tcp::endpoint& each) {
            return !target_->addresses->allows(ip_of(each.address()));
        });
        if (addresses_.empty()) {
            fail(errc::upstream_forbidden, "the agent registered itself at an address that is not public");
            return;
        }
    }
    try_next();
}

void upstream_connection::try_next()
{
    while (next_address_ < addresses_.size()) {
        last_error_ = side_.connect(addresses_[next_address_++], *this);
        if (!last_error_) {
            return;
        }
    }
    const bool ours =
        last_error_ == asio::error::no_descriptors || last_error_ == boost::system::errc::too_many_files_open_in_system;
    fail(ours ? errc::overloaded : errc::upstream_refused, last_error_.message());
}

void upstream_connection::on_opened(error_code ec)
{
    const bool handshake = side_.wire().secure();
    if (ec && handshake) {
        fail(errc::upstream_tls, handshake_failure(side_.wire().tls(), ec.message()));
    } else if (ec) {
        last_error_ = ec;
        try_next();
    } else if (target_->tls != nullptr && !handshake) {
        shake_hands();
    } else {
        finish();
    }
}

void upstream_connection::shake_hands()
{
    if (const auto ec = side_.start_tls(*target_->tls, tls_role::client, this)) {
        fail(errc::upstream_tls, ec.message());
        return;
    }
    if (!expect_peer(side_.wire().tls(), target_->host)) {
        fail(errc::upstream_tls, "the host's name cannot be verified");
    }
}

void upstream_connection::fail(errc code, std::string detail)
{
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
    connecting_ = false;
    side_.close();
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
    auto& list = found->second;
    while (!list.empty()) {
        auto last = std::move(list.back());
        list.pop_back();
        --idle_count_;
        // Bytes that nobody asked for are as bad as an end: they would be taken for the next answer. Both may have come
        // along with the call that wants this connection.
        last->side().look();
        if (!last->side().ended() && last->side().received().empty()) {
            return last;
        }
        discard(std::move(last));
    }
    return nullptr;
}

upstream_lease upstream_pool::make(std::shared_ptr<const upstream_target> target)
{
    return std::make_unique<upstream_connection>(loop_, std::move(target), settings_.head_limit);
}

void upstream_pool::give_back(upstream_lease connection)
{
    auto& side = connection->side();
    connection->set_listener(nullptr);
    auto& list = idle_[connection->target().key];
    if (closed_ || side.ended() || side.writing() || !side.received().empty() ||
        list.size() >= settings_.idle_connections) {
        discard(std::move(connection));
        return;
    }
    connection->mark_reused();
    connection->parser().reset();
    connection->idle_since = loop_.now();
    side.arm();  // its end is noticed while it waits
    list.push_back(std::move(connection));
    ++idle_count_;
}

void upstream_pool::discard(upstream_lease connection)
{
    connection->set_listener(nullptr);
    connection->close();
}

void upstream_pool::close()
{
    closed_ = true;
    for (auto& [key, list] : idle_) {
        while (!list.empty()) {
            discard(std::move(list.back()));
            list.pop_back();
        }
    }
    idle_count_ = 0;
}

void upstream_pool::on_sweep(core::steady_time now)
{
    for (auto& [key, list] : idle_) {
        for (std::size_t i = list.size(); i-- > 0;) {
            auto& each = *list[i];
            const auto idle_for = now - each.idle_since;
            if (each.side().ended() || !each.side().received().empty() || idle_for > settings_.keep) {
                discard(std::move(list[i]));
                list.erase(list.begin() + static_cast<std::ptrdiff_t>(i));
                --idle_count_;
            }
        }
    }
}

}  // namespace net
