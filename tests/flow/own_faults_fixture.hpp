// A gateway's own binary whose system fails: calls of its C library, its clock, its loops, its log.
#pragma once

#include "core/json/json.hpp"
#include "tests/flow/child_process.hpp"
#include "tests/flow/gateway_answers.hpp"
#include "tests/flow/relay_fixture.hpp"
#include "tests/support/failing_calls.hpp"
#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow {

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool system_can_fail = false;  // a sanitizer has a malloc() of its own
#else
inline constexpr bool system_can_fail = true;
#endif

// The long form of a case is asked for.
inline bool in_full()
{
    return std::getenv("CARDEA_FAULTS_FULL") != nullptr;  // NOLINT(concurrency-mt-unsafe): nothing here sets one
}

// A gateway that ends soon and fetches nothing by itself. A busy machine is not what is tested; `more` are further timeouts.
inline std::string quick(const std::string& more = {})
{
    return "overload: {lag: [1s, 1500ms, 2s]}\ncards: {background: 0}\n"
           "timeouts: {drain: 2s, drain_idle: 50ms, drain_streams: 300ms" +
           more + "}\n";
}

// And whose breakers stay closed.
inline std::string quiet(const std::string& more = {})
{
    return quick(more) + "defaults: {breaker: {failures: 1000000, volume: 1000000}}\n";
}

// `more` are further settings of the agent.
inline std::string agent_at(const std::string& url, const std::string& more = {})
{
    return "agents: {a: {url: '" + url + "'" + more + "}}\n";
}

inline test_support::script card_or_answer(const test_support::recorded_request& asked)
{
    const bool is_card = asked.method == "GET";
    return test_support::answer_json(is_card ? card_text("Words", "http://127.0.0.1/rpc") : R"({"done":1})");
}

class faulty_gateway {
public:
    // `configuration` is YAML, beside the addresses to listen on; `more` are further variables of the environment.
    explicit faulty_gateway(const std::string& configuration, const std::vector<std::string>& more = {})
        : faults_{here_.file("board")}
    {
        test_support::write_whole(here_.file("c.yml"), "reload: {watch: false}\n" + configuration);
        handed_over given{faults_.variables(), {}};
        given.variables.insert(given.variables.end(), more.begin(), more.end());
        const std::vector<std::string>
            arguments{"run", "-c", here_.file("c.yml"), "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"};
        process_.emplace(CARDEA_BIN, arguments, given);
        const auto line = process_->wait_for_line([](auto each) { return each.find(R"("listening")") != each.npos; });
        if (!line) {
            throw std::runtime_error{"no listening line: " + process_->err()};
        }
        traffic_ = listening_port(*line, "traffic");
        admin_ = listening_port(*line, "admin");
    }

    std::uint16_t port() const noexcept { return traffic_; }
    std::uint16_t admin_port() const noexcept { return admin_; }
    test_support::failing_calls& faults() noexcept { return faults_; }
    child_process& process() noexcept { return *process_; }
    std::string file(std::string_view name) const { return here_.file(name); }

    test_support::http_response call() const { return flow::call(traffic_, call_body()); }

    // How long it takes from now until `works` is true; at most as long as tests wait.
    static std::chrono::steady_clock::duration time_until(const std::function<bool()>& works)
    {
        const auto start = std::chrono::steady_clock::now();
        static_cast<void>(becomes_true(works));
        return std::chrono::steady_clock::now() - start;
    }

    // Whether it logs such a line, or has.
    bool logs(std::string_view text)
    {
        return process_->wait_for_line([text](auto line) { return line.find(text) != std::string_view::npos; }
        ).has_value();
    }

    // The answer to a method of management.
    core::json rpc(std::string_view method, const core::json& params) const
    {
        const core::json body{{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
        return parsed(post_json(admin_, "/rpc", body.dump()).body);
    }

    // -1: there is no such series.
    double metric(std::string_view series) const
    {
        const auto page = test_support::request(admin_, "GET", "/metrics").body;
        const auto wanted = "\n" + std::string(series) + " ";
        const auto at = page.find(wanted);
        return at == std::string::npos ? -1 : std::stod(page.substr(at + wanted.size()));
    }

    // Ends it in order, which it does with 0.
    void end()
    {
        process_->signal(SIGTERM);
        CHECK(process_->wait() == 0);
    }

private:
    test_support::scratch_directory here_;
    test_support::failing_calls faults_;
    std::optional<child_process> process_;
    std::uint16_t traffic_ = 0;
    std::uint16_t admin_ = 0;
};

// What all these tests name.
namespace own_faults {

using namespace std::chrono_literals;
using test_support::failing;
using test_support::http_client;
using test_support::scripted_agent;

}  // namespace own_faults

}  // namespace flow
