// Push notifications that agents bring to changing replicas, each of which is killed once: all arrive, those of a task in their order.
#include "core/url.hpp"
#include "tests/flow/restart_load.hpp"
#include "tests/replicas/faults.hpp"
#include "tests/replicas/rig.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

TEST_SUITE_BEGIN("replicas/push");

using namespace replicas;
using core::json;
using test_support::http_client;
using test_support::plain_exchange;

namespace {

using clock_type = std::chrono::steady_clock;

constexpr std::size_t threads = 5;
constexpr auto all_arrive_in = 45s;  // the rows of a replica that was killed wait for 15 s
constexpr auto under_way = 1s;       // before a kill

// Of one delivery.
struct arrival {
    std::string id;
    clock_type::time_point at;
};

class receiver {
public:
    std::string url() const { return server_.url("/hook"); }

    std::vector<arrival> all() const
    {
        const std::lock_guard guard{mutex_};
        return arrivals_;
    }

    std::set<std::string> ids() const
    {
        std::set<std::string> out;
        for (const auto& each : all()) {
            out.insert(each.id);
        }
        return out;
    }

private:
    bool take(const plain_exchange& got)
    {
        const std::string name = "Cardea-Delivery: ";
        const auto from = got.head.find(name) + name.size();
        {
            const std::lock_guard guard{mutex_};
            arrivals_.push_back({got.head.substr(from, got.head.find('\r', from) - from), clock_type::now()});
        }
        std::this_thread::sleep_for(3ms);
        return got.write("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }

    mutable std::mutex mutex_;
    std::vector<arrival> arrivals_;
    test_support::plain_agent server_{[this](const plain_exchange& got) { return take(got); }};
};

// What the agent was given for a task instead of the receiver's address.
struct hook {
    std::string target;
    std::string token;
};

struct accepted {
    std::size_t task = 0;
    std::size_t number = 0;
    std::string id;
};

class agents {
public:
    agents(const rig& x, std::size_t tasks, std::size_t each)
        : x_{x},
          each_{each}
    {
        const auto told = manager{x.members[0]->admin()}.ask(
            "agents/upsert",
            R"({"id":"p","agent":{"url":")" + server_.url("/rpc") + R"(","card":{"name":"P"}}})"
        );
        REQUIRE_MESSAGE(told.code == "", told.code);
        REQUIRE(wait_until([&] { return x.agree() && list_of(*x.members[2])->contains("p"); }, 2s));
        for (std::size_t i = 0; i < tasks; ++i) {
            hooks_.push_back(register_task(i));
        }
    }

    // Each notification until a replica has taken it.
    void send_all()
    {
        std::vector<std::thread> senders;
        for (std::size_t i = 0; i < threads; ++i) {
            senders.emplace_back([this, i] { send(i); });
        }
        for (auto& each : senders) {
            each.join();
        }
    }

    const std::vector<accepted>& taken() const noexcept { return taken_; }  // in the order of each task

    receiver receiver_of_all;

private:
    hook register_task(std::size_t task)
    {
        const json body{
            {"jsonrpc", "2.0"},
            {"id", 1},
            {"method", "CreateTaskPushNotificationConfig"},
            {"params", {{"taskId", std::to_string(task)}, {"url", receiver_of_all.url()}}}
        };
        const auto& at = *x_.members[task % x_.members.size()];
        const auto answer = test_support::request(
            at.traffic(),
            "POST",
            "/agents/p",
            {{"Content-Type", "application/json"}},
            body.dump()
        );
        REQUIRE_MESSAGE(answer.status == 200, answer.body);
        const auto given = json::parse(server_.requests().back().body).at("params");
        return {
            core::http_url::parse(given.at("url").get<std::string>()).value().path,
            given.at("token").get<std::string>()
        };
    }

    void send(std::size_t thread)
    {
        std::mt19937 random{static_cast<unsigned>(thread)};
        for (std::size_t number = 0; number < each_; ++number) {
            for (auto task = thread; task < hooks_.size(); task += threads) {
                while (!notify(task, number, *x_.members[random() % x_.members.size()])) {
                    std::this_thread::sleep_for(20ms);
                }
                std::this_thread::sleep_for(std::chrono::milliseconds{random() % 30});
            }
        }
    }

    bool notify(std::size_t task, std::size_t number, const replica& at)
    {
        const auto body = R"({"task":{"id":")" + std::to_string(task) +
                          R"(","status":{"state":"TASK_STATE_WORKING"},"metadata":{"number":)" +
                          std::to_string(number) + "}}}";
        try {
            http_client caller{at.traffic(), 5s};
            caller.send(test_support::request_text(
                "POST",
                hooks_[task].target,
                {{"Content-Type", "application/json"}, {"X-A2A-Notification-Token", hooks_[task].token}},
                body
            ));
            const auto told = caller.read_response();
            if (told.status != 202) {
                return false;
            }
            const std::lock_guard guard{mutex_};
            taken_.push_back({task, number, told.header("Cardea-Delivery")});
            return true;
        } catch (const std::runtime_error&) {
            return false;
        }
    }

    const rig& x_;
    std::size_t each_;
    std::vector<hook> hooks_;
    std::mutex mutex_;
    std::vector<accepted> taken_;
    test_support::scripted_agent server_{[](const auto&) {
        return test_support::answer_json(R"({"jsonrpc":"2.0","id":1,"result":{}})");
    }};
};

// How many arrived again; each of them was under way when a replica was killed.
std::size_t check_doubles(const std::vector<arrival>& all, const std::vector<clock_type::time_point>& kills)
{
    std::map<std::string, clock_type::time_point> first;
    std::size_t doubles = 0;
    for (const auto& each : all) {
        const auto [there, added] = first.emplace(each.id, each.at);
        if (!added) {
            ++doubles;
            CHECK(std::ranges::any_of(kills, [&](auto kill) {
                return there->second > kill - under_way && there->second < kill + 50ms;
            }));
        }
    }
    return doubles;
}

void check_order(const std::vector<arrival>& all, const std::vector<accepted>& taken, std::size_t tasks)
{
    std::map<std::string, const accepted*> known;
    for (const auto& each : taken) {
        known[each.id] = &each;
    }
    std::vector<std::size_t> next(tasks);
    std::set<std::string> seen;
    for (const auto& each : all) {
        const auto found = known.find(each.id);
        if (found == known.end() || !seen.insert(each.id).second) {
            continue;  // taken, but its answer was lost; or again
        }
        auto& expected = next[found->second->task];
        CHECK(found->second->number == expected);
        expected = found->second->number + 1;
    }
}

}  // namespace

TEST_CASE(
    "notifications that changing replicas took arrive although each was killed once, those of a task in their order"
)
{
    const auto notifications = flow::number_from("CARDEA_REPLICAS_PUSHES", 200);
    const auto tasks = notifications / 20;
    shared_store store{3};
    rig x{
        3,
        [&](auto i) { return store.url(i); },
        "push: mediate\npush_allow: [127.0.0.0/8]\nlimits: {push_queue: 100000, push_queue_agent: 100000}\n"
    };
    agents p{x, tasks, 20};
    std::thread sending{[&] { p.send_all(); }};
    std::vector<clock_type::time_point> kills;
    for (const auto& each : x.members) {
        std::this_thread::sleep_for(std::chrono::milliseconds{notifications});
        each->kill();
        kills.push_back(clock_type::now());
        each->start();
    }
    sending.join();
    CHECK(p.taken().size() == notifications);
    const auto all_there = [&] {
        const auto ids = p.receiver_of_all.ids();
        return std::ranges::all_of(p.taken(), [&](const auto& each) { return ids.contains(each.id); });
    };
    const auto took = wait_until(all_there, all_arrive_in);
    CHECK(took);
    const auto arrived = p.receiver_of_all.all();
    check_order(arrived, p.taken(), tasks);
    const auto doubles = check_doubles(arrived, kills);
    MESSAGE(
        p.taken().size() << " notifications of " << tasks << " tasks, all there " << took.value_or(-1ms).count()
                         << " ms after the last, " << doubles << " arrived again"
    );
}

TEST_SUITE_END();
