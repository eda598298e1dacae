#include "tests/flow/hostile_fixture.hpp"

#include "tests/flow/gateway_answers.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>

namespace flow {
namespace {

using namespace std::chrono_literals;

std::string proc(pid_t process, std::string_view what)
{
    return "/proc/" + std::to_string(process) + "/" + std::string{what};
}

std::size_t entries(const std::string& folder)
{
    std::error_code gone;
    const std::filesystem::directory_iterator all{folder, gone};
    return gone ? 0 : static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

// The fields of /proc/<pid>/stat from the state on, which is the third: the second may hold anything.
std::vector<std::string> stat_fields(pid_t process)
{
    const auto text = test_support::read_whole(proc(process, "stat"));
    const auto end = text.rfind(") ");
    if (end == std::string::npos) {
        return {};
    }
    std::istringstream rest{text.substr(end + 2)};
    return {std::istream_iterator<std::string>{rest}, {}};
}

bool is_zombie(pid_t process)
{
    const auto fields = stat_fields(process);
    return !fields.empty() && fields[0] == "Z";
}

// Nothing under a sanitizer, whose allocator keeps what is freed.
std::uint64_t peak_memory_of([[maybe_unused]] pid_t process)
{
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
    std::ifstream status{proc(process, "status")};
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("VmHWM:")) {
            return std::stoull(line.substr(line.find(':') + 1)) * 1024;
        }
    }
#endif
    return 0;
}

std::vector<pid_t> numbers(const std::string& path)
{
    std::ifstream in{path};
    return {std::istream_iterator<pid_t>{in}, {}};
}

}  // namespace

process_facts facts_of(pid_t process)
{
    process_facts found;
    found.descriptors = entries(proc(process, "fd"));
    for (const auto& task : std::filesystem::directory_iterator{proc(process, "task")}) {
        ++found.threads;
        std::ranges::copy(numbers(task.path() / "children"), std::back_inserter(found.children));
    }
    found.zombies = static_cast<std::size_t>(std::ranges::count_if(found.children, is_zombie));
    found.peak_memory = peak_memory_of(process);
    const auto fields = stat_fields(process);
    const auto ticks = std::stod(fields.at(11)) + std::stod(fields.at(12));
    found.cpu_seconds = ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
    return found;
}

bool is_running(pid_t process)
{
    const auto fields = stat_fields(process);
    return !fields.empty() && fields[0] != "Z";
}

hostile_gateway::agents& hostile_gateway::agents::add(std::string_view habit, std::string_view more, std::size_t number)
{
    return add_as(habit, habit, more, number);
}

hostile_gateway::agents&
hostile_gateway::agents::add_as(std::string_view id, std::string_view habit, std::string_view more, std::size_t number)
{
    all_.push_back({std::string{id}, std::string{habit}, std::string{more}, number});
    return *this;
}

hostile_gateway::agents& hostile_gateway::agents::declare(std::string_view id, std::string_view yaml)
{
    all_.push_back({std::string{id}, {}, std::string{yaml}});
    return *this;
}

hostile_gateway::hostile_gateway(const agents& which)
{
    std::ofstream file{folder_.file("cardea.yml")};
    // Else only root could count its descriptors.
    file << "debug: {core: true}\n";
    file << "limits: {requests: 1000000}\nagents:\n  words: {url: \"http://127.0.0.1:9/\", card: {name: Words}}\n";
    for (const auto& each : which.all_) {
        file << "  " << each.id << ": ";
        if (each.habit.empty()) {
            file << "{" << each.more << "}\n";
        } else {
            file << "{command: " << HOSTILE_SERVER_BIN << ", args: [" << each.habit << ", " << folder_.file(each.id)
                 << ", \"" << each.number << "\"]"
                 << (each.more.find("era:") == std::string::npos ? ", era: legacy" : "") << each.more << "}\n";
        }
    }
    file.close();
    process_ = std::make_unique<child_process>(
        CARDEA_BIN,
        std::vector<std::string>{
            "run",
            "-c",
            folder_.file("cardea.yml"),
            "--store",
            "memory",
            "--listen",
            "127.0.0.1:0",
            "--admin",
            "127.0.0.1:0"
        }
    );
    const auto line = event("listening");
    REQUIRE_MESSAGE(line.has_value(), process_->err());
    port_ = listening_port(*line, "traffic");
    admin_port_ = listening_port(*line, "admin");
}

test_support::http_response hostile_gateway::card(std::string_view agent) const
{
    return test_support::request(port_, "GET", card_target(agent));
}

std::optional<std::size_t> hostile_gateway::skills(std::string_view agent) const
{
    const auto answer = card(agent);
    return answer.status == 200 ? std::optional{parsed(answer.body)["skills"].size()} : std::nullopt;
}

core::json hostile_gateway::session(std::string_view agent, bool for_operators) const
{
    const auto answer = post_json(
        for_operators ? admin_port_ : port_,
        "/rpc",
        R"({"jsonrpc":"2.0","id":1,"method":"agents/get","params":{"id":")" + std::string{agent} + R"("}})"
    );
    return parsed(answer.body)["result"]["session"];
}

bool hostile_gateway::reaches(
    std::string_view agent,
    std::string_view state,
    std::string_view reason,
    std::chrono::milliseconds timeout
)
{
    const auto reached = [&] {
        const auto now = session(agent);
        return now["state"] == state && (reason.empty() || (now.contains("reason") && now["reason"] == reason));
    };
    const auto in_time = becomes_true(*this, reached, timeout);
    CAPTURE(agent);
    CAPTURE(core::to_text(session(agent)));
    CHECK(in_time);
    return in_time;
}

std::optional<std::string> hostile_gateway::event(std::string_view name, std::string_view text, std::string_view other)
{
    const auto wanted = "\"event\":\"" + std::string{name} + "\"";
    return process_->wait_for_line([&](std::string_view line) {
        return line.find(wanted) != line.npos && line.find(text) != line.npos && line.find(other) != line.npos;
    });
}

std::vector<pid_t> hostile_gateway::pids(std::string_view agent, std::string_view suffix) const
{
    return numbers(folder_.file(std::string{agent} + std::string{suffix}));
}

std::chrono::milliseconds hostile_gateway::served_within() const
{
    const auto begun = std::chrono::steady_clock::now();
    CHECK(card("words").status == 200);
    const auto took = std::chrono::steady_clock::now() - begun;
    CHECK(test_support::request(admin_port_, "GET", "/healthz").status == 200);
    return std::chrono::duration_cast<std::chrono::milliseconds>(took);
}

bool becomes_true(hostile_gateway& gateway, const std::function<bool()>& question, std::chrono::milliseconds timeout)
{
    const auto until = std::chrono::steady_clock::now() + timeout;
    while (!question()) {
        if (std::chrono::steady_clock::now() > until) {
            return false;
        }
        gateway.process().wait_for_line([](auto) { return false; }, 5ms);
    }
    return true;
}

}  // namespace flow
