// A gateway that is killed while it is written to: what it has acknowledged is there when it is started again.
#include "store/sqlite.hpp"
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>

TEST_SUITE_BEGIN("flow/store");

namespace {

using core::json;
using flow::child_process;
using flow::parsed;

// How often; `./dev kill` asks for more.
int rounds_asked_for()
{
    const char* const asked = std::getenv("CARDEA_KILL_ROUNDS");  // NOLINT(concurrency-mt-unsafe): one thread yet
    return asked == nullptr ? 20 : std::stoi(asked);
}

struct written {
    std::uint64_t version = 0;
    std::string url;

    friend bool operator==(const written&, const written&) = default;
};

struct request {
    std::string id;
    std::string url;  // empty: a deletion
};

// What the gateway has acknowledged, and the one request whose answer never came.
struct expectation {
    std::map<std::string, written> there;
    std::map<std::uint64_t, std::string> acknowledged;  // versions, and whose
    std::optional<request> unknown;
    std::uint64_t latest = 0;
};

std::unique_ptr<child_process> start(const std::string& file)
{
    const std::vector<std::string>
        how{"run", "--store", "sqlite:" + file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"};
    return std::make_unique<child_process>(CARDEA_BIN, how);
}

std::uint16_t port_of(child_process& gateway, std::string_view listener)
{
    const auto line =
        gateway.wait_for_line([](auto each) { return each.find(R"("event":"listening")") != std::string_view::npos; });
    REQUIRE_MESSAGE(line.has_value(), gateway.err());
    return flow::listening_port(*line, listener);
}

std::string text_of(const request& what)
{
    json params{{"id", what.id}};
    if (!what.url.empty()) {
        params["agent"] = {{"url", what.url}, {"card", {{"name", what.id}}}};
    }
    const json body{
        {"jsonrpc", "2.0"},
        {"id", 1},
        {"method", what.url.empty() ? "agents/delete" : "agents/upsert"},
        {"params", params}
    };
    return test_support::request_text("POST", "/rpc", {{"Content-Type", "application/json"}}, body.dump());
}

void acknowledge(expectation& so_far, const request& what, const json& answer)
{
    const auto* result = core::member(answer, "result");
    if (result == nullptr) {
        CHECK(answer["error"]["data"]["code"] == "agent_not_found");
        CHECK_FALSE(so_far.there.contains(what.id));
        return;
    }
    const auto version = (*result)["version"].get<std::uint64_t>();
    CHECK(version > so_far.latest);
    so_far.latest = version;
    so_far.acknowledged.emplace(version, what.id);
    if (what.url.empty()) {
        so_far.there.erase(what.id);
    } else {
        so_far.there[what.id] = {version, what.url};
    }
}

// One write after the other until the gateway is gone. Returns how many were acknowledged.
int write_until_gone(std::uint16_t port, expectation& so_far, std::mt19937& random)
{
    test_support::http_client caller{port};
    for (int count = 0;; ++count) {
        const auto number = std::to_string(random());
        so_far.unknown = request{"a" + std::to_string(random() % 8), {}};
        if (random() % 4 != 0) {
            so_far.unknown->url = "http://host-" + number + "/" + std::string(random() % 3000, 'x');
        }
        try {
            if (!caller.try_send(text_of(*so_far.unknown))) {
                return count;
            }
            const auto answer = caller.read_response();
            acknowledge(so_far, *so_far.unknown, parsed(answer.body));
        } catch (const std::runtime_error&) {
            return count;
        }
        so_far.unknown.reset();
    }
}

std::map<std::string, written> content_of(std::uint16_t port)
{
    const auto body = R"({"jsonrpc":"2.0","id":1,"method":"agents/list"})";
    const auto listed = parsed(flow::post_json(port, "/rpc", body).body);
    std::map<std::string, written> found;
    for (const auto& each : listed["result"]["agents"]) {
        found[each["id"].get<std::string>()] = {
            each["stored"]["version"].get<std::uint64_t>(),
            each["url"].get<std::string>()
        };
    }
    return found;
}

// What was acknowledged is there, and nothing else but, perhaps, what was asked last.
void check_content(std::uint16_t port, expectation& so_far)
{
    auto found = content_of(port);
    if (so_far.unknown) {
        const auto& id = so_far.unknown->id;
        const auto there = found.find(id);
        const auto before = so_far.there.find(id);
        const bool gone = there == found.end() && so_far.unknown->url.empty();
        const bool changed =
            there != found.end() && there->second.url == so_far.unknown->url && there->second.version > so_far.latest;
        if (gone) {
            so_far.there.erase(id);
        } else if (changed && (before == so_far.there.end() || before->second != there->second)) {
            so_far.there[id] = there->second;
            so_far.latest = there->second.version;
        }
        so_far.unknown.reset();
    }
    CHECK(found == so_far.there);
}

void upsert(std::uint16_t port, const std::string& id, const std::string& url)
{
    const json body{
        {"jsonrpc", "2.0"},
        {"id", 1},
        {"method", "agents/upsert"},
        {"params", {{"id", id}, {"agent", {{"url", url}}}}}
    };
    CHECK(parsed(flow::post_json(port, "/rpc", body.dump()).body).contains("result"));
}

}  // namespace

TEST_CASE("however often the gateway is killed, no acknowledged write is lost and none appears that was not asked for")
{
    const test_support::scratch_directory scratch;
    const auto file = scratch.file("s.db");
    std::mt19937 random{std::random_device{}()};
    expectation so_far;
    int acknowledged = 0;
    const int rounds = rounds_asked_for();
    for (int round = 0; round < rounds; ++round) {
        CAPTURE(round);
        const auto gateway = start(file);
        const auto port = port_of(*gateway, "admin");
        check_content(port, so_far);
        const std::chrono::microseconds life{random() % 60'000};
        std::thread killer{[&gateway, life] {
            std::this_thread::sleep_for(life);  // any moment will do
            gateway->signal(SIGKILL);
        }};
        acknowledged += write_until_gone(port, so_far, random);
        killer.join();
        CHECK(gateway->wait() == -SIGKILL);
    }
    MESSAGE(rounds << " kills, " << acknowledged << " acknowledged writes");
    CHECK(acknowledged > 0);
    {
        const auto gateway = start(file);
        check_content(port_of(*gateway, "admin"), so_far);
        gateway->signal(SIGTERM);
        CHECK(gateway->wait() == 0);
    }
    const auto store = store::open_sqlite({.path = file});  // which looks at every page and index
    REQUIRE_MESSAGE(store.has_value(), store.error().detail);
    CHECK((*store)->load()->size() == so_far.there.size());
    std::map<std::uint64_t, std::string> trail;
    for (const auto& each : (*store)->changes(0, store::changes_kept).value()) {
        trail.emplace(each.version, each.agent);
    }
    for (const auto& [version, agent] : so_far.acknowledged) {
        CHECK(trail[version] == agent);
    }
    CHECK(trail.size() <= so_far.acknowledged.size() + static_cast<std::size_t>(rounds));
}

TEST_CASE("a gateway that is killed and started again serves the last good card of an agent that is down")
{
    const test_support::scratch_directory folder;
    const auto file = folder.file("store.db");
    auto agent = std::make_unique<test_support::scripted_agent>([](const auto&) {
        return test_support::answer_json(R"({"name":"Kept","version":"7"})");
    });
    const auto target = "/agents/a/.well-known/agent-card.json";
    {
        const auto gateway = start(file);
        const auto admin = port_of(*gateway, "admin");
        upsert(admin, "a", agent->url());
        CHECK(test_support::request(port_of(*gateway, "traffic"), "GET", target).status == 200);
        // The store does one thing after the other: with this write the card before it is on disk.
        upsert(admin, "b", agent->url());
        gateway->signal(SIGKILL);
        CHECK(gateway->wait() == -SIGKILL);
    }
    agent.reset();
    const auto gateway = start(file);
    const auto got = test_support::request(port_of(*gateway, "traffic"), "GET", target);
    CHECK(got.status == 200);
    CHECK(parsed(got.body)["version"] == "7");
}

TEST_SUITE_END();
