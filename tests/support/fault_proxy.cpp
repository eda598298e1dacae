#include "tests/support/fault_proxy.hpp"

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <future>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace test_support {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using error_code = boost::system::error_code;

enum class way : std::uint8_t { to_agent, to_caller };

void reset(tcp::socket& socket)
{
    error_code ignored;
    socket.set_option(asio::socket_base::linger{true, 0}, ignored);
    socket.close(ignored);
}

// A connection and the one to the agent that it is passed on to.
struct link {
    link(tcp::socket from, asio::io_context& io, std::uint64_t seed_of_it)
        : caller{std::move(from)},
          agent{io},
          seed{seed_of_it}
    {
    }

    void cut()
    {
        reset(caller);
        reset(agent);
    }

    void close()
    {
        for (auto* const socket : {&caller, &agent}) {
            error_code ignored;
            socket->shutdown(tcp::socket::shutdown_send, ignored);
            socket->close(ignored);
        }
    }

    tcp::socket caller;
    tcp::socket agent;
    std::uint64_t seed;
};

asio::awaitable<void> pause_for(std::chrono::milliseconds time)
{
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer{executor};
    timer.expires_after(time);
    error_code ignored;
    co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace

class fault_proxy::server {
public:
    server(std::uint16_t agent_port, const proxy_faults& faults, std::uint64_t seed)
        : agent_{asio::ip::address_v4::loopback(), agent_port},
          seed_{seed},
          acceptor_{io_}
    {
        bind(0);
        port = acceptor_.local_endpoint().port();
        acceptor_.close();
        bind(port);  // a port that was asked for stays bound while nobody listens
        listen();
        apply(faults);
        thread_ = std::thread{[this] { io_.run(); }};
    }

    ~server()
    {
        asio::post(io_, [this] {
            error_code ignored;
            acceptor_.close(ignored);
            cut_links();
            io_.stop();
        });
        thread_.join();
    }

    server(const server&) = delete;
    server& operator=(const server&) = delete;

    void set(const proxy_faults& faults)
    {
        std::promise<void> done;
        asio::post(io_, [this, &done, &faults] {
            apply(faults);
            done.set_value();
        });
        done.get_future().wait();
    }

    std::uint16_t port = 0;
    std::atomic<std::size_t> accepted{0};

private:
    void bind(std::uint16_t at)
    {
        acceptor_.open(tcp::v4());
        acceptor_.set_option(asio::socket_base::reuse_address{true});
        acceptor_.bind({asio::ip::address_v4::loopback(), at});
    }

    void listen()
    {
        acceptor_.listen();
        accept();
    }

    // The port stays its own meanwhile: nobody else gets it by chance.
    void stop_listening()
    {
        error_code ignored;
        acceptor_.cancel(ignored);
        ::shutdown(acceptor_.native_handle(), SHUT_RD);
    }

    void accept()
    {
        acceptor_.async_accept([this](error_code failed, tcp::socket socket) {
            if (failed) {
                return;
            }
            const auto number = accepted.fetch_add(1) + 1;
            begin(std::move(socket), number);
            accept();
        });
    }

    void begin(tcp::socket socket, std::size_t number)
    {
        error_code ignored;
        socket.set_option(tcp::no_delay{true}, ignored);
        auto both = std::make_shared<link>(std::move(socket), io_, seed_ + 2 * number);
        if (faults_.down || faults_.accepts == on_accept::reset) {
            both->cut();
        } else if (faults_.accepts == on_accept::close) {
            both->close();
        } else {
            std::erase_if(links_, [](const auto& each) { return each.expired(); });
            links_.push_back(both);
            if (faults_.accepts == on_accept::silence) {
                run(hold(std::move(both)));
            } else {
                run(connect(std::move(both), faults_.accept_delay));
            }
        }
    }

    void apply(const proxy_faults& faults)
    {
        const bool was_down = faults_.down;
        faults_ = faults;
        ++generation_;
        if (faults_.down && !was_down) {
            stop_listening();
        }
        if (faults_.down) {
            cut_links();
        } else if (was_down) {
            listen();
        }
    }

    void cut_links()
    {
        for (const auto& each : links_) {
            if (const auto both = each.lock()) {
                both->cut();
            }
        }
        links_.clear();
    }

    void run(asio::awaitable<void> work)
    {
        asio::co_spawn(io_, std::move(work), [](const std::exception_ptr& thrown) {
            if (thrown) {
                std::abort();  // a bug of the proxy: the test cannot mean anything
            }
        });
    }

    // Reads until the caller leaves, and answers nothing.
    static asio::awaitable<void> hold(std::shared_ptr<link> both)
    {
        std::string block(block_size, '\0');
        error_code failed;
        while (!failed) {
            co_await both->caller.async_read_some(
                asio::buffer(block),
                asio::redirect_error(asio::use_awaitable, failed)
            );
        }
    }

    asio::awaitable<void> connect(std::shared_ptr<link> both, std::chrono::milliseconds delay)
    {
        if (delay.count() > 0) {
            co_await pause_for(delay);
        }
        error_code failed;
        co_await both->agent.async_connect(agent_, asio::redirect_error(asio::use_awaitable, failed));
        if (failed || !both->caller.is_open()) {
            both->cut();
            co_return;
        }
        both->agent.set_option(tcp::no_delay{true}, failed);
        run(pump(both, way::to_agent));
        run(pump(both, way::to_caller));
    }

    const direction_faults& faults_of(way direction) const noexcept
    {
        return direction == way::to_agent ? faults_.to_agent : faults_.to_caller;
    }

    asio::awaitable<void> pump(std::shared_ptr<link> both, way direction)
    {
        auto& from = direction == way::to_agent ? both->caller : both->agent;
        auto& to = direction == way::to_agent ? both->agent : both->caller;
        const auto seed = both->seed + (direction == way::to_agent ? 0 : 1);
        auto known = generation_;
        fault_plan plan{faults_of(direction), seed};
        std::string block(block_size, '\0');
        error_code failed;
        bool shut = false;
        while (!failed) {
            if (plan.spent() && !break_off(*both, to, plan.faults().then, shut)) {
                co_return;
            }
            const auto size =
                co_await from.async_read_some(asio::buffer(block), asio::redirect_error(asio::use_awaitable, failed));
            if (known != generation_) {
                known = generation_;
                plan = fault_plan{faults_of(direction), seed};
            }
            const auto pieces = plan.take(std::string_view{block}.substr(0, size));
            for (const auto& piece : pieces) {
                if (piece.pause.count() > 0) {
                    co_await pause_for(piece.pause);
                }
                if (!failed) {
                    co_await asio::async_write(
                        to,
                        asio::buffer(piece.data),
                        asio::redirect_error(asio::use_awaitable, failed)
                    );
                }
            }
        }
        if (plan.faults().end_delay.count() > 0) {
            co_await pause_for(plan.faults().end_delay);
        }
        if (failed == asio::error::eof) {
            to.shutdown(tcp::socket::shutdown_send, failed);
        } else {
            both->cut();
        }
    }

    // False: the connections have ended.
    static bool break_off(link& both, tcp::socket& to, at_limit how, bool& shut)
    {
        error_code ignored;
        if (how == at_limit::reset) {
            both.cut();
        } else if (how == at_limit::close) {
            both.close();
        } else if (how == at_limit::half_close && !shut) {
            to.shutdown(tcp::socket::shutdown_send, ignored);
            shut = true;
        }
        return both.caller.is_open();
    }

    static constexpr std::size_t block_size = 16 * 1024;

    asio::io_context io_{1};
    asio::executor_work_guard<asio::io_context::executor_type> busy_{io_.get_executor()};
    tcp::endpoint agent_;
    std::uint64_t seed_;
    tcp::acceptor acceptor_;
    proxy_faults faults_;
    std::uint64_t generation_ = 0;  // of the faults
    std::vector<std::weak_ptr<link>> links_;
    std::thread thread_;
};

fault_proxy::fault_proxy(std::uint16_t agent_port, const proxy_faults& faults, std::uint64_t seed)
    : server_{std::make_unique<server>(agent_port, faults, seed)}
{
}

fault_proxy::~fault_proxy() = default;

std::uint16_t fault_proxy::port() const noexcept
{
    return server_->port;
}

std::string fault_proxy::url(std::string_view path) const
{
    return "http://127.0.0.1:" + std::to_string(server_->port) + std::string{path};
}

void fault_proxy::set(const proxy_faults& faults)
{
    server_->set(faults);
}

std::size_t fault_proxy::accepted_connections() const noexcept
{
    return server_->accepted.load();
}

}  // namespace test_support
