#include "net/client/fetch.hpp"

#include "net/client/curl_driver.hpp"
#include "net/client/curl_transfer.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/cancellation_type.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <string_view>
#include <system_error>

namespace net {

namespace asio = boost::asio;

namespace {

constexpr const char* fetcher_ended = "fetch: the fetcher has ended";

}  // namespace

std::string_view fetch_response::field(std::string_view name) const noexcept
{
    const auto found = std::ranges::find(headers, name, &std::pair<std::string, std::string>::first);
    return found == headers.end() ? std::string_view{} : std::string_view{found->second};
}

core::duration fetch_response::retry_after() const noexcept
{
    const auto text = field("retry-after");
    std::uint32_t seconds = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool whole = read.ec == std::errc{} && read.ptr == text.data() + text.size();
    return whole ? std::chrono::seconds{seconds} : std::chrono::seconds{0};
}

class curl_fetcher::engine {
public:
    engine(asio::io_context& io, std::string user_agent, resolver* names)
        : user_agent_{std::move(user_agent)},
          driver_{io, names}
    {
    }
    ~engine()
    {
        for (const auto& [easy, transfer] : driver_.remove_all()) {
            abort(*transfer, fetcher_ended);
        }
    }
    engine(const engine&) = delete;
    engine& operator=(const engine&) = delete;

    void start(fetch_request request, fetch_completion waiting);

private:
    static void abort(curl_transfer& transfer, const char* why)
    {
        transfer.end_with(core::caller_error(core::errc::caller_gone, why));
    }

    std::string user_agent_;
    curl_driver driver_;
};

void curl_fetcher::engine::start(fetch_request request, fetch_completion waiting)
{
    auto begun = std::make_shared<curl_transfer>(std::move(request), user_agent_);
    if (auto refused = begun->prepare()) {
        complete(std::move(waiting), std::move(*refused));
        return;
    }
    const auto& kept = begun->waiting.emplace(std::move(waiting));
    if (const auto code = driver_.add(begun); code != CURLM_OK) {
        const auto kind = code == CURLM_OUT_OF_MEMORY ? core::errc::overloaded : core::errc::internal;
        begun->end_with(core::gateway_error(kind, curl_multi_strerror(code)));
        return;
    }
    if (auto slot = asio::get_associated_cancellation_slot(kept); slot.is_connected()) {
        slot.assign([this, held = std::weak_ptr{begun}](asio::cancellation_type) {
            if (const auto cancelled = held.lock()) {
                driver_.remove(*cancelled);
                abort(*cancelled, "fetch: cancelled");
            }
        });
    }
}

curl_fetcher::curl_fetcher(loop& on, std::string user_agent)
    : engine_{std::make_shared<engine>(on.io(), std::move(user_agent), &on.names())}
{
}

curl_fetcher::curl_fetcher(asio::io_context& io, std::string user_agent)
    : engine_{std::make_shared<engine>(io, std::move(user_agent), nullptr)}
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
