// The store at its limits: a disk without room, and very many agents.
#include "store/sqlite.hpp"
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/running_gateway.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("flow/store");

namespace {

using namespace std::chrono_literals;
using core::json;
using flow::parsed;
using flow::post_json;
using flow::quick_settings;
using flow::running_gateway;

#ifdef CARDEA_FULL_VOLUME
constexpr std::size_t many = 100'000;
#else
constexpr std::size_t many = 10'000;
#endif

// A disk of 2 MiB; mounting one takes rights that not everybody has.
class small_disk {
public:
    small_disk()
        : mounted_{::mount("tmpfs", scratch_.path().c_str(), "tmpfs", MS_NODEV | MS_NOSUID, "size=2m") == 0},
          error_{mounted_ ? 0 : errno}
    {
    }
    ~small_disk()
    {
        if (mounted_) {
            ::umount2(scratch_.path().c_str(), MNT_DETACH);
        }
    }
    small_disk(const small_disk&) = delete;
    small_disk& operator=(const small_disk&) = delete;

    // False: not here, and that is said. Only a lack of rights is a reason: root of a container has none either.
    bool usable() const
    {
        REQUIRE_MESSAGE((mounted_ || error_ == EPERM || error_ == EACCES), "no tmpfs: " << std::strerror(error_));
        if (!mounted_) {
            MESSAGE("not run, mounting is refused; unit_store has the same with a disk that is made up");
        }
        return mounted_;
    }
    std::string file(std::string_view name) const { return scratch_.file(name); }

private:
    test_support::scratch_directory scratch_;
    bool mounted_;
    int error_;
};

json asked(const running_gateway& gateway, std::string_view method, const json& params)
{
    const json body{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    return parsed(post_json(gateway.admin_port(), "/rpc", body.dump()).body);
}

json upsert(const running_gateway& gateway, const std::string& id, const std::string& url, std::size_t size = 5000)
{
    const json agent{{"url", url}, {"card", {{"name", id}, {"description", std::string(size, 'd')}}}};
    return asked(gateway, "agents/upsert", {{"id", id}, {"agent", agent}});
}

// The ids of the agents that were taken before one was refused because the disk is full.
std::vector<std::string> fill(const running_gateway& gateway, const std::string& prefix, std::size_t size)
{
    std::vector<std::string> taken;
    while (taken.size() < 3000) {
        auto id = prefix + std::to_string(taken.size());
        const auto answer = upsert(gateway, id, "http://127.0.0.1:9/", size);
        if (answer.contains("error")) {
            CHECK(answer["error"]["data"]["code"] == "store_full");
            return taken;
        }
        taken.push_back(std::move(id));
    }
    FAIL("the disk is never full");
    return taken;
}

std::size_t deleted(const running_gateway& gateway, const std::vector<std::string>& ids)
{
    std::size_t count = 0;
    for (const auto& id : ids) {
        const auto answer = asked(gateway, "agents/delete", {{"id", id}});
        count += answer.contains("result") ? 1U : 0U;
    }
    return count;
}

// Where a sync costs nothing, if there is such a place.
std::filesystem::path quick_disk()
{
    const std::filesystem::path memory{"/dev/shm"};
    return std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
}

// CPU time, which does not pass while others have the cores.
double cpu_seconds(int whose)
{
    ::rusage used{};
    REQUIRE(::getrusage(whose, &used) == 0);
    const auto seconds = [](const ::timeval& time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
    };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// The CPU time that it takes on this machine to read what is stored, and no more.
double seconds_to_read(const std::string& database)
{
    const auto before = cpu_seconds(RUSAGE_THREAD);
    const auto store = store::open_sqlite({.path = database, .ballast = 0});
    REQUIRE(store.has_value());
    const auto stored = (*store)->load();
    REQUIRE(stored.has_value());
    REQUIRE(stored->size() == many);
    for (const auto& each : *stored) {
        REQUIRE(core::parse_json(each.definition).has_value());
    }
    return cpu_seconds(RUSAGE_THREAD) - before;
}

struct started {
    double seconds = 0;  // of CPU time, from the start to the end
    std::optional<std::uint64_t> memory;
};

started start_with(const std::string& file)
{
    const auto before = cpu_seconds(RUSAGE_CHILDREN);
    flow::child_process gateway{CARDEA_BIN, {"run", "-c", file}};
    const auto line = gateway.wait_for_line(
        [](auto each) { return each.find(R"("event":"listening")") != std::string_view::npos; },
        1min
    );
    REQUIRE_MESSAGE(line.has_value(), gateway.err());
    started out;
    // The workers have their agents once they answer.
    const auto port = flow::listening_port(*line, "traffic");
    CHECK(test_support::request(port, "GET", "/agents/none/.well-known/agent-card.json").status == 404);
    out.memory = gateway.private_memory();
    gateway.signal(SIGTERM);
    CHECK(gateway.wait() == 0);
    out.seconds = cpu_seconds(RUSAGE_CHILDREN) - before;
    return out;
}

}  // namespace

TEST_CASE("a full disk refuses writes with a code of its own, and nothing else; with room again it takes them")
{
    const small_disk disk;
    if (!disk.usable()) {
        return;
    }
    test_support::scripted_agent agent{[](const auto&) { return test_support::answer_json(R"({"done":1})"); }};
    auto settings = quick_settings();
    settings.store = "sqlite:" + disk.file("s.db");
    test_support::write_whole(disk.file("filler"), std::string(512 * 1024, 'x'));
    const running_gateway gateway{std::move(settings)};
    int count = 0;
    json refusal;
    for (; count < 1000 && refusal.is_null(); ++count) {
        auto answer = upsert(gateway, "a" + std::to_string(count), agent.url());
        if (answer.contains("error")) {
            refusal = answer["error"];
        }
    }
    CHECK(count > 50);
    CHECK(refusal["code"] == -31507);
    CHECK(refusal["data"]["code"] == "store_full");
    CHECK(gateway.metric(R"(cardea_store_writes_total{outcome="store_full"})").value_or(0) >= 1);
    CHECK(asked(gateway, "agents/get", {{"id", "a0"}})["result"]["id"] == "a0");
    CHECK(flow::get_card(gateway, "a0").status == 200);
    CHECK(flow::get_card(gateway, "a" + std::to_string(count - 1)).status == 404);
    CHECK(post_json(gateway.port(), "/agents/a1", R"({"jsonrpc":"2.0","id":1,"method":"x"})").body == R"({"done":1})");

    for (const auto* id : {"a3", "a4", "a5"}) {
        CHECK(asked(gateway, "agents/delete", {{"id", id}})["result"]["deleted"] == true);
        CHECK(flow::get_card(gateway, id).status == 404);
    }
    std::filesystem::remove(disk.file("filler"));
    for (int i = 0; i < 20; ++i) {
        CHECK(upsert(gateway, "later" + std::to_string(i), agent.url()).contains("result"));
    }
    CHECK(flow::get_card(gateway, "later19").status == 200);
}

TEST_CASE("a disk filled by agents alone lets every one of them go, and takes as many again, restarted or not")
{
    const small_disk disk;
    if (!disk.usable()) {
        return;
    }
    auto settings = quick_settings();
    settings.store = "sqlite:" + disk.file("s.db");
    std::optional<running_gateway> gateway{std::in_place, settings};
    for (const std::string round : {"goes-on", "restarted", "restarted-without-ballast"}) {
        CAPTURE(round);
        const auto taken = fill(*gateway, round, 1000);
        CHECK(taken.size() > 500);
        if (round != "goes-on") {
            gateway.reset();
            if (round == "restarted-without-ballast") {  // as a crash leaves it that came while it was given back
                CHECK(std::filesystem::remove(disk.file("s.db.ballast")));
            }
            gateway.emplace(settings);
        }
        CHECK(deleted(*gateway, taken) == taken.size());
        CHECK(std::filesystem::exists(disk.file("s.db.ballast")));
    }
    gateway.reset();
    gateway.emplace(settings);
    CHECK(upsert(*gateway, "later", "http://127.0.0.1:9/").contains("result"));
}

TEST_CASE("Very many stored agents load with little work and take little memory")
{
    const test_support::scratch_directory scratch{quick_disk()};
    const auto config = [&](const char* database) {
        const auto file = scratch.file(std::string{database} + ".yml");
        test_support::write_whole(
            file,
            "listen: 127.0.0.1:0\nadmin: 127.0.0.1:0\nworkers: 2\ncards: {background: 0}\nstore: sqlite:" +
                scratch.file(database) + "\n"
        );
        return file;
    };
    {
        const auto store = store::open_sqlite({.path = scratch.file("many.db"), .ballast = 0});
        REQUIRE(store.has_value());
        const store::author by{"test", core::wall_time{}, {}};
        for (std::size_t i = 0; i < many; ++i) {
            const auto number = std::to_string(i);
            const auto written = (*store)->put(
                "agent-" + number,
                R"({"url":"http://host-)" + number + R"(.example:9000/a2a","bearer":"token-)" + number + "\"}",
                by
            );
            REQUIRE(written.has_value());
        }
    }
    const auto with_none = start_with(config("none.db"));
    const auto with_many = start_with(config("many.db"));
    const auto yardstick = seconds_to_read(scratch.file("many.db"));
    MESSAGE(many << " agents: " << with_many.seconds << " s of CPU time, to read them alone: " << yardstick);
    CHECK(with_many.seconds - with_none.seconds < 20 * yardstick);
    if (with_many.memory && with_none.memory) {
        const auto each = (*with_many.memory - *with_none.memory) / many;
        MESSAGE(each << " bytes of memory for each");
        CHECK(each <= 5376);
    }
}

TEST_SUITE_END();
