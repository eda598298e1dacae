#include "net/client/exchange_run.hpp"

#include "core/ascii.hpp"
#include "core/url.hpp"
#include "net/http1/head_writer.hpp"
#include "net/loop/descriptor_budget.hpp"
#include "net/upstream/via.hpp"

#include <boost/asio/post.hpp>
#include <boost/asio/ssl/error.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

namespace net {
namespace {

using core::errc;
using http1::framing;
using http1::method;

// Visible characters, spaces and tabs (RFC 9110 section 5.5).
bool is_field_value(std::string_view text) noexcept
{
    return std::ranges::none_of(text, [](char c) {
        return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
    });
}

bool has_field(const exchange_request& request, std::string_view name)
{
    return std::ranges::any_of(request.headers, [&](const auto& each) {
        return core::equal_ignoring_case(each.first, name);
    });
}

// A write failed for another reason than that the peer is gone: a peer that is gone may have said why, and its end can be read. An error
// that an idle connection met is reported by its next write.
bool failed_here(error_code write) noexcept
{
    return write && write != asio::error::broken_pipe && write != asio::error::connection_reset &&
           write != asio::error::timed_out && write != asio::error::host_unreachable &&
           write != asio::error::network_unreachable;
}

// Changes when the file is replaced or rewritten; "-" for a missing or unnamed file.
std::string state_of(const std::string& file)
{
    struct ::stat found{};
    if (file.empty() || ::stat(file.c_str(), &found) != 0) {
        return "-";
    }
    std::string out;
    for (const auto each :
         {static_cast<long long>(found.st_ino),
          static_cast<long long>(found.st_size),
          static_cast<long long>(found.st_mtim.tv_sec),
          static_cast<long long>(found.st_mtim.tv_nsec)}) {
        out += std::to_string(each) + ' ';
    }
    return out;
}

std::string states_of(const tls_client_files& files)
{
    return state_of(files.ca_file) + '\n' + state_of(files.cert_file) + '\n' + state_of(files.key_file);
}

std::string names_of(const tls_client_files& files)
{
    return files.ca_file + '\n' + files.cert_file + '\n' + files.key_file;
}

// The head of the request. Nothing: a field cannot be sent.
std::optional<std::string>
head_of(const exchange_request& request, method verb, const upstream_target& to, std::string_view user_agent)
{
    std::string text;
    http1::head_writer out{text};
    out.request_line(verb, to.path);
    if (!has_field(request, "host")) {
        out.field("Host", to.authority);
    }
    if (!has_field(request, "user-agent")) {
        out.field("User-Agent", user_agent);
    }
    if (!has_field(request, "accept")) {
        out.field("Accept", "*/*");
    }
    bool is_gateway = true;
    for (const auto& [name, value] : request.headers) {
        if (!core::is_token(name) || !is_field_value(value)) {
            return std::nullopt;
        }
        // An empty one leaves it out, as in a fetch: the command line is no gateway.
        if (value.empty() && core::equal_ignoring_case(name, "Via")) {
            is_gateway = false;
            continue;
        }
        out.field(name, core::trim(value));
    }
    // `Via` lets the gateway recognize a request of its own that comes back; one within the process comes back by intent.
    if (is_gateway && !request.dial) {
        out.field("Via", "1.1 " + std::string{own_pseudonym()});
    }
    if (request.body != nullptr) {
        out.field("Content-Length", std::uint64_t{request.body->size()});
    }
    out.end();
    return text;
}

}  // namespace

exchange_run::exchange_run(exchange_means& means, exchange_request request, exchange_observer& observer)
    : loop_{means.on},
      means_{&means},
      observer_{&observer},
      request_{std::move(request)}
{
    loop_.timers().add(*this);
}

void exchange_run::begin()
{
    head_due_ = loop_.now() + request_.head_timeout;
    auto target = means_->targets.find(request_);
    if (!target) {
        refusal_ = std::move(target).error();
    } else {
        target_ = std::move(*target);
        verb_ = boost::beast::http::string_to_verb(request_.method);
        auto head = head_of(request_, verb_, *target_, means_->user_agent);
        if (head && verb_ != method::unknown) {
            head_ = std::move(*head);
        } else {
            refusal_ = core::gateway_error(errc::internal, "exchange: a header field or the method cannot be sent");
        }
    }
    if (!refusal_) {
        connect(/*fresh=*/false);
    }
    net::start(drive(shared_from_this()), [](const std::exception_ptr& bug) {
        if (bug) {
            std::rethrow_exception(bug);  // an observer's
        }
    });
    if (refusal_ || (connecting_ ? !lease_->connecting() : lease_->send_error().failed())) {
        asio::post(loop_.get_executor(), [held = weak_from_this()] {
            if (const auto self = held.lock()) {
                self->woken_.set();
            }
        });
    }
}

routine<> exchange_run::drive(std::shared_ptr<exchange_run> self)
{
    while (self->means_ != nullptr) {
        co_await self->woken_.wait();
        self->going_on_ = true;
        self->go_on();
        self->going_on_ = false;
    }
    self->drop();
}

bool exchange_run::may_share() const noexcept
{
    return !request_.dial || !request_.dialled_key.empty();
}

void exchange_run::connect(bool fresh)
{
    auto& pool = means_->pool;
    lease_ = fresh || !may_share() ? nullptr : pool.take_idle(*target_);
    if (lease_ != nullptr) {
        lease_->set_listener(&woken_);
        send();
        return;
    }
    const auto now = loop_.now();
    auto target = means_->targets.find_for_new(request_, now);
    if (!target) {
        refusal_ = std::move(target).error();
        return;
    }
    target_ = std::move(*target);
    connecting_ = true;
    set_due(std::min(head_due_, now + request_.connect_timeout));
    lease_ = pool.make(target_);
    lease_->connect(woken_);
}

void exchange_run::send()
{
    connecting_ = false;
    set_due(head_due_);
    agent_request request;
    request.head.add(head_);
    if (request_.body != nullptr) {
        request.body = *request_.body;
    }
    lease_->send(request);
    if (!may_repeat()) {
        forget_request();
    }
}

// Whether the request may be sent a second time. The system does not say what the other end of a pair within the process has read.
bool exchange_run::may_repeat() const noexcept
{
    return (lease_->reused() || target_->http2) && !again_ && (request_.repeatable || !request_.dial);
}

void exchange_run::forget_request()
{
    if (!lease_->sending()) {
        decltype(request_.headers){}.swap(request_.headers);
        request_.body = nullptr;
        std::string{}.swap(head_);
    }
}

void exchange_run::go_on()
{
    while (means_ != nullptr) {
        if (refusal_) {
            return end_with(std::move(*refusal_));
        }
        if (connecting_ && !look_at_connection()) {
            return;
        }
        const bool again = again_;
        read();
        if (again == again_) {
            return;
        }
    }
}

// False: it does not stand.
bool exchange_run::look_at_connection()
{
    if (lease_->connecting()) {
        return false;
    }
    if (const auto& failed = lease_->failure()) {
        end_with(*failed);
        return false;
    }
    // Streams stay open for days.
    if (!leaves_room_for_callers(lease_->socket())) {
        fail(errc::overloaded, "exchange: the descriptors that are left are kept for callers");
        return false;
    }
    send();
    return true;
}

void exchange_run::read()
{
    while (means_ != nullptr && !rests_) {
        const bool more = headed_ ? read_body() : read_head();
        if (more || means_ == nullptr) {
            continue;
        }
        if (lease_->ended()) {
            return lost();
        }
        if (!headed_ && failed_here(lease_->send_error())) {
            return fail(
                errc::upstream_reset,
                "exchange: the request was not sent whole: " + lease_->send_error().message()
            );
        }
        lease_->arm();
        return;
    }
}

// False: more bytes are needed.
bool exchange_run::read_head()
{
    auto here = lease_->read_head(verb_);
    if (!here) {
        fail(here.error().code, std::move(here.error().detail));
        return false;
    }
    if (*here) {
        take_head();
    }
    return *here;
}

void exchange_run::take_head()
{
    const auto& head = lease_->head();
    exchange_head told{.status = head.status, .headers = {}};
    told.headers.reserve(head.fields.size());
    for (const auto& each : head.fields) {
        if (each.id == http1::field_name::content_encoding && !core::equal_ignoring_case(each.value, "identity")) {
            return fail(errc::upstream_protocol, "exchange: a content coding that was not asked for");
        }
        told.headers.emplace_back(core::in_lower_case(each.name), each.value);
    }
    streams_ = head.status == 200 && told.has_type("text/event-stream");
    if (!streams_ && head.body == framing::length && head.content_length > request_.max_size) {
        return fail(errc::message_too_large, "exchange: Content-Length is over the limit");
    }
    lease_->consume_head();
    headed_ = true;
    forget_request();  // it is not sent again: a stream may stay for days
    await(streams_ ? request_.stream_timeout : request_.idle_timeout);
    observer_->headed(told);
}

// False: more bytes are needed, or it is over.
bool exchange_run::read_body()
{
    const auto piece = lease_->take();
    if (!piece) {
        const bool reset = piece.error().code == errc::upstream_reset;
        if (reset && lease_->head().body == framing::until_close &&
            lease_->end_reason() == asio::ssl::error::stream_truncated) {
            finish();  // not all servers say in TLS that they end
            return false;
        }
        fail(piece.error().code, reset ? "exchange: closed inside the body" : "exchange: " + piece.error().detail);
        return false;
    }
    if (!piece->empty()) {
        tell(*piece);
    }
    if (means_ == nullptr) {
        return false;
    }
    const bool filled = lease_->release();
    if (lease_->body_done()) {
        finish();
        return false;
    }
    if (filled) {
        lease_->widen();  // it says much
    }
    return rests_ || lease_->ready();
}

// Whoever never stops talking is left alone for a while: what it says waits in the system's buffers.
void exchange_run::tell(std::string_view piece)
{
    taken_ += piece.size();
    if (!streams_ && taken_ > request_.max_size) {
        return fail(errc::message_too_large, "exchange: the body is over the limit");
    }
    await(streams_ ? request_.stream_timeout : request_.idle_timeout);
    const auto begun = std::chrono::steady_clock::now();
    observer_->took(piece);
    const auto now = std::chrono::steady_clock::now();
    if (const auto again = share_.spend(begun, now); means_ != nullptr && again > now) {
        rests_ = true;
        set_due(again);
    }
}

// The peer has said its last.
void exchange_run::lost()
{
    const bool untouched = may_repeat() && !lease_->answering();
    if (untouched && ((request_.repeatable && lease_->reused()) || lease_->unprocessed())) {
        again_ = true;
        drop();
        connect(/*fresh=*/true);
        return;
    }
    fail(errc::upstream_reset, "exchange: closed before the answer");
}

void exchange_run::await(core::duration patience)
{
    set_due(patience > core::duration::zero() ? loop_.now() + patience : never);
}

void exchange_run::on_due()
{
    const auto self = shared_from_this();
    if (std::exchange(rests_, false)) {
        await(streams_ ? request_.stream_timeout : request_.idle_timeout);
    } else {
        fail(errc::upstream_timeout, "exchange: nothing came in time");
    }
    woken_.set();
}

void exchange_run::fail(errc code, std::string why)
{
    end_with(
        code == errc::overloaded ? core::gateway_error(code, std::move(why))
                                 : core::upstream_error(code, std::move(why))
    );
}

void exchange_run::finish()
{
    if (may_share() && lease_->reusable()) {
        means_->pool.give_back(std::move(lease_));
    }
    end_with({});
}

// The observer may destroy whatever it likes.
void exchange_run::end_with(core::result<> how)
{
    auto* const observer = std::exchange(observer_, nullptr);
    abandon();
    if (observer != nullptr) {
        observer->ended(std::move(how));
    }
}

void exchange_run::abandon()
{
    observer_ = nullptr;
    means_ = nullptr;
    set_due(never);
    if (exchange_hook::is_linked()) {
        exchange_hook::unlink();
    }
    if (!going_on_) {
        drop();
        woken_.set();
    }
}

void exchange_run::drop()
{
    if (lease_ != nullptr) {
        lease_->set_listener(nullptr);
        lease_->close();
        lease_.reset();
    }
}

core::result<exchange_target> exchange_targets::find(const exchange_request& request)
{
    auto url =
        request.dial ? request.dialled_key + ' ' + request.url : core::with_parameters(request.url, request.query);
    const auto found = known_.find(url);
    if (found != known_.end() && found->second.tls == request.tls && found->second.addresses == request.addresses &&
        found->second.proxy == request.proxy && found->second.target->http2 == request.http2 &&
        (!request.dial || !request.dialled_key.empty())) {
        return found->second.target;
    }
    if (request.dial) {
        return find_within(request, std::move(url));
    }
    if (!core::http_url::parse(url)) {
        return core::upstream_error(errc::upstream_protocol, "exchange: not an http or https URL");
    }
    auto made = make_target(url, request.tls, contexts_, request.addresses, request.proxy);
    if (!made) {
        return core::upstream_error(errc::upstream_tls, std::move(made).error().detail);
    }
    return keep(request, std::move(url), request.http2 ? over_http2(std::move(*made)) : std::move(*made));
}

core::result<exchange_target> exchange_targets::find_within(const exchange_request& request, std::string name)
{
    const auto url = core::http_url::parse(request.url);
    if (!url) {
        return core::upstream_error(errc::upstream_protocol, "exchange: not an http or https URL");
    }
    upstream_target within;
    within.key = "within " + request.dialled_key;
    within.host = url->host;
    within.authority = url->authority();
    within.path = url->path;
    within.dial = request.dial;
    return keep(request, std::move(name), std::move(within));
}

exchange_target exchange_targets::keep(const exchange_request& request, std::string name, upstream_target made)
{
    if (known_.size() >= most) {
        known_.clear();
    }
    auto target = std::make_shared<const upstream_target>(std::move(made));
    known_.insert_or_assign(std::move(name), known{request.tls, request.addresses, request.proxy, target});
    return target;
}

core::result<exchange_target> exchange_targets::find_for_new(const exchange_request& request, core::steady_time now)
{
    auto found = find(request);
    if (!found || (*found)->tls == nullptr) {
        return found;
    }
    auto states = states_of(request.tls);
    auto [read, first] = readings_.try_emplace(names_of(request.tls), reading{states, now});
    if (first || (read->second.files == states && now - read->second.at < longest_trust)) {
        return found;
    }
    readings_.clear();
    known_.clear();
    contexts_.renew();
    readings_.try_emplace(names_of(request.tls), reading{std::move(states), now});
    return find(request);
}

}  // namespace net
