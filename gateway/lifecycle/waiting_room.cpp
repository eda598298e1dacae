#include "gateway/lifecycle/waiting_room.hpp"

#include "gateway/lifecycle/service_reports.hpp"
#include "gateway/responses/answer.hpp"
#include "gateway/worker/worker.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/basic_signal_set.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace gateway::lifecycle {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds quick_start{1000};  // of a store that answers: nobody needs to hear of it
constexpr milliseconds first_pause{100};
constexpr milliseconds longest_pause{5000};
constexpr milliseconds callers_left{1000};  // who have connected meanwhile
constexpr milliseconds look_again{10};
constexpr milliseconds last_attempt{1500};  // that is under way when the process is told to end
constexpr milliseconds logged{200};

// Tries to open the store on a thread of its own.
class store_opener {
public:
    explicit store_opener(const store_wait& with)
        : with_{with},
          thread_{[this](const std::stop_token& stopped) {
              run(stopped);
              const std::lock_guard lock{mutex_};
              ended_ = true;
              changed_.notify_all();
          }}
    {
    }

    // Waits until the store is open or cannot be, but not for attempts that follow a failure. True: take() has the outcome.
    bool opens_quickly()
    {
        std::unique_lock lock{mutex_};
        if (!changed_.wait_for(lock, quick_start, [this] { return outcome_ || failed_; })) {
            with_.log
                .write(core::log_level::warn, "store_waiting", {{"reason", "store: is slow to answer, or locked"}});
        }
        return outcome_.has_value();
    }

    // `done` is called once, on any thread, when the store is open or cannot be; perhaps at once.
    void when_done(std::function<void()> done)
    {
        const std::lock_guard guard{mutex_};
        if (outcome_) {
            done();
        }
        done_ = std::move(done);
    }

    // Begins no attempt any more. True: none is under way, perhaps after some time.
    bool stop(milliseconds patience)
    {
        thread_.request_stop();
        std::unique_lock lock{mutex_};
        return changed_.wait_for(lock, patience, [this] { return ended_; });
    }

    // Ends the attempts after the one that is under way. Nobody hears how that one ends.
    void join()
    {
        if (thread_.joinable()) {
            thread_.request_stop();
            thread_.join();
        }
    }

    // The outcome of the last attempt.
    core::result<opened_store> take()
    {
        join();
        if (!outcome_) {
            return core::gateway_error(core::errc::store_unreachable, "store: was not waited for");
        }
        return std::move(*outcome_);
    }

private:
    void run(const std::stop_token& stopped)
    {
        std::minstd_rand random{std::random_device{}()};
        std::string said;
        for (auto pause = first_pause; !stopped.stop_requested(); pause = std::min(2 * pause, longest_pause)) {
            auto opened = with_.open();
            std::unique_lock lock{mutex_};
            if (opened || opened.error().code != core::errc::store_unreachable) {
                outcome_ = std::move(opened);
                changed_.notify_all();
                if (done_) {
                    done_();
                }
                return;
            }
            failed_ = true;
            changed_.notify_all();
            if (const auto& reason = opened.error().detail; reason != said) {
                said = reason;
                with_.log.write(core::log_level::warn, "store_waiting", {{"reason", said}});
            }
            const milliseconds part{std::uniform_int_distribution{milliseconds::rep{0}, pause.count()}(random)};
            changed_.wait_for(lock, stopped, part, [] { return false; });
        }
    }

    const store_wait& with_;
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool failed_ = false;
    bool ended_ = false;
    std::optional<core::result<opened_store>> outcome_;
    std::function<void()> done_;
    std::jthread thread_;  // last: it uses the others
};

// Serves the addresses meanwhile. On the thread of run(), but for done().
class waiting_room final : private net::http_handler {
public:
    explicit waiting_room(const store_wait& with)
        : log_{with.log},
          shared_{with.settings},
          loop_{shared_.names},
          service_{loop_, *this, worker::connection_settings(with.settings, shared_)},
          addresses_{loop_, with.settings, shared_, with.log},
          reports_{loop_.get_executor(), with.log},
          signals_{loop_.get_executor(), SIGTERM, SIGINT, SIGHUP},
          timer_{loop_.get_executor()}
    {
        reports_.set_manager(with.manager);
    }

    core::result<> open(inherited_listeners sockets)
    {
        auto opened = addresses_.open({&service_}, *this, *this, std::move(sockets));
        return opened ? addresses_.start_tls([this](const net::tls_context& tls) { service_.set_tls(tls); }) : opened;
    }

    // Until done(), or a signal: then false.
    bool run()
    {
        addresses_.start();
        reports_.serving({[] { return service_state{.waits = true}; }, {&loop_.timers().pulse()}});
        wait_for_signal();
        loop_.run();
        return !told_to_stop_;
    }

    // Any thread.
    void done()
    {
        net::asio::post(loop_.get_executor(), [this] { end(); });
    }

    inherited_listeners take_sockets() { return std::move(sockets_); }

private:
    net::routine<> handle(net::caller_exchange& caller) override
    {
        const auto& head = caller.head();
        const bool reads = head.verb == net::http1::method::get || head.verb == net::http1::method::head;
        auto reply = responses::error_answer(core::errc::store_unreachable, {}, /*retry_after=*/1);
        if (reads && head.target.substr(0, head.target.find('?')) == "/healthz") {
            reply = {};
            reply.content_type = "text/plain; charset=utf-8";
            reply.fields = "Cache-Control: no-store\r\n";
            reply.body = "alive\n";
        }
        co_await responses::send_answer(caller, std::move(reply));
    }

    net::routine<> refuse(net::caller_exchange& caller, core::error why) override
    {
        auto reply = responses::error_answer(why.code, {});
        co_await responses::send_answer(caller, std::move(reply));
    }

    void failed(std::string_view problem) noexcept override
    {
        log_.write(core::log_level::error, "internal_error", {{"where", "waiting"}, {"what", problem}});
    }

    void on_handshake(net::handshake /*how*/, std::string_view /*peer*/, std::string_view /*why*/) noexcept override {}

    void wait_for_signal()
    {
        signals_.async_wait([this](net::error_code ec, int number) {
            if (ec) {
                return;
            }
            log_.write(core::log_level::info, "signal", {{"number", number}});
            if (number == SIGHUP) {
                wait_for_signal(
                );  // the configuration was read at the start, and is read again once the gateway serves
                return;
            }
            told_to_stop_ = true;
            end();
        });
    }

    void end()
    {
        if (std::exchange(ending_, true)) {
            return;
        }
        sockets_ = addresses_.share();
        addresses_.close();
        // Behind those who were accepted and are not served yet.
        net::asio::post(loop_.get_executor(), [this] {
            service_.drain();
            addresses_.end_operators();
            leave(std::chrono::steady_clock::now() + callers_left);
        });
    }

    void leave(core::steady_time latest)
    {
        if ((service_.open() > 0 || addresses_.busy()) && std::chrono::steady_clock::now() < latest) {
            timer_.expires_after(look_again);
            timer_.async_wait([this, latest](net::error_code) { leave(latest); });
            return;
        }
        service_.abort();
        addresses_.end();
        addresses_.certificates().stop();
        reports_.end();
        signals_.cancel();
        loop_.stop();
    }

    using timer = net::asio::basic_waitable_timer<
        std::chrono::steady_clock,
        net::asio::wait_traits<std::chrono::steady_clock>,
        net::executor>;

    const core::logger& log_;
    worker::shared_limits shared_;
    net::loop loop_;
    net::http_service service_;
    listeners addresses_;
    service_reports reports_;
    net::asio::basic_signal_set<net::executor> signals_;
    timer timer_;
    inherited_listeners sockets_;
    bool ending_ = false;
    bool told_to_stop_ = false;
};

}  // namespace

core::result<awaited_store> await_store(const store_wait& with, inherited_listeners sockets)
{
    awaited_store out;
    store_opener opener{with};
    if (opener.opens_quickly()) {
        out.sockets = std::move(sockets);
    } else {
        waiting_room room{with};
        if (auto listening = room.open(std::move(sockets)); !listening) {
            return std::move(listening).error();
        }
        opener.when_done([&room] { room.done(); });
        if (!room.run()) {
            with.log.write(core::log_level::info, "stopped");
            if (!opener.stop(last_attempt)) {
                std::this_thread::sleep_for(logged);
                std::_Exit(EXIT_SUCCESS
                );  // a lookup of names, or a lock of the schema, may take longer than anybody waits
            }
            return out;
        }
        opener.join();  // the room lives until then: it may be told
        out.sockets = room.take_sockets();
    }
    auto opened = opener.take();
    if (!opened) {
        return std::move(opened).error();
    }
    out.store = std::move(*opened);
    return out;
}

}  // namespace gateway::lifecycle
