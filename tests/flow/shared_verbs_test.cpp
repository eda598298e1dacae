// Two gateways with one PostgreSQL, as an operator sees them: verbs of the command line, the audit, and divided rate limits.
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/support/http_client.hpp"
#include "tests/support/postgres_cluster.hpp"
#include "tests/support/scratch.hpp"
#include "tests/support/scripted_agent.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("flow/shared_verbs");

namespace {

using namespace std::chrono_literals;
using flow::child_process;
using test_support::request;

struct sharer {
    sharer(const std::string& name, const std::string& configuration)
        : file{here.file("c.yml")},
          process{CARDEA_BIN, written(name, configuration)}
    {
        const auto line = process.wait_for_line([](auto each) {
            return each.find(R"("event":"listening")") != std::string_view::npos;
        });
        REQUIRE_MESSAGE(line.has_value(), process.err());
        traffic = flow::listening_port(*line, "traffic");
        admin = flow::listening_port(*line, "admin");
    }

    std::vector<std::string> written(const std::string& name, const std::string& configuration) const
    {
        test_support::write_whole(
            file,
            "replica: {name: " + name + "}\naudit: \"file:" + here.file("audit") + "\"\n" + configuration
        );
        return {"run", "-c", file, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"};
    }

    // The output of a verb that asks this gateway. `most`: of its exit code.
    std::string verb(std::vector<std::string> words, int most = 0) const
    {
        words.insert(words.end(), {"--admin", "127.0.0.1:" + std::to_string(admin), "-o", "table"});
        child_process program{CARDEA_BIN, std::move(words)};
        CHECK_MESSAGE(program.wait(20s).value_or(-1) <= most, program.err());
        return program.out();
    }

    std::string audit() const { return test_support::read_whole(here.file("audit")); }

    // How many of 20 calls at once are let pass.
    int admitted() const
    {
        int all = 0;
        for (int i = 0; i < 20; ++i) {
            const auto body = R"({"jsonrpc":"2.0","id":1,"method":"message/send","params":{}})";
            const auto answer = request(traffic, "POST", "/agents/a", {{"Content-Type", "application/json"}}, body);
            all += answer.status == 200 ? 1 : 0;
            CHECK((answer.status == 200 || answer.status == 429));
        }
        return all;
    }

    test_support::scratch_directory here;
    std::string file;
    child_process process;
    std::uint16_t traffic = 0;
    std::uint16_t admin = 0;
};

bool comes_true(const std::function<bool()>& what, std::chrono::milliseconds patience = 10s)
{
    const auto latest = std::chrono::steady_clock::now() + patience;
    while (!what()) {
        if (std::chrono::steady_clock::now() > latest) {
            return false;
        }
        std::this_thread::sleep_for(20ms);
    }
    return true;
}

std::size_t lines_of(const std::string& text)
{
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE(
    "Two replicas are listed at either one, and an agent that was added at one is at once at the other with --fresh"
)
{
    test_support::postgres_cluster cluster;
    const auto store = "store: \"" + cluster.url(cluster.make_database()) + "\"\n";
    std::optional<sharer> first{std::in_place, "one", store};
    const sharer second{"two", store};
    CHECK(comes_true([&] { return lines_of(first->verb({"replicas"})) == 3; }));
    const auto listed = second.verb({"replicas"});
    CHECK(listed.starts_with("NAME "));
    CHECK_MESSAGE(listed.find("\none ") != std::string::npos, listed);
    CHECK_MESSAGE(listed.find("\ntwo * ") != std::string::npos, listed);

    for (int i = 0; i < 10; ++i) {
        const auto id = "a" + std::to_string(i);
        first->verb({"agents", "add", id, "http://127.0.0.1:1/"});
        CHECK(second.verb({"agents", "get", id, "--fresh"}).find("http://127.0.0.1:1/") != std::string::npos);
        CHECK(lines_of(second.verb({"agents", "list", "--fresh"})) == static_cast<std::size_t>(i) + 2);
        CHECK(second.verb({"agents", "health", id, "--fresh"}, /*most=*/1).find(id) != std::string::npos);
    }

    // Only the one that wrote has it in its audit.
    CHECK(comes_true([&] { return lines_of(first->audit()) >= 10; }));
    std::size_t created = 0;
    const auto audit = first->audit();
    for (auto at = audit.find(R"("event":"agent_created")"); at != std::string::npos;
         at = audit.find(R"("event":"agent_created")", at + 1)) {
        const auto line = audit.substr(at, audit.find('\n', at) - at);
        CHECK_MESSAGE(line.ends_with(R"(,"replica":"one"})"), line);
        ++created;
    }
    CHECK(created == 10);
    CHECK(second.audit().find("agent_created") == std::string::npos);

    first->process.signal(SIGTERM);
    CHECK(first->process.wait(20s) == 0);
    CHECK(comes_true([&] { return lines_of(second.verb({"replicas"})) == 2; }, 3s));
}

TEST_CASE("Divided rate limits are shared by the replicas that live, at once after a reload")
{
    test_support::postgres_cluster cluster;
    const test_support::scripted_agent agent{[](const auto&) { return test_support::answer_json("{}"); }};
    const auto configuration = [&](const std::string& divide) {
        return "store: \"" + cluster.url(cluster.make_database()) + "\"\nagents: {a: {url: \"" + agent.url() +
               "\"}}\nrate_limits: {agent: {rate: 1, burst: 7}, divide: " + divide + "}\nreload: {watch: false}\n";
    };
    const auto divided = configuration("true");
    const sharer first{"one", divided};
    CHECK(first.admitted() == 7);  // alone
    std::optional<sharer> second{std::in_place, "two", divided};
    CHECK(comes_true([&] {
        return lines_of(first.verb({"replicas"})) == 3 && lines_of(second->verb({"replicas"})) == 3;
    }));
    std::this_thread::sleep_for(100ms);  // workers hear of it after the list
    CHECK(first.admitted() == 4);
    CHECK(second->admitted() == 4);

    static_cast<void>(first.written("one", divided.substr(0, divided.find("divide: true")) + "divide: false}\n"));
    CHECK(request(first.admin, "POST", "/reload").status == 200);
    std::this_thread::sleep_for(100ms);
    CHECK(first.admitted() == 7);
    CHECK(second->admitted() <= 1);  // it counts on

    static_cast<void>(first.written("one", divided));
    CHECK(request(first.admin, "POST", "/reload").status == 200);
    second->process.signal(SIGTERM);
    CHECK(second->process.wait(20s) == 0);
    CHECK(comes_true([&] { return lines_of(first.verb({"replicas"})) == 2; }, 3s));
    std::this_thread::sleep_for(100ms);
    CHECK(first.admitted() == 7);
}
