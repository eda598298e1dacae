#include "gateway/telemetry/live_log.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <limits>
#include <optional>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("gateway/live_log");

namespace {

using gateway::telemetry::live_log;

struct counting_sink final : core::log_sink {
    void write(std::string_view lines) override { written.emplace_back(lines); }
    std::vector<std::string> written;
};

struct silent_sink final : core::log_sink {
    void write(std::string_view) override {}
};

constexpr auto everything = std::numeric_limits<std::size_t>::max();

// What is kept: `number:line` and a blank for each.
std::string kept(live_log& log, std::uint64_t from = 0, std::size_t most = everything)
{
    std::string out;
    for (const auto& batch : log.since(from, most)) {
        auto rest = batch.lines();
        for (std::size_t i = 0; i < batch.count; ++i) {
            const auto line = rest.substr(0, rest.find('\n'));
            rest.remove_prefix(line.size() + 1);
            out += std::to_string(batch.first + i) + ':' + std::string{line} + ' ';
        }
        CHECK(rest.empty());
    }
    return out;
}

}  // namespace

TEST_CASE("lines pass, are kept, and have numbers that count up")
{
    counting_sink behind;
    live_log log{behind, 5};
    CHECK(log.range().next == 5);
    log.write("a");
    log.write("b\nc");
    log.write("");
    CHECK(behind.written == std::vector<std::string>{"a", "b\nc", ""});
    CHECK(kept(log) == "5:a 6:b 7:c ");
    CHECK(kept(log, 6) == "6:b 7:c ");
    CHECK(kept(log, 7) == "6:b 7:c ");  // whole batches
    CHECK(kept(log, 8).empty());
    CHECK(log.range().of_process == 5);
    CHECK(log.range().kept == 5);
    CHECK(log.range().next == 8);
}

TEST_CASE("lines for viewers alone are kept and go no further")
{
    counting_sink behind;
    live_log log{behind, 1};
    log.viewers().write("a\nb");
    CHECK(behind.written.empty());
    CHECK(kept(log) == "1:a 2:b ");
}

TEST_CASE("the limit of lines holds exactly, within a batch too")
{
    silent_sink behind;
    for (const int count : {2, 3, 4, 7}) {
        CAPTURE(count);
        live_log log{behind, 1, {.lines = 3, .bytes = 1000, .unread = 1000}};
        std::string lines;
        for (int i = 1; i <= count; ++i) {
            lines += (i == 1 ? "" : "\n") + std::string{"x"};
        }
        log.write(lines);
        CHECK(log.range().kept == static_cast<std::uint64_t>(std::max(1, count - 2)));
        CHECK(log.range().next == static_cast<std::uint64_t>(count) + 1);
        log.write("y");
        CHECK(log.range().kept == static_cast<std::uint64_t>(std::max(1, count - 1)));
    }
}

TEST_CASE("the limit of bytes holds exactly, with a line break for each line")
{
    silent_sink behind;
    live_log log{behind, 1, {.lines = 1000, .bytes = 10, .unread = 10}};
    log.write("1234");
    log.write("5678");
    CHECK(kept(log) == "1:1234 2:5678 ");
    log.write("");
    log.write("9");
    CHECK(kept(log) == "2:5678 3:9 ");
    log.write("0123456789");  // more than all
    CHECK(kept(log).empty());
    CHECK(log.range().kept == 5);
    log.write("a");
    CHECK(kept(log) == "5:a ");
}

TEST_CASE("no more batches are given once there are enough bytes")
{
    silent_sink behind;
    live_log log{behind, 1};
    log.write("aa");
    log.write("bb");
    log.write("cc");
    CHECK(kept(log, 0, 1) == "1:aa ");
    CHECK(kept(log, 0, 3) == "1:aa ");
    CHECK(kept(log, 0, 4) == "1:aa 2:bb ");
    CHECK(kept(log, 2, 1) == "2:bb ");
}

TEST_CASE("a reader is woken once, by the first line that it has not taken")
{
    silent_sink behind;
    live_log log{behind, 1};
    int woken = 0;
    const auto wake = [&] { ++woken; };
    log.await(1, wake);
    CHECK(woken == 0);
    log.write("a");
    CHECK(woken == 1);
    log.write("b");
    CHECK(woken == 1);
    log.await(2, wake);  // b is there
    CHECK(woken == 2);
    log.await(3, wake);
    CHECK(woken == 2);
    log.viewers().write("c");
    CHECK(woken == 3);
    log.await(4, wake);
    log.await(0, nullptr);
    log.write("d");
    CHECK(woken == 3);
}

TEST_CASE("lines that a reader has not taken stay longer, up to their own limit")
{
    silent_sink behind;
    live_log log{behind, 1, {.lines = 2, .bytes = 1000, .unread = 10}};
    log.write("a");
    log.keep_for_reader(2);
    for (const char* line : {"b", "c", "d", "e"}) {
        log.write(line);
    }
    CHECK(kept(log) == "2:b 3:c 4:d 5:e ");  // a was taken
    log.write("f");
    CHECK(kept(log) == "2:b 3:c 4:d 5:e 6:f ");  // 10 bytes
    log.write("g");
    CHECK(kept(log) == "3:c 4:d 5:e 6:f 7:g ");
    log.keep_for_reader(7);
    CHECK(kept(log) == "6:f 7:g ");
    log.write("h");
    log.write("i");
    CHECK(kept(log) == "7:g 8:h 9:i ");
    log.keep_for_reader(std::nullopt);
    CHECK(kept(log) == "8:h 9:i ");
}

TEST_CASE("a batch that was given stays as it is while the log goes on")
{
    silent_sink behind;
    live_log log{behind, 1, {.lines = 2, .bytes = 1000, .unread = 1000}};
    log.write("a\nb");
    const auto given = log.since(0, everything);
    log.write("c\nd");
    REQUIRE(given.size() == 1);
    CHECK(given[0].lines() == "a\nb\n");
    CHECK(kept(log) == "3:c 4:d ");
}

TEST_CASE("many writers and a reader lose no line within the limits")
{
    silent_sink behind;
    live_log log{behind, 1, {.lines = 10, .bytes = 1000, .unread = 100'000'000}};
    constexpr int writers = 4;
    constexpr int each = 2000;
    std::atomic<int> woken{0};
    std::uint64_t next = 1;
    log.keep_for_reader(next);
    log.await(next, [&] { ++woken; });
    std::vector<std::thread> threads;
    for (int i = 0; i < writers; ++i) {
        threads.emplace_back([&log] {
            for (int n = 0; n < each; ++n) {
                log.write("line\nline");
            }
        });
    }
    std::uint64_t seen = 0;
    bool in_order = true;
    while (seen < 2ULL * writers * each) {
        for (const auto& batch : log.since(next, 1000)) {
            in_order = in_order && batch.first == next;
            next = batch.first + batch.count;
            seen += batch.count;
        }
        log.keep_for_reader(next);
        log.await(next, [&] { ++woken; });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    CHECK(in_order);
    CHECK(seen == 2ULL * writers * each);
    CHECK(woken > 0);
}

TEST_CASE("Every line has the name of the replica, for those who read the log and for those who watch it")
{
    counting_sink behind;
    live_log log{behind, 1};
    log.set_replica(gateway::telemetry::replica_field{"cardea-\"0\""});
    log.write("{\"a\":1}\n{\"b\":{\"c\":2}}");
    log.viewers().write("{\"d\":3}");
    CHECK(
        behind.written ==
        std::vector<std::string>{
            "{\"a\":1,\"replica\":\"cardea-\\\"0\\\"\"}\n{\"b\":{\"c\":2},\"replica\":\"cardea-\\\"0\\\"\"}"
        }
    );
    CHECK(
        kept(log) ==
        "1:{\"a\":1,\"replica\":\"cardea-\\\"0\\\"\"} "
        "2:{\"b\":{\"c\":2},\"replica\":\"cardea-\\\"0\\\"\"} "
        "3:{\"d\":3,\"replica\":\"cardea-\\\"0\\\"\"} "
    );
}

TEST_CASE("Without a replica lines stay as they are")
{
    counting_sink behind;
    live_log log{behind, 1};
    log.set_replica(gateway::telemetry::replica_field{""});
    log.write("{\"a\":1}");
    CHECK(behind.written == std::vector<std::string>{"{\"a\":1}"});
}
