#include "tests/flow/running_gateway.hpp"

#include "core/url.hpp"
#include "gateway/lifecycle/open_store.hpp"
#include "gateway/wiring/server.hpp"
#include "tests/support/http2_front.hpp"
#include "tests/support/http_client.hpp"

#include <pthread.h>

#include <csignal>
#include <ctime>
#include <stdexcept>
#include <utility>

namespace flow {
namespace {

std::uint16_t port_of(const std::string& address)
{
    return static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
}

void use_fronts(std::vector<core::agent>& agents)
{
    for (auto& each : agents) {
        const auto url = core::http_url::parse(each.url);
        if (url && url->host == "127.0.0.1" && test_support::http2_front::has(port_of(url->origin()))) {
            each.http = core::http_version::v2;
        }
    }
}

}  // namespace

void kept_lines::write(std::string_view lines)
{
    {
        const std::lock_guard guard{mutex_};
        while (!lines.empty()) {
            const auto end = std::min(lines.find('\n'), lines.size());
            lines_.emplace_back(lines.substr(0, end));
            lines.remove_prefix(std::min(end + 1, lines.size()));
        }
    }
    changed_.notify_all();
}

std::vector<std::string> kept_lines::all() const
{
    const std::lock_guard guard{mutex_};
    return lines_;
}

std::optional<std::string>
kept_lines::wait_for(const std::function<bool(std::string_view line)>& wanted, std::chrono::milliseconds timeout) const
{
    std::unique_lock lock{mutex_};
    std::optional<std::string> found;
    changed_.wait_for(lock, timeout, [&] {
        for (const auto& line : lines_) {
            if (wanted(line)) {
                found = line;
                return true;
            }
        }
        return false;
    });
    return found;
}

core::agent a2a_agent(std::string id, std::string url)
{
    core::agent agent;
    agent.id = std::move(id);
    agent.url = std::move(url);
    return agent;
}

config::settings quick_settings()
{
    using namespace std::chrono_literals;
    config::settings settings;
    settings.listen.port = 0;
    settings.admin.port = 0;
    settings.workers = 1;
    settings.cards.timeout = 2s;
    settings.cards.background = 0;  // else a test could not tell whose fetch it sees
    settings.timeouts.upstream_head = 2s;
    settings.defaults.breaker.failures = 1'000'000;  // else a test of failures meets a breaker instead
    settings.defaults.breaker.volume = 1'000'000;
    settings.timeouts.drain = 2s;
    settings.timeouts.drain_idle = 50ms;
    settings.timeouts.drain_streams = 300ms;
    return settings;
}

running_gateway::running_gateway(
    config::settings settings,
    net::name_lookup lookup,
    std::function<std::chrono::milliseconds()> lag
)
    : logger_{live_, settings.log_level}
{
    std::signal(SIGPIPE, SIG_IGN);  // as main() does: a program of an MCP server may end while it is written to
    if (settings.store.empty()) {
        settings.store = "memory";
    }
    auto store = gateway::lifecycle::open_store(settings, nullptr, {}, logger_);
    if (!store) {
        throw std::runtime_error("the store did not open: " + store.error().detail);
    }
    start(std::move(settings), std::move(store->engine), std::move(lookup), std::move(lag));
}

running_gateway::running_gateway(config::settings settings, std::unique_ptr<store::engine> records)
    : logger_{live_, settings.log_level}
{
    std::signal(SIGPIPE, SIG_IGN);
    start(std::move(settings), std::move(records), {}, {});
}

void running_gateway::start(
    config::settings settings,
    std::unique_ptr<store::engine> records,
    net::name_lookup lookup,
    std::function<std::chrono::milliseconds()> lag
)
{
    use_fronts(settings.agents);
    server_ = std::make_unique<gateway::wiring::server>(
        std::move(settings),
        std::move(records),
        logger_,
        gateway::wiring::log_hooks{live_, {}, {}}
    );
    server_->set_overload_source([late = std::move(lag)] {
        return gateway::monitors::overload_sample{.lag = late ? late() : core::duration{}};
    });
    if (const auto started = server_->start(); !started) {
        throw std::runtime_error("the gateway did not start: " + started.error().detail);
    }
    if (lookup) {
        server_->names().set_lookup(std::move(lookup));
    }
    const auto& bound = server_->addresses();
    port_ = port_of(bound.traffic_address());
    admin_port_ = port_of(bound.admin_address());
    metrics_port_ = bound.metrics_address().empty() ? std::uint16_t{0} : port_of(bound.metrics_address());
    thread_ = std::thread{[this] {
        server_->run();
        {
            const std::lock_guard guard{mutex_};
            stopped_ = true;
        }
        changed_.notify_all();
    }};
}

running_gateway::~running_gateway()
{
    server_->stop();
    server_->stop();
    thread_.join();
}

void running_gateway::stop()
{
    server_->stop();
}

std::chrono::nanoseconds running_gateway::control_cpu_time()
{
    clockid_t clock{};
    timespec used{};
    if (pthread_getcpuclockid(thread_.native_handle(), &clock) != 0 || clock_gettime(clock, &used) != 0) {
        throw std::runtime_error("the thread of the control loop has no clock");
    }
    return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

bool running_gateway::wait_until_stopped(std::chrono::milliseconds timeout)
{
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, timeout, [this] { return stopped_; });
}

std::optional<double> running_gateway::metric(std::string_view series) const
{
    const auto page = test_support::request(admin_port_, "GET", "/metrics").body;
    const auto wanted = "\n" + std::string(series) + " ";
    const auto at = page.find(wanted);
    if (at == std::string::npos) {
        return std::nullopt;
    }
    return std::stod(page.substr(at + wanted.size()));
}

bool running_gateway::wait_for_metric(std::string_view series, double value) const
{
    const auto until = std::chrono::steady_clock::now() + test_support::patience;
    while (std::chrono::steady_clock::now() < until) {
        if (metric(series).value_or(-1) == value) {
            return true;
        }
    }
    return false;
}

}  // namespace flow
