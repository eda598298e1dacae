#include "gateway/reload/reload.hpp"

#include "gateway/reload/changed_files.hpp"
#include "store/memory.hpp"

#include <boost/asio/co_spawn.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/reload/reload");

namespace {

using core::json;
using gateway::reload::add_changed_files;
using gateway::reload::file_hashes;
using ids = std::vector<std::string>;

core::agent agent(std::string id, std::string key_file = {})
{
    core::agent out;
    out.id = std::move(id);
    out.key_file = std::move(key_file);
    return out;
}

class no_lines final : public core::log_sink {
public:
    void write(std::string_view) override {}
};

ids ids_of(const std::vector<core::agent>& agents)
{
    ids out;
    for (const auto& each : agents) {
        out.push_back(each.id);
    }
    return out;
}

}  // namespace

TEST_CASE("An agent whose key alone has changed is changed, and one less is unchanged")
{
    const std::vector<core::agent> agents{agent("a", "/a.key"), agent("b", "/b.key"), agent("c")};
    config::changes what;
    what.unchanged = 3;
    CHECK(add_changed_files(what, agents, {{"/a.key", 1}, {"/b.key", 2}}, {{"/a.key", 1}, {"/b.key", 3}}));
    CHECK(what.unchanged == 2);
    CHECK(what.changed == std::vector<config::changed_agent>{{"b", {"tls"}}});
    CHECK(what.added.empty());
    CHECK(ids_of(gateway::reload::added_or_changed(what, agents)) == ids{"b"});
}

TEST_CASE("Each of an agent's TLS files counts")
{
    for (const auto file : {&core::agent::ca_file, &core::agent::cert_file, &core::agent::key_file}) {
        auto one = agent("a");
        one.*file = "/file";
        config::changes what;
        what.unchanged = 1;
        CHECK(add_changed_files(what, {one}, {{"/file", 1}}, {{"/file", 2}}));
        CHECK(what.unchanged == 0);
        CHECK(what.changed.size() == 1);
    }
}

TEST_CASE("The same files change nothing")
{
    const std::vector<core::agent> agents{agent("a", "/a.key"), agent("b")};
    config::changes what;
    what.unchanged = 2;
    CHECK_FALSE(add_changed_files(what, agents, {{"/a.key", 1}}, {{"/a.key", 1}}));
    CHECK(what.unchanged == 2);
    CHECK(what.changed.empty());
    CHECK(gateway::reload::added_or_changed(what, agents).empty());
}

TEST_CASE("An agent that has changed anyway, or is new, is not counted twice, but its files are read again")
{
    const std::vector<core::agent> agents{agent("a", "/a.key"), agent("b", "/a.key"), agent("c", "/a.key")};
    config::changes what;
    what.added = {"a"};
    what.changed = {{"b", {"url"}}};
    what.unchanged = 1;
    CHECK(add_changed_files(what, agents, {{"/a.key", 1}}, {{"/a.key", 2}}));
    CHECK(what.unchanged == 0);
    CHECK(what.changed == std::vector<config::changed_agent>{{"b", {"url"}}, {"c", {"tls"}}});
    CHECK(ids_of(gateway::reload::added_or_changed(what, agents)) == ids{"a", "b", "c"});
    config::changes only;
    only.added = {"a"};
    CHECK(add_changed_files(only, {agents.front()}, {{"/a.key", 1}}, {{"/a.key", 2}}));
    CHECK(only.changed.empty());
}

TEST_CASE("A file that could not be read before or now differs from nothing")
{
    config::changes what;
    what.unchanged = 1;
    CHECK_FALSE(add_changed_files(what, {agent("a", "/a.key")}, {}, {{"/a.key", 2}}));
    CHECK_FALSE(add_changed_files(what, {agent("a", "/a.key")}, {{"/a.key", 2}}, {}));
    CHECK(what.unchanged == 1);
}

TEST_CASE("The answer to POST /reload has every change, and how many agents are unchanged")
{
    gateway::reload::reload_report report;
    report.changes.added = {"a"};
    report.changes.changed = {{"b", {"bearer", "tls"}}};
    report.changes.removed = {"c"};
    report.changes.unchanged = 7;
    report.changes.settings = {"cards.ttl"};
    report.changes.needs_restart = {"listen"};
    const auto shown = gateway::reload::to_json(report);
    CHECK(
        shown["agents"] ==
        json{
            {"added", {"a"}},
            {"changed", json::array({{{"id", "b"}, {"keys", {"bearer", "tls"}}}})},
            {"removed", {"c"}},
            {"unchanged", 7}
        }
    );
    CHECK(shown["settings"] == json::array({"cards.ttl"}));
    CHECK(shown["needs_restart"] == json::array({"listen"}));
}

TEST_CASE("All who wait for a reload when the gateway ends are told so")
{
    config::settings settings;
    no_lines nowhere;
    const core::logger log{nowhere, core::log_level::error};
    gateway::threads::store_thread store{store::make_memory()};
    gateway::threads::turns by;
    gateway::management::registry agents{settings, store, log, by};
    net::loop loop;
    std::promise<void> go;
    gateway::reload::configuration_source from;
    from.read = [&] {
        go.get_future().wait();
        return gateway::reload::configuration{};
    };
    gateway::reload::reloader reloads{loop, std::move(from), agents, settings, log};
    std::vector<bool> told;
    for (int i = 0; i < 3; ++i) {
        net::asio::co_spawn(
            loop.get_executor(),
            reloads.reload(gateway::reload::reload_trigger::request),
            [&](const std::exception_ptr& bug, const gateway::reload::reload_report& report) {
                CHECK_FALSE(bug);
                told.push_back(report.draining);
            }
        );
    }
    loop.io().poll();
    reloads.stop();
    go.set_value();
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds{5};
    while (told.size() < 3 && std::chrono::steady_clock::now() < late) {
        loop.io().run_one_for(std::chrono::milliseconds{10});
    }
    CHECK(told == std::vector<bool>{false, true, true});
    CHECK_FALSE(reloads.busy());
}

TEST_CASE("Those who ask for the settings at once have one text, which says how many agents it lacks")
{
    config::settings settings;
    settings.agents.resize(gateway::reload::reloader::most_dumped + 1);
    no_lines nowhere;
    const core::logger log{nowhere, core::log_level::error};
    gateway::threads::store_thread store{store::make_memory()};
    gateway::threads::turns by;
    gateway::management::registry agents{settings, store, log, by};
    net::loop loop;
    std::promise<void> go;
    int made = 0;
    gateway::reload::configuration_source from;
    from.dump = [&](const config::settings& dumped, std::string_view) {
        go.get_future().wait();
        ++made;
        CHECK(dumped.agents.empty());
        return json{{"listen", {{"value", "x"}, {"origin", "default"}}}};
    };
    gateway::reload::reloader reloads{loop, std::move(from), agents, settings, log};
    std::vector<std::shared_ptr<const std::string>> told;
    for (int i = 0; i < 3; ++i) {
        net::asio::co_spawn(
            loop.get_executor(),
            reloads.dump(),
            [&](const std::exception_ptr& bug, std::shared_ptr<const std::string> text) {
                CHECK_FALSE(bug);
                told.push_back(std::move(text));
            }
        );
    }
    loop.io().poll();
    go.set_value();
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds{5};
    while (told.size() < 3 && std::chrono::steady_clock::now() < late) {
        loop.io().run_one_for(std::chrono::milliseconds{10});
    }
    REQUIRE(told.size() == 3);
    CHECK(made == 1);
    CHECK((told[0] == told[1] && told[1] == told[2]));
    const auto read = core::parse_json(*told[0]).value();
    CHECK(read["agents_omitted"] == 201);
    CHECK(read["values"].size() == 1);
    CHECK(settings.agents.size() == 201);
    reloads.stop();
}

TEST_CASE("A reload that would leave the listener open to other machines without credentials is refused")
{
    config::settings settings;
    settings.listen = {"0.0.0.0", 4000};
    settings.access.open = true;
    no_lines nowhere;
    const core::logger log{nowhere, core::log_level::error};
    gateway::threads::store_thread store{store::make_memory()};
    gateway::threads::turns by;
    gateway::management::registry agents{settings, store, log, by};
    net::loop loop;
    gateway::reload::configuration_source from;
    from.read = [] { return gateway::reload::configuration{}; };
    gateway::reload::reloader reloads{loop, std::move(from), agents, settings, log};
    std::vector<std::string> problems;
    net::asio::co_spawn(
        loop.get_executor(),
        reloads.reload(gateway::reload::reload_trigger::request),
        [&](const std::exception_ptr& bug, const gateway::reload::reload_report& report) {
            CHECK_FALSE(bug);
            problems = report.problems;
        }
    );
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds{5};
    while (problems.empty() && std::chrono::steady_clock::now() < late) {
        loop.io().run_one_for(std::chrono::milliseconds{10});
    }
    REQUIRE(problems.size() == 1);
    CHECK(problems.front().starts_with("access: 0.0.0.0:4000, which this process listens on, is open to other machines")
    );
    CHECK(settings.access.open);
    reloads.stop();
}

TEST_SUITE_END();
