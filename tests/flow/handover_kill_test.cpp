// Either process is killed at some moment of a hand-over.
#include "tests/flow/handover_fixture.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <thread>

TEST_SUITE_BEGIN("flow/handover_kill");

namespace {

using flow::becomes_true;
using flow::child_process;
using flow::has_ended;
using flow::succession;
using test_support::http_client;

constexpr int moments = 12;  // for each of the two

// The process that another one has started and that has become a gateway; nothing: there is none.
std::optional<pid_t> started_by(pid_t parent)
{
    for (const auto& each : std::filesystem::directory_iterator{"/proc"}) {
        const auto name = each.path().filename().string();
        if (name.find_first_not_of("0123456789") != std::string::npos) {
            continue;
        }
        std::ifstream file{each.path() / "stat"};
        std::string line;
        std::getline(file, line);
        const auto after = line.rfind(") ");
        if (after != std::string::npos &&
            line.substr(after + 4, line.find(' ', after + 4) - after - 4) == std::to_string(parent)) {
            return static_cast<pid_t>(std::stol(name));
        }
    }
    return std::nullopt;
}

bool serves(std::uint16_t admin_port)
{
    try {
        return test_support::request(admin_port, "GET", "/readyz").status == 200;
    } catch (const std::exception&) {
        return false;
    }
}

// A gateway whose store outlives it.
struct killed {
    test_support::scratch_directory place;
    std::string configuration = "store: \"sqlite:" + place.file("store.db") + "\"\n";
    succession gateways{configuration};
    http_client asking{gateways.admin_port()};

    killed()
    {
        gateways.rpc("agents/upsert", {{"id", "kept"}, {"agent", {{"url", "http://127.0.0.1:1/"}}}});
        asking.send(test_support::request_text("POST", "/handover"));
    }

    bool knows_all() const { return gateways.rpc("agents/list").at("agents").size() == 1; }

    // As a supervisor would.
    bool starts_again() const
    {
        child_process again{
            CARDEA_BIN,
            {"run", "-c", gateways.file("c.yml"), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}
        };
        const auto line = again.wait_for_line([](auto each) {
            return each.find(R"("event":"listening")") != std::string_view::npos;
        });
        if (!line) {
            return false;
        }
        const auto page = test_support::request(flow::listening_port(*line, "admin"), "GET", "/metrics").body;
        return page.find("cardea_agents 1\n") != std::string::npos;
    }
};

std::chrono::milliseconds time_of_a_handover()
{
    const auto begun = std::chrono::steady_clock::now();
    killed all;
    CHECK(all.asking.read_response().status == 200);
    all.gateways.note(static_cast<pid_t>(started_by(all.gateways.now()).value_or(-1)));
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
}

// A hand-over that has begun, and the two processes of it.
struct halfway : killed {
    pid_t old = gateways.now();
    pid_t next = -1;

    halfway()
    {
        CHECK(becomes_true([&] {
            next = started_by(old).value_or(-1);
            return next > 0;
        }));
        gateways.note(next);
    }
};

// Each moment of a hand-over: `kill_one` is called then, with a hand-over of its own.
void at_each_moment(const std::function<void(halfway& all)>& kill_one)
{
    const auto whole = time_of_a_handover();
    for (int moment = 0; moment < moments; ++moment) {
        CAPTURE(moment);
        halfway all;
        std::this_thread::sleep_for(whole * moment / moments);
        kill_one(all);
    }
}

}  // namespace

TEST_CASE(
    "If the new process is killed before it serves, the old one goes on; the store is whole at whatever moment it is"
)
{
    int went_on = 0;
    at_each_moment([&](halfway& all) {
        ::kill(all.next, SIGKILL);
        if (all.asking.read_response().status == 409) {
            ++went_on;
            CHECK(serves(all.gateways.admin_port()));
            CHECK(all.knows_all());
            all.gateways.hand_over();
            CHECK(all.knows_all());
        } else {
            CHECK(becomes_true([&] { return has_ended(all.old); }));
            CHECK(all.starts_again());
        }
    });
    CHECK(went_on > 0);
}

TEST_CASE("If the old process is killed at whatever moment, the new one serves all that was written")
{
    at_each_moment([](halfway& all) {
        ::kill(all.old, SIGKILL);
        CHECK(becomes_true([&] { return has_ended(all.old) && serves(all.gateways.admin_port()); }));
        CHECK(all.knows_all());
        CHECK_MESSAGE(!has_ended(all.next), all.gateways.first().err());
    });
}

TEST_SUITE_END();
