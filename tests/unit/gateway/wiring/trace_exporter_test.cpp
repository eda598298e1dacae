#include "core/json/json.hpp"
#include "gateway/wiring/tracing.hpp"
#include "net/loop/signal.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

TEST_SUITE_BEGIN("gateway/wiring/trace_exporter");

namespace {

using namespace std::chrono_literals;
using gateway::wiring::span_end;

// Answers each request with the next of its answers, and then always with the last. While it is silent, only when released.
class scripted_collector final : public net::fetcher {
public:
    boost::asio::awaitable<core::result<net::fetch_response>, executor_type> fetch(net::fetch_request request) override
    {
        asked.push_back(std::move(request));
        auto answer = answers.front();
        if (answers.size() > 1) {
            answers.erase(answers.begin());
        }
        if (silent) {
            co_await go_.wait();
        }
        co_return answer;
    }

    void release()
    {
        silent = false;
        go_.set();
    }

    static core::result<net::fetch_response> status(unsigned code, std::string body = {})
    {
        return net::fetch_response{.status = code, .headers = {}, .body = std::move(body)};
    }

    std::vector<core::result<net::fetch_response>> answers{status(200)};
    std::vector<net::fetch_request> asked;
    bool silent = false;

private:
    net::task_signal go_;
};

class kept_log final : public core::log_sink {
public:
    void write(std::string_view lines) override { text.append(lines) += '\n'; }

    std::size_t count(std::string_view what) const
    {
        std::size_t found = 0;
        for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
            ++found;
        }
        return found;
    }

    std::string text;
};

struct rig {
    rig() { exporter.set_endpoint("http://collector.test"); }

    ~rig()
    {
        exporter.stop();
        collector.release();
        turn();
    }

    void turn()
    {
        io.restart();
        io.poll();
    }

    void pass(core::duration time)
    {
        now += time;
        exporter.on_sweep(now);
        turn();
    }

    void add(std::size_t count)
    {
        gateway::model::span_batch batch;
        batch.spans.resize(count);
        exporter.add(std::move(batch));
        turn();
    }

    std::uint64_t ended(span_end how) const { return exporter.counts()[static_cast<std::size_t>(how)]; }

    std::size_t spans_in(std::size_t request) const
    {
        const auto body = core::parse_json(*collector.asked.at(request).body);
        return body.value()["resourceSpans"][0]["scopeSpans"][0]["spans"].size();
    }

    boost::asio::io_context io{1};
    net::deadlines sweeps{io};
    scripted_collector collector;
    kept_log lines;
    core::logger log{lines, core::log_level::debug};
    core::steady_time now{1h};
    gateway::wiring::trace_exporter exporter{
        sweeps,
        {collector, io.get_executor(), log, [this] { return now; }, [] { return 0.0; }}
    };
};

}  // namespace

TEST_CASE("spans wait for five seconds, then go out together")
{
    rig x;
    x.add(1);
    x.pass(4'999ms);
    x.add(2);
    CHECK(x.collector.asked.empty());
    CHECK_FALSE(x.exporter.idle());
    x.pass(1ms);
    REQUIRE(x.collector.asked.size() == 1);
    CHECK(x.collector.asked[0].url == "http://collector.test/v1/traces");
    CHECK(x.collector.asked[0].headers.at(0).second == "application/json");
    CHECK(x.spans_in(0) == 3);
    CHECK(x.ended(span_end::exported) == 3);
    CHECK(x.exporter.idle());
    CHECK(x.lines.text.empty());
}

TEST_CASE("a full batch goes out at once, and the next one when that has ended")
{
    rig x;
    x.collector.silent = true;
    x.add(gateway::telemetry::span_queue::batch - 1);
    CHECK(x.collector.asked.empty());
    x.add(gateway::telemetry::span_queue::batch + 1);
    REQUIRE(x.collector.asked.size() == 1);
    x.pass(1min);
    CHECK(x.collector.asked.size() == 1);
    x.collector.release();
    x.turn();
    REQUIRE(x.collector.asked.size() == 2);
    CHECK(x.spans_in(1) == gateway::telemetry::span_queue::batch);
    CHECK(x.ended(span_end::exported) == 2 * gateway::telemetry::span_queue::batch);
}

TEST_CASE("while the collector is silent the queue fills, and the rest is dropped and counted")
{
    rig x;
    x.collector.silent = true;
    x.add(gateway::telemetry::span_queue::batch);
    x.add(gateway::telemetry::span_queue::most);
    CHECK(x.ended(span_end::dropped) == 0);
    x.add(1);
    CHECK(x.ended(span_end::dropped) == 1);
}

TEST_CASE("a batch is sent again after 1, 2, 4 and 8 seconds, and then it has failed")
{
    rig x;
    x.collector.answers = {scripted_collector::status(503)};
    x.add(2);
    x.pass(5s);
    for (const auto& [wait, attempts] : std::vector<std::pair<core::duration, std::size_t>>{
             {999ms, 1},
             {1ms, 2},
             {1999ms, 2},
             {1ms, 3},
             {3999ms, 3},
             {1ms, 4},
             {7999ms, 4}
         }) {
        x.pass(wait);
        CHECK(x.collector.asked.size() == attempts);
        CHECK(x.ended(span_end::failed) == 0);
    }
    x.pass(1ms);
    CHECK(x.collector.asked.size() == gateway::wiring::most_exports);
    CHECK(x.ended(span_end::failed) == 2);
    CHECK(x.exporter.idle());
    x.pass(1h);
    CHECK(x.collector.asked.size() == gateway::wiring::most_exports);
}

TEST_CASE("a collector that asks for patience gets it")
{
    rig x;
    auto busy = scripted_collector::status(429);
    busy->headers.emplace_back("retry-after", "9");
    x.collector.answers = {busy, scripted_collector::status(200)};
    x.add(1);
    x.pass(5s);
    x.pass(8'999ms);
    CHECK(x.collector.asked.size() == 1);
    x.pass(1ms);
    CHECK(x.collector.asked.size() == 2);
    CHECK(x.ended(span_end::exported) == 1);
}

TEST_CASE("what a collector does not want is not sent again")
{
    rig x;
    x.collector.answers = {scripted_collector::status(400)};
    x.add(3);
    x.pass(5s);
    x.pass(1h);
    CHECK(x.collector.asked.size() == 1);
    CHECK(x.ended(span_end::refused) == 3);
    x.collector.answers = {
        scripted_collector::status(200, R"({"partialSuccess":{"rejectedSpans":"2","errorMessage":"x"}})")
    };
    x.add(5);
    x.pass(5s);
    CHECK(x.ended(span_end::refused) == 5);
    CHECK(x.ended(span_end::exported) == 3);
    CHECK(x.lines.count("trace_export_failed") == 1);
}

TEST_CASE("a collector that refuses more than it got has refused what it got")
{
    rig x;
    x.collector.answers = {scripted_collector::status(200, R"({"partialSuccess":{"rejectedSpans":"9"}})")};
    x.add(2);
    x.pass(5s);
    CHECK(x.ended(span_end::refused) == 2);
    CHECK(x.ended(span_end::exported) == 0);
}

TEST_CASE("the log has one line when exports begin to fail, and one when they are taken again")
{
    rig x;
    x.collector.answers = {
        core::upstream_error(core::errc::upstream_refused),
        scripted_collector::status(503),
        scripted_collector::status(200)
    };
    x.add(1);
    x.pass(5s);
    CHECK(x.lines.count(R"("event":"trace_export_failed","reason":"upstream_refused")") == 1);
    x.pass(1s);
    CHECK(x.lines.count("trace_export_failed") == 1);
    CHECK(x.lines.count("trace_export_recovered") == 0);
    x.pass(2s);
    CHECK(x.lines.count("trace_export_recovered") == 1);
    x.add(1);
    x.pass(5s);
    CHECK(x.lines.count("trace_export") == 2);
}

TEST_CASE("a new endpoint gets what comes, and what the old one has not taken")
{
    rig x;
    x.collector.answers = {scripted_collector::status(503), scripted_collector::status(200)};
    x.add(1);
    x.pass(5s);
    x.exporter.set_endpoint("https://other.test/otlp");
    x.pass(1s);
    REQUIRE(x.collector.asked.size() == 2);
    CHECK(x.collector.asked[1].url == "https://other.test/otlp/v1/traces");
}

TEST_CASE("at the end each batch goes out at once, and only once")
{
    rig x;
    x.collector.answers = {scripted_collector::status(503)};
    x.add(1);
    x.pass(5s);
    x.add(gateway::telemetry::span_queue::batch - 1);
    CHECK(x.collector.asked.size() == 1);
    x.exporter.finish();
    x.turn();
    CHECK(x.collector.asked.size() == 3);
    CHECK(x.ended(span_end::failed) == gateway::telemetry::span_queue::batch);
    CHECK(x.exporter.idle());
    x.collector.answers = {scripted_collector::status(200)};
    x.add(1);
    CHECK(x.ended(span_end::exported) == 1);
}

TEST_CASE("what is left when the exporter stops has failed, also what is under way")
{
    rig x;
    x.collector.silent = true;
    x.add(gateway::telemetry::span_queue::batch + 3);
    REQUIRE(x.collector.asked.size() == 1);
    x.exporter.stop();
    CHECK(x.exporter.busy());
    CHECK(x.ended(span_end::failed) == gateway::telemetry::span_queue::batch + 3);
    x.collector.release();
    x.turn();
    CHECK_FALSE(x.exporter.busy());
    CHECK(x.ended(span_end::failed) == gateway::telemetry::span_queue::batch + 3);
    CHECK(x.ended(span_end::exported) == 0);
    CHECK(x.collector.asked.size() == 1);
}

TEST_SUITE_END();
