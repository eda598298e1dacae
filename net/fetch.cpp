#include "net/fetch.hpp"

#include "net/fetch_transfer.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <stdexcept>
#include <unordered_map>

namespace net {

namespace asio = boost::asio;

namespace {

using timer = asio::basic_waitable_timer<
    std::chrono::steady_clock,
    asio::wait_traits<std::chrono::steady_clock>,
    fetcher::executor_type>;

struct multi_deleter {
    void operator()(CURLM* multi) const noexcept { curl_multi_cleanup(multi); }
};

// A socket of libcurl's, for as long as libcurl wants to hear of it. Handlers hold it weakly: when they run, libcurl
// may be done with the socket and the fetcher may be gone.
struct watch {
    explicit watch(asio::io_context& io)
        : descriptor{io}
    {
    }
    ~watch() { leave(); }
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;

    // libcurl closes the socket, and may get the same number again before the handler that led here has returned.
    void leave()
    {
        if (descriptor.is_open()) {
            descriptor.release();
        }
    }

    asio::posix::basic_stream_descriptor<fetcher::executor_type> descriptor;
    int wanted = 0;   // CURL_POLL_IN | CURL_POLL_OUT
    int waiting = 0;  // likewise; an armed wait that is no longer wanted is left to run out
};

constexpr const char* fetcher_ended = "fetch: the fetcher has ended";

// Posted, so that whoever waits may destroy the fetcher without libcurl being on the stack.
void complete(fetch_completion waiting, fetch_result result)
{
    const auto executor = waiting.get_executor();
    asio::post(executor, [waiting = std::move(waiting), result = std::move(result)]() mutable {
        std::move(waiting)(std::move(result));
    });
}

}  // namespace

class curl_fetcher::engine {
public:
    engine(asio::io_context& io, std::string user_agent);
    ~engine();
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    void start(fetch_request request, fetch_completion waiting);

private:
    static int on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) noexcept;
    static int on_timer(CURLM*, long milliseconds, void* self) noexcept;
    void watch_socket(curl_socket_t socket, int what);
    void arm(const std::shared_ptr<watch>& watched, int direction);
    void act(curl_socket_t socket, int happened);
    void arm_timer(long milliseconds);
    void finish(CURL* easy, fetch_result result);

    asio::io_context& io_;
    std::string user_agent_;
    std::unique_ptr<CURLM, multi_deleter> multi_;
    // Shared only so that handlers can hold them weakly: what is gone is not acted upon.
    std::shared_ptr<timer> timer_;
    std::unordered_map<curl_socket_t, std::shared_ptr<watch>> watches_;
    std::unordered_map<CURL*, std::shared_ptr<fetch_transfer>> transfers_;
};

curl_fetcher::engine::engine(asio::io_context& io, std::string user_agent)
    : io_{io},
      user_agent_{std::move(user_agent)},
      timer_{std::make_shared<timer>(io)}
{
    static const CURLcode initialised = curl_global_init(CURL_GLOBAL_DEFAULT);
    multi_.reset(initialised == CURLE_OK ? curl_multi_init() : nullptr);
    if (multi_ == nullptr) {
        throw std::runtime_error{"libcurl does not initialise"};
    }
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETFUNCTION, &engine::on_socket);
    curl_multi_setopt(multi_.get(), CURLMOPT_SOCKETDATA, this);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERFUNCTION, &engine::on_timer);
    curl_multi_setopt(multi_.get(), CURLMOPT_TIMERDATA, this);
}

curl_fetcher::engine::~engine()
{
    while (!transfers_.empty()) {
        finish(transfers_.begin()->first, core::caller_error(core::errc::caller_gone, fetcher_ended));
    }
    multi_.reset();  // closes the kept connections, which calls on_socket
}

void curl_fetcher::engine::start(fetch_request request, fetch_completion waiting)
{
    auto begun = std::make_shared<fetch_transfer>(std::move(request), user_agent_);
    if (auto refused = begun->prepare()) {
        complete(std::move(waiting), std::move(*refused));
        return;
    }
    begun->waiting.emplace(std::move(waiting));
    auto* const easy = begun->easy();
    transfers_.emplace(easy, begun);
    if (const auto code = curl_multi_add_handle(multi_.get(), easy); code != CURLM_OK) {
        finish(easy, core::gateway_error(core::errc::internal, curl_multi_strerror(code)));
        return;
    }
    if (auto slot = asio::get_associated_cancellation_slot(*begun->waiting); slot.is_connected()) {
        slot.assign([this, held = std::weak_ptr{begun}](asio::cancellation_type) {
            if (const auto cancelled = held.lock()) {
                finish(cancelled->easy(), core::caller_error(core::errc::caller_gone, "fetch: cancelled"));
            }
        });
    }
}

void curl_fetcher::engine::finish(CURL* easy, fetch_result result)
{
    const auto found = transfers_.find(easy);
    const auto ended = std::move(found->second);
    transfers_.erase(found);
    curl_multi_remove_handle(multi_.get(), easy);
    complete(std::move(*ended->waiting), std::move(result));
}

int curl_fetcher::engine::on_socket(CURL*, curl_socket_t socket, int what, void* self, void*) noexcept
{
    static_cast<engine*>(self)->watch_socket(socket, what);
    return 0;
}

void curl_fetcher::engine::watch_socket(curl_socket_t socket, int what)
{
    if (what == CURL_POLL_REMOVE) {
        if (const auto gone = watches_.extract(socket)) {
            gone.mapped()->leave();
        }
        return;
    }
    auto& watched = watches_[socket];
    if (watched == nullptr) {
        watched = std::make_shared<watch>(io_);
        boost::system::error_code failed;
        watched->descriptor.assign(socket, failed);
        if (failed) {
            // Telling libcurl would end every transfer for good. Unwatched, this one ends by its deadline.
            watches_.erase(socket);
            return;
        }
    }
    watched->wanted = what;
    arm(watched, CURL_POLL_IN);
    arm(watched, CURL_POLL_OUT);
}

void curl_fetcher::engine::arm(const std::shared_ptr<watch>& watched, int direction)
{
    if ((watched->wanted & direction) == 0 || (watched->waiting & direction) != 0) {
        return;
    }
    watched->waiting |= direction;
    const auto until =
        direction == CURL_POLL_IN ? asio::posix::descriptor_base::wait_read : asio::posix::descriptor_base::wait_write;
    watched->descriptor.async_wait(
        until,
        [this, direction, held = std::weak_ptr{watched}](const boost::system::error_code& failed) {
            const auto ready = held.lock();
            if (ready == nullptr || !ready->descriptor.is_open()) {
                return;
            }
            ready->waiting &= ~direction;
            if ((ready->wanted & direction) == 0) {
                return;
            }
            const auto happened = direction == CURL_POLL_IN ? CURL_CSELECT_IN : CURL_CSELECT_OUT;
            act(ready->descriptor.native_handle(), failed ? CURL_CSELECT_ERR : happened);
            if (ready->descriptor.is_open()) {
                arm(ready, direction);
            }
        }
    );
}

int curl_fetcher::engine::on_timer(CURLM*, long milliseconds, void* self) noexcept
{
    static_cast<engine*>(self)->arm_timer(milliseconds);
    return 0;
}

void curl_fetcher::engine::arm_timer(long milliseconds)
{
    if (milliseconds < 0) {
        timer_->cancel();
        return;
    }
    timer_->expires_after(core::duration{milliseconds});
    timer_->async_wait([this, held = std::weak_ptr{timer_}](const boost::system::error_code& cancelled) {
        if (!cancelled && !held.expired()) {
            act(CURL_SOCKET_TIMEOUT, 0);
        }
    });
}

void curl_fetcher::engine::act(curl_socket_t socket, int happened)
{
    int running = 0;
    curl_multi_socket_action(multi_.get(), socket, happened, &running);
    int left = 0;
    while (const auto* const told = curl_multi_info_read(multi_.get(), &left)) {
        if (told->msg == CURLMSG_DONE) {
            auto* const easy = told->easy_handle;
            const auto code = told->data.result;  // `told` does not survive the removal
            finish(easy, transfers_.at(easy)->result(code));
        }
    }
}

curl_fetcher::curl_fetcher(asio::io_context& io, std::string user_agent)
    : engine_{std::make_shared<engine>(io, std::move(user_agent))}
{
}

curl_fetcher::~curl_fetcher() = default;

asio::awaitable<core::result<fetch_response>, fetcher::executor_type> curl_fetcher::fetch(fetch_request request)
{
    return fetch_by(engine_, std::move(request));
}

asio::awaitable<core::result<fetch_response>, fetcher::executor_type>
curl_fetcher::fetch_by(std::weak_ptr<engine> by, fetch_request request)
{
    co_return co_await asio::async_initiate<const fetch_token&, void(fetch_result)>(
        [](fetch_completion waiting, std::weak_ptr<engine> held, fetch_request wanted) {
            if (const auto live = held.lock()) {
                live->start(std::move(wanted), std::move(waiting));
            } else {
                complete(std::move(waiting), core::caller_error(core::errc::caller_gone, fetcher_ended));
            }
        },
        fetch_token{},
        std::move(by),
        std::move(request)
    );
}

}  // namespace net
