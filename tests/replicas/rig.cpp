#include "tests/replicas/rig.hpp"

#include "tests/replicas/register_check.hpp"
#include "tests/replicas/version_check.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>

namespace replicas {

std::string lines_of(const std::vector<std::string>& problems)
{
    std::string text;
    for (const auto& each : problems) {
        text += each + '\n';
    }
    return text;
}

namespace {

// Without what it says of calls and agents.
std::string end_of(const std::string& log)
{
    constexpr std::size_t most = 12;
    std::vector<std::string> found;
    std::istringstream lines{log};
    for (std::string line; std::getline(lines, line);) {
        if (line.find(R"("event":"store_)") != std::string::npos ||
            line.find(R"("level":"error")") != std::string::npos) {
            found.push_back(line);
        }
    }
    return lines_of({found.end() - static_cast<std::ptrdiff_t>(std::min(most, found.size())), found.end()});
}

}  // namespace

std::vector<std::string> twenty_keys()
{
    std::vector<std::string> keys;
    for (int i = 0; i < 20; ++i) {
        keys.push_back("k" + std::to_string(i));
    }
    return keys;
}

rig::rig(std::size_t replicas, const place& store, const std::string& more)
{
    for (std::size_t i = 0; i < replicas; ++i) {
        members.push_back(std::make_unique<replica>(
            "r" + std::to_string(i + 1),
            store(i),
            "store_options: {timeout: " + std::to_string(store_timeout.count()) + "ms}\n" + more +
                "agents:\n  plain: {url: \"" + agent.url("/") + "\", card: {name: Plain}}\n"
        ));
        members.back()->start();
    }
    REQUIRE(all_ready());
    keep_steady_agent();
}

bool rig::all_ready() const
{
    return std::ranges::all_of(members, [](const auto& each) {
        const bool ready = each->wait_until_ready();
        CHECK_MESSAGE(ready, each->log());
        return ready;
    });
}

void rig::keep_steady_agent()
{
    operation each{.key = "steady", .what = deed::write, .came = outcome::done, .text = agent.url("/steady")};
    each.invoked = lines.now();
    const auto told = manager{members[0]->admin()}.ask(
        "agents/upsert",
        R"({"id":"steady","agent":{"url":")" + each.text + R"(","card":{"name":"S"}}})"
    );
    REQUIRE_MESSAGE(told.code == "", told.code);
    each.version = told.result.at("version").get<std::uint64_t>();
    each.returned = lines.now();
    lines.add(each);
    const auto everywhere = [&] {
        return std::ranges::all_of(members, [](const auto& at) {
            const auto there = list_of(*at);
            return there && there->contains("steady");
        });
    };
    REQUIRE(wait_until(everywhere, 2s));
}

bool rig::agree() const
{
    const auto versions_at = [](const auto& each) {
        versions found;
        for (const auto& [key, there] : list_of(*each).value_or(std::map<std::string, content>{})) {
            found[key] = there.version;
        }
        return found;
    };
    const auto wanted = truth_ ? truth_() : versions_at(members[0]);
    return std::ranges::all_of(members, [&](const auto& each) { return versions_at(each) == wanted; });
}

bool rig::agree_when_fresh() const
{
    const auto first = list_of(*members[0], /*fresh=*/true);
    return first && std::ranges::all_of(members, [&](const auto& each) {
               return list_of(*each, /*fresh=*/true) == first && list_of(*each) == first;
           });
}

std::optional<std::chrono::milliseconds> rig::until_all_write(std::chrono::milliseconds limit) const
{
    const auto all_write = [this] {
        for (std::size_t i = 0; i < members.size(); ++i) {
            const auto told = manager{members[i]->admin()}.ask("agents/upsert", write_of("after" + std::to_string(i)));
            if (!told.code.empty()) {
                return false;
            }
        }
        return true;
    };
    return wait_until(all_write, limit);
}

std::string rig::lists() const
{
    std::string text;
    for (const auto& each : members) {
        const bool fresh = list_of(*each, /*fresh=*/true).has_value();
        text += each->name() + (fresh ? ":" : ", not fresh:");
        for (const auto& [key, there] : list_of(*each).value_or(std::map<std::string, content>{})) {
            text += ' ' + key + '=' + std::to_string(there.version);
        }
        text += '\n' + end_of(each->log());
    }
    return text;
}

history rig::take_history()
{
    REQUIRE(all_ready());
    history all;
    CHECK_MESSAGE(wait_until([&] { return agree_when_fresh(); }, 10s), lists());
    all.last = list_of(*members[0], /*fresh=*/true).value();
    all.trail = trail_of(*members[0]);
    for (const auto& each : members) {
        CHECK(trail_of(*each) == all.trail);
    }
    all.operations = lines.take_operations();
    all.patience = std::chrono::microseconds{store_timeout}.count();
    return all;
}

std::string write_of(const std::string& id)
{
    return R"({"id":")" + id + R"(","agent":{"url":"http://127.0.0.1:9/","card":{"name":"A"}}})";
}

std::size_t writes(const history& all, outcome came)
{
    return static_cast<std::size_t>(std::ranges::count_if(all.operations, [&](const auto& each) {
        return !each.reads() && each.came == came;
    }));
}

void check_history(const rig& x, const history& all)
{
    CHECK(lines_of(x.lines.surprises()) == "");
    CHECK(lines_of(check_versions(all)) == "");
    CHECK(lines_of(check_registers(all)) == "");
}

void check_calls(const steady_load& load)
{
    CHECK_MESSAGE(load.failed() == 0, lines_of(load.failures()));
}

}  // namespace replicas
