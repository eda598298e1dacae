// Work on one card as the gateway does it: by its own card_editor, on a loop of which each step is timed. What the loop does
// between two looks at its queue is a piece of work, which is what others wait for.
#pragma once

#include "gateway/cards/card_editor.hpp"
#include "net/client/fetch.hpp"
#include "net/loop/types.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

namespace bench {

// CPU time of this thread, in milliseconds.
inline double thread_time()
{
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

struct work_times {
    double all = 0;
    double longest = 0;  // of the pieces
};

// The least of both: other work on the machine only adds.
inline work_times least(const work_times& a, const work_times& b)
{
    return {std::min(a.all, b.all), std::min(a.longest, b.longest)};
}

// No key set is fetched here.
class no_fetcher final : public net::fetcher {
public:
    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request) override
    {
        co_return core::upstream_error(core::errc::upstream_refused);
    }
};

class card_workshop {
public:
    card_workshop(const config::card_settings& settings, std::shared_ptr<const gateway::cards::card_signer> signer)
        : editor_{io_, fetcher_, settings}
    {
        editor_.start(std::move(signer), "http://gateway");
    }

    gateway::cards::card_editor& editor() noexcept { return editor_; }

    // What the work, which the editor was asked for, comes to; and how long it took.
    template <class T>
    std::pair<T, work_times> done(net::task<T> work)
    {
        std::optional<T> came;
        work_times times;
        net::asio::co_spawn(io_, keep(std::move(work), &came), net::asio::detached);
        io_.restart();
        for (;;) {
            const auto begun = thread_time();
            if (io_.run_one() == 0) {
                break;
            }
            const auto took = thread_time() - begun;
            times.all += took;
            times.longest = std::max(times.longest, took);
        }
        return {std::move(*came), times};  // NOLINT(bugprone-unchecked-optional-access): it has run to its end
    }

private:
    template <class T>
    static net::task<> keep(net::task<T> work, std::optional<T>* into)
    {
        into->emplace(co_await std::move(work));
    }

    net::asio::io_context io_{1};
    no_fetcher fetcher_;
    gateway::cards::card_editor editor_;
};

}  // namespace bench
