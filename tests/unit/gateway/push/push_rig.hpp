// A plane with a clock, a receiver, a store and faults of it, of which a test says what they do.
#pragma once

#include "gateway/push/push_plane.hpp"
#include "net/loop/signal.hpp"
#include "store/memory.hpp"
#include "tests/support/collected.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace push_test {

using namespace std::chrono_literals;
using core::errc;
using gateway::push::push_end;

// Answers each request with the next of its answers, and then always with the last. While it is silent, only when released.
class scripted_receiver final : public net::fetcher {
public:
    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request request) override
    {
        asked.push_back(std::move(request));
        auto answer = answers.front();
        if (answers.size() > 1) {
            answers.erase(answers.begin());
        }
        if (silent) {
            net::task_signal go;
            held_.push_back(&go);
            co_await go.wait();
        }
        co_return answer;
    }

    void release()
    {
        silent = false;
        for (auto* const each : std::exchange(held_, {})) {
            each->set();
        }
    }

    static core::result<net::fetch_response> status(unsigned code, std::string body = {})
    {
        return net::fetch_response{.status = code, .headers = {}, .body = std::move(body)};
    }

    std::vector<core::result<net::fetch_response>> answers{status(200)};
    std::vector<net::fetch_request> asked;
    bool silent = false;

private:
    std::vector<net::task_signal*> held_;
};

// Which of its functions fail.
struct store_faults {
    bool keep = false;
    bool read = false;
    bool drop = false;
    errc why = errc::store_failed;
};

inline core::error disk_error()
{
    return core::gateway_error(errc::store_failed, "the disk");
}

inline net::task<core::result<std::optional<std::uint64_t>>>
keep_now(store::engine& engine, bool fails, store::kept_delivery delivery)
{
    if (fails) {
        co_return disk_error();
    }
    co_return engine.keep_delivery(std::move(delivery));
}

inline net::task<core::result<std::optional<store::kept_delivery>>>
read_now(store::engine& engine, store_faults faults, std::uint64_t number)
{
    if (faults.read) {
        co_return core::gateway_error(faults.why, "the disk");
    }
    co_return engine.delivery(number);
}

inline net::task<core::result<>> drop_now(store::engine& engine, bool fails, std::uint64_t number)
{
    if (fails) {
        co_return disk_error();
    }
    co_return engine.drop_delivery(number);
}

inline net::task<core::result<std::string>> signed_text(bool fails, std::string text)
{
    if (fails) {
        co_return core::gateway_error(errc::internal, "no signature");
    }
    co_return text;
}

class kept_log final : public core::log_sink {
public:
    void write(std::string_view lines) override { text.append(lines) += '\n'; }

    std::string text;
};

inline const std::string old_task = R"({"kind":"task","id":"1","contextId":"c","status":{"state":"working"}})";
inline const std::string new_update =
    R"({"statusUpdate":{"taskId":"1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})";

struct push_rig {
    push_rig() { make_plane(); }

    ~push_rig()
    {
        receiver.release();
        turn();
    }

    // As a new process would.
    void make_plane()
    {
        plane.emplace(sweeps, services(), settings);
        plane->set_addresses(addresses);
        REQUIRE(plane->load(*records).has_value());
    }

    gateway::push::push_services services()
    {
        return {
            receiver,
            io.get_executor(),
            log,
            {[this](store::kept_delivery delivery) {
                 if (keep_throws) {
                     throw std::runtime_error{"a bug"};
                 }
                 return keep_now(*records, faults.keep, std::move(delivery));
             },
             [this](std::uint64_t number) { return read_now(*records, faults, number); },
             [this](std::uint64_t number) { return drop_now(*records, faults.drop, number); },
             shared},
            [this] { return now; },
            [this] { return clock; },
            [] { return 0.0; },
            jose::system_random,
            [this](const std::string& agent) {
                if (lookup_throws) {
                    throw std::runtime_error{"a bug"};
                }
                return agent == "a" ? entry : nullptr;
            },
            nullptr
        };
    }

    void set_contained(bool contained)
    {
        auto made = std::make_shared<gateway::model::containments>();
        made->agents.emplace("a", gateway::model::containment_terms{});
        plane->set_containments(contained ? std::move(made) : nullptr);
    }

    void turn()
    {
        io.restart();
        io.poll();
    }

    void pass(core::duration time)
    {
        now += time;
        clock += time;
        plane->on_sweep(now);
        turn();
    }

    // The id of the delivery, or the name of the failure.
    std::string accept(const std::string& body, const std::string& task = "1")
    {
        gateway::model::push_delivery delivery;
        delivery.agent = "a";
        delivery.address = addresses->seal("a", wanted);
        delivery.lane = gateway::model::push_lane("a", wanted, task);
        delivery.body = body;
        return accept(std::move(delivery));
    }

    std::string accept(gateway::model::push_delivery delivery)
    {
        std::optional<core::result<std::string>> place;
        net::asio::co_spawn(
            io.get_executor(),
            plane->accept(std::move(delivery)),
            [&place](const std::exception_ptr& thrown, core::result<std::string> id) {
                CHECK_FALSE(thrown);
                place.emplace(std::move(id));
            }
        );
        turn();
        REQUIRE(place.has_value());
        return place->has_value() ? place->value() : std::string{core::name(place->error().code)};
    }

    // A sample of the page of metrics.
    double metric(const std::string& series) const { return test_support::collected(*plane, series).value_or(-1); }
    double attempts(const std::string& outcome) const
    {
        return metric("cardea_push_attempts_total{outcome=\"" + outcome + "\"}");
    }
    double ended(push_end how) const { return attempts(std::string{name(how)}); }
    bool logged(std::string_view text) const { return sink.text.find(text) != std::string::npos; }

    net::asio::io_context io{1};
    core::steady_time now = core::steady_time{} + 1000s;
    core::wall_time clock{1'700'000'000s};
    config::settings settings;
    scripted_receiver receiver;
    kept_log sink;
    core::logger log{sink, core::log_level::debug};
    std::unique_ptr<store::engine> records = store::make_memory();
    store_faults faults;
    bool shared = false;  // of the next plane
    bool lookup_throws = false;
    bool keep_throws = false;
    std::vector<core::secret> keys{core::secret{std::string(jose::sealing_key_bytes, 'k')}};
    std::shared_ptr<const gateway::model::push_addresses> addresses =
        std::make_shared<const gateway::model::push_addresses>(jose::text_sealer{keys});
    gateway::model::push_receiver wanted{
        .url = "https://caller.test/hook",
        .token = R"("secret-token")",
        .authentication = {},
        .version = a2a::generation::v03,
        .proof = "p"
    };
    std::shared_ptr<const gateway::model::agent_entry> entry = [] {
        auto made = std::make_shared<gateway::model::agent_entry>();
        made->record.id = "a";
        made->call_url = "http://agent.test/";
        return made;
    }();
    net::deadlines sweeps{io};
    std::optional<gateway::push::push_plane> plane;
};

inline std::string field(const net::fetch_request& request, std::string_view name)
{
    for (const auto& [key, value] : request.headers) {
        if (key == name) {
            return value;
        }
    }
    return {};
}

}  // namespace push_test
