#include "gateway/push/push_plane.hpp"

#include "net/loop/task_signal.hpp"
#include "store/memory.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/push_plane");

namespace {

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
};

core::error disk_error()
{
    return core::gateway_error(errc::store_failed, "the disk");
}

net::task<core::result<std::uint64_t>> keep_now(store::engine& engine, bool fails, store::kept_delivery delivery)
{
    if (fails) {
        co_return disk_error();
    }
    co_return engine.keep_delivery(std::move(delivery));
}

net::task<core::result<std::optional<store::kept_delivery>>>
read_now(store::engine& engine, bool fails, std::uint64_t number)
{
    if (fails) {
        co_return disk_error();
    }
    co_return engine.delivery(number);
}

net::task<core::result<>> drop_now(store::engine& engine, bool fails, std::uint64_t number)
{
    if (fails) {
        co_return disk_error();
    }
    co_return engine.drop_delivery(number);
}

class kept_log final : public core::log_sink {
public:
    void write(std::string_view lines) override { text.append(lines) += '\n'; }

    std::string text;
};

const std::string old_task = R"({"kind":"task","id":"1","contextId":"c","status":{"state":"working"}})";
const std::string new_update =
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
            {[this](store::kept_delivery delivery) { return keep_now(*records, faults.keep, std::move(delivery)); },
             [this](std::uint64_t number) { return read_now(*records, faults.read, number); },
             [this](std::uint64_t number) { return drop_now(*records, faults.drop, number); }},
            [this] { return now; },
            [this] { return clock; },
            [] { return 0.0; },
            jose::system_random,
            [this](const std::string& agent) { return agent == "a" ? entry : nullptr; }
        };
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
        delivery.lane = gateway::model::push_lane("a", wanted.url, task);
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

    std::uint64_t ended(push_end how) const { return plane->facts().ended[static_cast<std::size_t>(how)]; }
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

std::string field(const net::fetch_request& request, std::string_view name)
{
    for (const auto& [key, value] : request.headers) {
        if (key == name) {
            return value;
        }
    }
    return {};
}

}  // namespace

TEST_CASE("a notification is in the store once it is accepted, goes out once, and leaves the store")
{
    push_rig x;
    const auto id = x.accept(old_task);
    CHECK(id.size() == 22);
    CHECK(x.records->deliveries()->size() == 1);
    CHECK(x.receiver.asked.empty());
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 1);
    CHECK(x.receiver.asked[0].url == "https://caller.test/hook");
    CHECK(x.receiver.asked[0].body == old_task);
    CHECK(field(x.receiver.asked[0], "Cardea-Delivery") == id);
    CHECK(field(x.receiver.asked[0], "X-A2A-Notification-Token") == "secret-token");
    CHECK(x.records->deliveries()->empty());
    CHECK(x.ended(push_end::delivered) == 1);
    CHECK(x.plane->facts().waiting == 0);
    x.pass(1h);
    CHECK(x.receiver.asked.size() == 1);
    CHECK_FALSE(x.logged("secret-token"));
}

TEST_CASE("a notification that fails is repeated with the same id after 1, 2 and 4 seconds")
{
    push_rig x;
    x.receiver.answers = {
        scripted_receiver::status(500),
        core::upstream_error(errc::upstream_refused),
        scripted_receiver::status(429),
        scripted_receiver::status(204)
    };
    const auto id = x.accept(old_task);
    x.pass(0s);
    for (const auto& [wait, attempts] : std::vector<std::pair<core::duration, std::size_t>>{
             {999ms, 1},
             {1ms, 2},
             {1999ms, 2},
             {1ms, 3},
             {3999ms, 3},
             {1ms, 4},
             {1h, 4}
         }) {
        x.pass(wait);
        CHECK(x.receiver.asked.size() == attempts);
    }
    for (const auto& each : x.receiver.asked) {
        CHECK(field(each, "Cardea-Delivery") == id);
    }
    CHECK(x.plane->facts().repeated == 3);
    CHECK(x.ended(push_end::delivered) == 1);
    CHECK_FALSE(x.logged("push_failed"));
}

TEST_CASE("notifications of one task keep their order, and those of another task do not wait for them")
{
    push_rig x;
    x.receiver.answers = {scripted_receiver::status(500), scripted_receiver::status(200)};
    const auto first = x.accept(old_task);
    const auto second = x.accept(old_task);
    x.now += 1ms;  // so that the first is due first
    const auto other = x.accept(old_task, "2");
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 2);
    CHECK(field(x.receiver.asked[0], "Cardea-Delivery") == first);
    CHECK(field(x.receiver.asked[1], "Cardea-Delivery") == other);
    x.pass(1s);
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 4);
    CHECK(field(x.receiver.asked[2], "Cardea-Delivery") == first);
    CHECK(field(x.receiver.asked[3], "Cardea-Delivery") == second);
}

TEST_CASE("a receiver that refuses, redirects or may not be reached ends the delivery, and operators are told")
{
    for (const auto& [answer, end, detail] :
         std::vector<std::tuple<core::result<net::fetch_response>, push_end, std::string>>{
             {scripted_receiver::status(404), push_end::rejected, "status 404"},
             {scripted_receiver::status(307), push_end::redirected, "status 307"},
             {core::upstream_error(errc::upstream_forbidden, "10.0.0.1"), push_end::forbidden, "upstream_forbidden"},
         }) {
        push_rig x;
        x.receiver.answers = {answer};
        const auto id = x.accept(old_task);
        x.pass(0s);
        x.pass(1h);
        CHECK(x.receiver.asked.size() == 1);
        CHECK(x.ended(end) == 1);
        CHECK(x.records->deliveries()->empty());
        CHECK(x.logged(R"("event":"push_failed")"));
        CHECK(x.logged(R"("reason":")" + std::string{name(end)} + '"'));
        CHECK(x.logged(R"("detail":")" + detail + '"'));
        CHECK(x.logged(id));
        CHECK_FALSE(x.logged("caller.test"));
    }
}

TEST_CASE("a delivery ends with the last attempt of the limit")
{
    for (const std::uint64_t most : {1U, 2U, 3U}) {
        CAPTURE(most);
        push_rig x;
        x.settings.limits.push_attempts = most;
        x.receiver.answers = {scripted_receiver::status(500)};
        x.accept(old_task);
        for (std::uint64_t i = 1; i <= most; ++i) {
            CHECK(x.ended(push_end::exhausted) == 0);
            x.pass(5min);
            CHECK(x.receiver.asked.size() == i);
        }
        CHECK(x.ended(push_end::exhausted) == 1);
        x.pass(1h);
        CHECK(x.receiver.asked.size() == most);
        CHECK(x.records->deliveries()->empty());
    }
}

TEST_CASE("a delivery ends with the attempt that fails at the age of the limit, and not before")
{
    for (const auto& [age, expired] : {std::pair{1h - 1ms, false}, {core::duration{1h}, true}, {1h + 1ms, true}}) {
        CAPTURE(age.count());
        push_rig x;
        x.settings.timeouts.push_age = 1h;
        x.receiver.answers = {scripted_receiver::status(500)};
        x.accept(old_task);
        x.pass(age);
        CHECK(x.receiver.asked.size() == 1);
        CHECK(x.ended(push_end::expired) == (expired ? 1 : 0));
        CHECK(x.plane->facts().waiting == (expired ? 0 : 1));
    }
}

TEST_CASE("what was not delivered is delivered by the next process, with its id and in its order")
{
    push_rig x;
    x.receiver.answers = {scripted_receiver::status(500)};
    const auto first = x.accept(old_task);
    const auto second = x.accept(old_task);
    x.pass(0s);
    x.make_plane();
    x.receiver.answers = {scripted_receiver::status(200)};
    x.receiver.asked.clear();
    CHECK(x.plane->facts().waiting == 2);
    x.pass(0s);
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 2);
    CHECK(field(x.receiver.asked[0], "Cardea-Delivery") == first);
    CHECK(field(x.receiver.asked[1], "Cardea-Delivery") == second);
    CHECK(x.records->deliveries()->empty());
}

TEST_CASE("what is under way when the gateway stops stays in the store, unless it was delivered")
{
    for (const bool delivered : {true, false}) {
        CAPTURE(delivered);
        push_rig x;
        x.receiver.silent = true;
        x.receiver.answers = {
            delivered ? scripted_receiver::status(200) : core::caller_error(errc::caller_gone, "the fetcher has ended")
        };
        x.accept(old_task);
        x.pass(0s);
        CHECK(x.plane->busy());
        x.plane->stop();
        CHECK(x.accept(old_task) == "draining");
        x.receiver.release();
        x.turn();
        CHECK_FALSE(x.plane->busy());
        CHECK(x.records->deliveries()->size() == (delivered ? 0 : 1));
        CHECK_FALSE(x.logged("push_failed"));
        x.pass(1h);
        CHECK(x.receiver.asked.size() == 1);
    }
}

TEST_CASE("a notification is not accepted if the store does not take it, and takes no place then")
{
    push_rig x;
    x.settings.limits.push_queue = 1;
    x.make_plane();
    x.faults.keep = true;
    CHECK(x.accept(old_task) == "store_failed");
    x.faults.keep = false;
    CHECK(x.accept(old_task).size() == 22);
    CHECK(x.accept(old_task) == "overloaded");
}

TEST_CASE("a store that cannot be read has a delivery repeated, and one that cannot be written has it made again later")
{
    push_rig x;
    x.accept(old_task);
    x.faults.read = true;
    x.pass(0s);
    CHECK(x.receiver.asked.empty());
    CHECK(x.plane->facts().repeated == 1);
    x.faults = {.drop = true};
    x.pass(1s);
    CHECK(x.receiver.asked.size() == 1);
    CHECK(x.logged("push_persist_failed"));
    CHECK(x.plane->facts().waiting == 0);
    x.faults = {};
    x.make_plane();
    x.pass(0s);
    CHECK(x.receiver.asked.size() == 2);
    CHECK(x.records->deliveries()->empty());
}

TEST_CASE("an address that no key opens and a body that is no notification end their deliveries")
{
    push_rig x;
    x.accept({.agent = "a", .address = "AAAA", .lane = "1", .body = old_task});
    x.accept("not json", "2");
    x.pass(0s);
    CHECK(x.receiver.asked.empty());
    CHECK(x.ended(push_end::unreadable) == 2);
    CHECK(x.records->deliveries()->empty());
}

TEST_CASE("nothing goes out while addresses cannot be opened, or for an agent that is not served")
{
    push_rig x;
    x.plane->set_addresses(nullptr);
    x.accept(old_task);
    x.pass(1h);
    CHECK(x.receiver.asked.empty());
    CHECK(x.plane->facts().repeated == 0);
    x.plane->set_addresses(x.addresses);
    const auto served = std::exchange(x.entry, nullptr);
    x.pass(0s);
    CHECK(x.receiver.asked.empty());
    CHECK(x.plane->facts().repeated == 1);
    x.entry = served;
    x.pass(1s);
    CHECK(x.receiver.asked.size() == 1);
}

TEST_CASE("a caller of 1.0 gets the task of an agent of 0.3 in its own form")
{
    push_rig x;
    x.wanted.version = a2a::generation::v1;
    x.accept(old_task);
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 1);
    CHECK(x.receiver.asked[0].body == R"({"task":{"id":"1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})");
}

TEST_CASE("a caller of 0.3 gets the whole task for an update of 1.0, which the agent is asked for")
{
    push_rig x;
    x.receiver.answers = {
        scripted_receiver::status(503),
        scripted_receiver::status(
            200,
            R"({"jsonrpc":"2.0","id":1,"result":{"id":"1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})"
        ),
        scripted_receiver::status(200)
    };
    x.accept(new_update);
    x.pass(0s);
    CHECK(x.receiver.asked.size() == 1);
    CHECK(x.plane->facts().repeated == 1);
    x.pass(1s);
    REQUIRE(x.receiver.asked.size() == 3);
    CHECK(x.receiver.asked[1].url == "http://agent.test/");
    CHECK(x.receiver.asked[2].url == "https://caller.test/hook");
    CHECK(x.receiver.asked[2].body == old_task);
}

TEST_CASE("an update of 1.0 goes to a caller of 1.0 as it came")
{
    push_rig x;
    x.wanted.version = a2a::generation::v1;
    x.accept(new_update);
    x.pass(0s);
    REQUIRE(x.receiver.asked.size() == 1);
    CHECK(x.receiver.asked[0].body == new_update);
}

TEST_CASE("the facts say how many wait, for how long and how large they are")
{
    push_rig x;
    CHECK_FALSE(x.plane->facts().oldest.has_value());
    x.receiver.answers = {scripted_receiver::status(500)};
    x.accept(old_task);
    x.pass(90s);
    x.accept(old_task, "2");
    const auto facts = x.plane->facts();
    CHECK(facts.waiting == 2);
    CHECK(facts.bytes == 2 * old_task.size());
    CHECK(facts.oldest == core::duration{90s});
}

TEST_SUITE_END();
