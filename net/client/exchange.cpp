#include "net/client/exchange.hpp"

#include "core/ascii.hpp"
#include "net/client/curl_driver.hpp"
#include "net/client/curl_transfer.hpp"
#include "net/loop/descriptor_budget.hpp"
#include "net/loop/fair_share.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace net {
namespace asio = boost::asio;
namespace {

using clock = std::chrono::steady_clock;
using timer = asio::basic_waitable_timer<clock, asio::wait_traits<clock>, asio::io_context::executor_type>;

// What is told at once, about: libcurl would read on for as long as there is something.
constexpr std::size_t largest_piece = 256 * 1024;
constexpr long keep_alive_seconds = 30;  // a peer that is gone without a word
constexpr long keep_alive_interval_seconds = 10;
constexpr long longest_idle_seconds = 3;  // uvicorn and Node.js close after 5 s; libcurl takes a connection of 3.9 s
}  // namespace

std::string_view exchange_head::field(std::string_view name) const noexcept
{
    const auto found = std::ranges::find(headers, name, &std::pair<std::string, std::string>::first);
    return found == headers.end() ? std::string_view{} : std::string_view{found->second};
}

bool exchange_head::has_type(std::string_view type) const noexcept
{
    const auto value = field("content-type");
    return core::equal_ignoring_case(core::trim(value.substr(0, value.find(';'))), type);
}

class exchange_client::engine {
public:
    // Else calls that end together close what the next ones need: a quarter of them connected.
    static constexpr long most_kept = 100;

    engine(asio::io_context& on, std::string agent, resolver* names)
        : io{on},
          user_agent{std::move(agent)},
          driver{on, names, most_kept}
    {
    }
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    asio::io_context& io;
    std::string user_agent;
    curl_driver driver;
};

class exchange_client::transfer final : public curl_transfer, public std::enable_shared_from_this<transfer> {
public:
    transfer(engine& by, exchange_request request, exchange_observer& observer)
        : curl_transfer{{request.url, request.headers, request.tls, request.connect_timeout, false, request.query, request.addresses}, by.user_agent},
          engine_{by},
          request_{std::move(request)},
          observer_{&observer},
          timer_{by.io},
          rest_{by.io}
    {
    }

    void start();
    void abandon();

    void over(CURLcode code) override;
    void tell() override;

private:
    void set_options() override;
    bool take_head() override;
    bool take_body(std::string_view data) override;
    bool wants_body() override;
    void tell_piece();
    void go_on_at(clock::time_point when);
    void set_method();
    void end_with(core::result<> how);
    void await(core::duration patience);
    void forget_deadline();
    void arm(clock::time_point due);
    void on_timer(clock::time_point due);
    curl_socket_t open_socket(const curl_sockaddr& to) noexcept override;
    const std::string& body() const noexcept
    {
        return *request_.body;  // NOLINT(bugprone-unchecked-optional-access): libcurl reads one only where there is one
    }
    static std::size_t on_read(char* to, std::size_t size, std::size_t count, void* self) noexcept;
    static int on_seek(void* self, curl_off_t offset, int origin) noexcept;

    engine& engine_;  // not used after abandon() and end_with()
    exchange_request request_;
    exchange_observer* observer_;  // null: nothing is told any more
    std::size_t sent_ = 0;         // of the body
    bool streams_ = false;
    std::uint64_t taken_ = 0;
    std::optional<exchange_head> head_;  // not told yet, as all below
    std::string piece_;
    std::optional<core::result<>> end_;
    std::optional<clock::time_point> due_;
    bool armed_ = false;
    timer timer_;
    fair_share share_;
    bool paused_ = false;
    timer rest_;
};

exchange_client::engine::~engine()
{
    for (const auto& left : driver.remove_all()) {
        static_cast<transfer&>(*left).abandon();
    }
}

void exchange_client::transfer::start()
{
    auto refused = prepare();
    if (!refused) {
        if (const auto code = engine_.driver.add(shared_from_this()); code != CURLM_OK) {
            refused = core::gateway_error(core::errc::internal, curl_multi_strerror(code));
        }
    }
    if (refused) {
        end_with(std::move(*refused));
        asio::post(engine_.io, [self = shared_from_this()] { self->tell(); });
        return;
    }
    await(request_.head_timeout);
}

void exchange_client::transfer::abandon()
{
    observer_ = nullptr;
    forget_deadline();
    rest_.cancel();
}

void exchange_client::transfer::forget_deadline()
{
    due_.reset();
    armed_ = false;
    timer_.cancel();
}

void exchange_client::transfer::set_options()
{
    set_method();
    set(CURLOPT_HTTP_TRANSFER_DECODING, 1L);
    set(CURLOPT_TCP_KEEPALIVE, 1L);
    set(CURLOPT_TCP_KEEPIDLE, keep_alive_seconds);
    set(CURLOPT_TCP_KEEPINTVL, keep_alive_interval_seconds);
}

// Streams stay open for days.
curl_socket_t exchange_client::transfer::open_socket(const curl_sockaddr& to) noexcept
{
    const int descriptor = curl_transfer::open_socket(to);
    if (descriptor >= 0 && !leaves_room_for_callers(descriptor)) {
        ::close(descriptor);
        refuse(core::errc::overloaded, "exchange: the descriptors that are left are kept for callers");
        return CURL_SOCKET_BAD;
    }
    return descriptor;
}

// libcurl sends a body again when a kept connection was gone, if it can: not when there is no way back to its beginning.
void exchange_client::transfer::set_method()
{
    if (!request_.body) {
        set(CURLOPT_HTTPGET, 1L);
        if (request_.method == "HEAD") {
            set(CURLOPT_NOBODY, 1L);
        } else if (request_.method != "GET") {
            set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
        }
        return;
    }
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body->size()));
    set(CURLOPT_READFUNCTION, &transfer::on_read);
    set(CURLOPT_READDATA, static_cast<void*>(this));
    if (request_.repeatable) {
        set(CURLOPT_SEEKFUNCTION, &transfer::on_seek);
        set(CURLOPT_SEEKDATA, static_cast<void*>(this));
    } else {
        set(CURLOPT_MAXAGE_CONN, longest_idle_seconds);
    }
    if (request_.method != "POST") {
        set(CURLOPT_CUSTOMREQUEST, request_.method.c_str());
    }
}

std::size_t exchange_client::transfer::on_read(char* to, std::size_t size, std::size_t count, void* self) noexcept
{
    auto& transfer = *static_cast<exchange_client::transfer*>(self);
    const auto some = transfer.body().copy(to, size * count, transfer.sent_);
    transfer.sent_ += some;
    return some;
}

int exchange_client::transfer::on_seek(void* self, curl_off_t offset, int origin) noexcept
{
    auto& transfer = *static_cast<exchange_client::transfer*>(self);
    const bool inside = offset >= 0 && static_cast<std::uint64_t>(offset) <= transfer.body().size();
    if (origin != SEEK_SET || !inside) {
        return CURL_SEEKFUNC_FAIL;
    }
    transfer.sent_ = static_cast<std::size_t>(offset);
    return CURL_SEEKFUNC_OK;
}

bool exchange_client::transfer::take_head()
{
    if (encoded()) {
        return refuse(core::errc::upstream_protocol, "exchange: a content coding that was not asked for");
    }
    head_.emplace(exchange_head{status(), std::move(fields())});
    streams_ = head_->has_type("text/event-stream");
    if (!streams_ && request_.method != "HEAD" && length().value_or(0) > request_.max_size) {
        head_.reset();
        return refuse(core::errc::message_too_large, "exchange: Content-Length is over the limit");
    }
    await(streams_ ? request_.stream_timeout : request_.idle_timeout);
    engine_.driver.note_news(shared_from_this());
    return true;
}

bool exchange_client::transfer::take_body(std::string_view data)
{
    taken_ += data.size();
    if (!streams_ && taken_ > request_.max_size) {
        return refuse(core::errc::message_too_large, "exchange: the body is over the limit");
    }
    if (piece_.empty()) {
        engine_.driver.note_news(shared_from_this());
    }
    piece_.append(data);
    await(streams_ ? request_.stream_timeout : request_.idle_timeout);
    return true;
}

void exchange_client::transfer::over(CURLcode code)
{
    if (auto failed = failure(code)) {
        end_with(std::move(*failed));
    } else {
        end_with({});
    }
    engine_.driver.note_news(shared_from_this());
}

void exchange_client::transfer::end_with(core::result<> how)
{
    end_.emplace(std::move(how));
    forget_deadline();
}

void exchange_client::transfer::tell()
{
    const auto self = shared_from_this();  // each call below may destroy the exchange
    const auto head = std::exchange(head_, std::nullopt);
    if (observer_ != nullptr && head) {
        observer_->headed(*head);
    }
    if (observer_ != nullptr && !piece_.empty()) {
        tell_piece();
    }
    if (observer_ != nullptr && end_) {
        std::exchange(observer_, nullptr)->ended(std::move(*end_));
    }
}

// Whoever never stops talking is left alone for a while: what it says waits in the system's buffers.
void exchange_client::transfer::tell_piece()
{
    const auto begun = clock::now();
    const auto piece = std::exchange(piece_, {});
    observer_->took(piece);
    const auto now = clock::now();
    const auto again = share_.spend(begun, now);
    if (observer_ != nullptr && !end_ && (paused_ || again > now)) {
        go_on_at(std::max(again, now));
    }
}

bool exchange_client::transfer::wants_body()
{
    return !(paused_ = paused_ || piece_.size() >= largest_piece);
}

void exchange_client::transfer::go_on_at(clock::time_point when)
{
    paused_ = true;
    forget_deadline();
    rest_.expires_at(when);
    rest_.async_wait([held = weak_from_this()](const boost::system::error_code& cancelled) {
        const auto self = held.lock();
        if (self != nullptr && !cancelled && self->observer_ != nullptr && !self->end_) {
            self->paused_ = false;
            self->await(self->streams_ ? self->request_.stream_timeout : self->request_.idle_timeout);
            self->engine_.driver.go_on(*self);
        }
    });
}

void exchange_client::transfer::await(core::duration patience)
{
    due_.reset();
    if (patience > core::duration::zero()) {
        const auto due = clock::now() + patience;
        due_ = due;
        if (!armed_ || due < timer_.expiry()) {
            arm(due);
        }
    }
}

// One wait at a time; a deadline that has moved on meanwhile is waited for again.
void exchange_client::transfer::arm(clock::time_point due)
{
    armed_ = true;
    timer_.expires_at(due);
    timer_.async_wait([held = weak_from_this()](const boost::system::error_code& cancelled) {
        const auto self = held.lock();
        if (self == nullptr || cancelled) {
            return;
        }
        self->armed_ = false;
        if (self->due_) {
            self->on_timer(*self->due_);
        }
    });
}

void exchange_client::transfer::on_timer(clock::time_point due)
{
    if (clock::now() < due) {
        arm(due);
        return;
    }
    engine_.driver.remove(*this);
    end_with(core::upstream_error(core::errc::upstream_timeout, "exchange: nothing came in time"));
    tell();
}

class exchange_client::running final : public exchange {
public:
    running(std::weak_ptr<engine> by, std::shared_ptr<transfer> transfer)
        : engine_{std::move(by)},
          transfer_{std::move(transfer)}
    {
    }
    ~running() override
    {
        transfer_->abandon();
        if (const auto engine = engine_.lock()) {
            engine->driver.remove(*transfer_);
        }
    }
    running(const running&) = delete;
    running& operator=(const running&) = delete;

private:
    std::weak_ptr<engine> engine_;
    std::shared_ptr<transfer> transfer_;
};

exchange_client::exchange_client(loop& on, std::string user_agent)
    : engine_{std::make_shared<engine>(on.io(), std::move(user_agent), &on.names())}
{
}

exchange_client::exchange_client(asio::io_context& io, std::string user_agent)
    : engine_{std::make_shared<engine>(io, std::move(user_agent), nullptr)}
{
}

exchange_client::~exchange_client() = default;

std::unique_ptr<exchange> exchange_client::start(exchange_request request, exchange_observer& observer)
{
    auto begun = std::make_shared<transfer>(*engine_, std::move(request), observer);
    begun->start();
    return std::make_unique<running>(engine_, std::move(begun));
}

}  // namespace net
