#include "gateway/telemetry/log_output.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

TEST_SUITE_BEGIN("gateway/log_output");

namespace {

using namespace std::chrono_literals;

struct pipe_ends {
    pipe_ends() { REQUIRE(::pipe(ends.data()) == 0); }
    ~pipe_ends()
    {
        close_reader();
        close_writer();
    }
    pipe_ends(const pipe_ends&) = delete;
    pipe_ends& operator=(const pipe_ends&) = delete;

    int reader() const { return ends[0]; }
    int writer() const { return ends[1]; }
    void close_reader() { close(ends[0]); }
    void close_writer() { close(ends[1]); }

    // Until every writer is closed.
    std::string read_all() const
    {
        std::string text;
        std::array<char, 4096> block{};
        for (ssize_t n = 0; (n = ::read(ends[0], block.data(), block.size())) > 0;) {
            text.append(block.data(), static_cast<std::size_t>(n));
        }
        return text;
    }

    // Nobody reads, and nothing more fits.
    void fill()
    {
        const int flags = ::fcntl(ends[1], F_GETFL);
        ::fcntl(ends[1], F_SETFL, flags | O_NONBLOCK);
        const std::string block(4096, '.');
        while (::write(ends[1], block.data(), block.size()) > 0) {
            filled += block.size();
        }
        ::fcntl(ends[1], F_SETFL, flags);
    }

    std::array<int, 2> ends{-1, -1};
    std::size_t filled = 0;

private:
    static void close(int& end)
    {
        if (end >= 0) {
            ::close(end);
            end = -1;
        }
    }
};

std::vector<std::string> lines_of(const std::string& text)
{
    std::vector<std::string> lines;
    std::istringstream stream{text};
    for (std::string line; std::getline(stream, line);) {
        lines.push_back(line);
    }
    return lines;
}

struct temporary_file {
    temporary_file()
    {
        std::string pattern = (std::filesystem::temp_directory_path() / "log_output_XXXXXX").string();
        descriptor = ::mkstemp(pattern.data());
        path = pattern;
        REQUIRE(descriptor >= 0);
    }
    ~temporary_file()
    {
        ::close(descriptor);
        std::filesystem::remove(path);
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;

    std::string text() const
    {
        std::ifstream file{path, std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }

    int descriptor = -1;
    std::filesystem::path path;
};

}  // namespace

TEST_CASE("lines come out as they went in, in order, and all of them before the end")
{
    temporary_file file;
    {
        gateway::telemetry::log_output output{{.descriptor = file.descriptor}};
        output.write("{\"a\":1}");
        output.write("");
        output.write("{\"b\":\"{} %v %n\"}\n{\"c\":3}");
        CHECK(output.dropped() == 0);
    }
    CHECK(file.text() == "{\"a\":1}\n{\"b\":\"{} %v %n\"}\n{\"c\":3}\n");
}

TEST_CASE("lines take the form that was chosen last, each line of a batch")
{
    const std::string start = R"({"ts":"2026-11-20T06:39:05.123Z","level":)";
    temporary_file file;
    {
        gateway::telemetry::log_output output{{.descriptor = file.descriptor}};
        output.set_form({.journal = true});
        output.write(start + R"("warn","event":"a"})" + '\n' + start + R"("info","event":"b"})");
    }
    CHECK(file.text() == "<4>" + start + R"("warn","event":"a"})" + "\n<6>" + start + R"("info","event":"b"})" + '\n');
    temporary_file other;
    {
        gateway::telemetry::log_output output{{.descriptor = other.descriptor}};
        output.set_form({.text = true});
        output.write(start + R"("warn","event":"a_b","agent":"words"})");
    }
    CHECK(other.text() == "06:39:05 WARN  words  a b\n");
}

TEST_CASE("a batch larger than a pipe takes at once arrives whole")
{
    pipe_ends pipe;
    auto all = std::async(std::launch::async, [&pipe] { return pipe.read_all(); });
    std::string batch;
    for (int i = 0; i < 40'000; ++i) {
        batch += "line " + std::to_string(i) + '\n';
    }
    batch.pop_back();
    {
        gateway::telemetry::log_output output{{.descriptor = pipe.writer(), .patience = 60s}};
        output.write(batch);
    }
    pipe.close_writer();
    CHECK(all.get() == batch + '\n');
}

TEST_CASE("a descriptor that does not block loses nothing either")
{
    pipe_ends pipe;
    REQUIRE(::fcntl(pipe.writer(), F_SETFL, ::fcntl(pipe.writer(), F_GETFL) | O_NONBLOCK) == 0);
    auto all = std::async(std::launch::async, [&pipe] { return pipe.read_all(); });
    const std::string batch(500'000, 'x');
    {
        gateway::telemetry::log_output output{{.descriptor = pipe.writer(), .patience = 60s}};
        output.write(batch);
        output.write("last");
    }
    pipe.close_writer();
    CHECK(all.get() == batch + "\nlast\n");
}

TEST_CASE("a reader who does not read costs the oldest lines, counted one by one, and no time")
{
    pipe_ends pipe;
    pipe.fill();
    std::string seen;
    std::uint64_t dropped = 0;
    constexpr std::uint64_t writes = 100;
    {
        gateway::telemetry::log_output output{{.descriptor = pipe.writer(), .queue = 8, .patience = 60s}};
        // Three lines each. One write may be in the hands of the writing thread, eight wait.
        for (std::uint64_t i = 0; i < writes; ++i) {
            const auto number = std::to_string(i);
            output.write("a" + number + "\nb" + number + "\nc" + number);
        }
        dropped = output.dropped();
        CHECK(dropped % 3 == 0);
        CHECK(dropped >= (writes - 9) * 3);
        CHECK(dropped <= (writes - 8) * 3);

        std::string filled(pipe.filled, '\0');
        for (std::size_t got = 0; got < filled.size();) {
            const auto n = ::read(pipe.reader(), filled.data() + got, filled.size() - got);
            REQUIRE(n > 0);
            got += static_cast<std::size_t>(n);
        }
    }
    pipe.close_writer();
    const auto lines = lines_of(pipe.read_all());
    CHECK(lines.size() == writes * 3 - dropped);
    REQUIRE(lines.size() >= 24);
    CHECK(lines.back() == "c99");
    CHECK(lines[lines.size() - 24] == "a92");
}

TEST_CASE("what is counted as dropped and what is seen add up with many writers")
{
    temporary_file file;
    std::uint64_t dropped = 0;
    constexpr int writers = 4;
    constexpr int writes = 2'000;
    {
        gateway::telemetry::log_output output{{.descriptor = file.descriptor, .queue = 2}};
        std::vector<std::thread> threads;
        for (int t = 0; t < writers; ++t) {
            threads.emplace_back([&output, t] {
                const std::string batch(static_cast<std::size_t>(t), '\n');
                for (int i = 0; i < writes; ++i) {
                    output.write("x" + batch);
                }
            });
        }
        for (auto& thread : threads) {
            thread.join();
        }
        dropped = output.dropped();
    }
    const auto text = file.text();
    const auto seen = static_cast<std::uint64_t>(std::ranges::count(text, '\n'));
    CHECK(seen + dropped == writes * (1 + 2 + 3 + 4));
}

TEST_CASE("the end does not wait for a reader who never reads")
{
    pipe_ends pipe;
    pipe.fill();
    const auto start = std::chrono::steady_clock::now();
    {
        gateway::telemetry::log_output output{{.descriptor = pipe.writer(), .queue = 100, .patience = 10ms}};
        for (int i = 0; i < 100; ++i) {
            output.write("line");
        }
    }
    // Far above the patience and far below what 100 patiences and the default would take together.
    CHECK(std::chrono::steady_clock::now() - start < 30s);
}

TEST_CASE("the end does not wait for a reader who stops within a line")
{
    pipe_ends pipe;
    pipe.fill();
    std::array<char, 4096> block{};
    REQUIRE(::read(pipe.reader(), block.data(), block.size()) == block.size());
    const auto start = std::chrono::steady_clock::now();
    {
        gateway::telemetry::log_output output{{.descriptor = pipe.writer(), .patience = 10ms}};
        output.write(std::string(100'000, 'x'));
    }
    CHECK(std::chrono::steady_clock::now() - start < 30s);
    pipe.close_writer();
    CHECK(pipe.read_all() == std::string(pipe.filled - block.size(), '.') + std::string(block.size(), 'x'));
}

TEST_CASE("lines that the descriptor refuses are counted, and end nothing")
{
    const auto previous = std::signal(SIGPIPE, SIG_IGN);
    pipe_ends pipe;
    pipe.close_reader();
    std::uint64_t dropped = 0;
    {
        gateway::telemetry::log_output output{{.descriptor = pipe.writer()}};
        output.write("a\nb");
        output.write("c");
        while (output.dropped() < 3) {
            std::this_thread::yield();
        }
        dropped = output.dropped();
    }
    CHECK(dropped == 3);
    std::signal(SIGPIPE, previous);
}

TEST_CASE("a line that was cut by an error does not run into the next one")
{
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    rlimit original{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &original) == 0);
    temporary_file file;
    {
        gateway::telemetry::log_output output{{.descriptor = file.descriptor}};
        rlimit small = original;
        small.rlim_cur = 10;
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
        output.write("first\nsecond\nthird");
        while (output.dropped() < 2) {
            std::this_thread::yield();
        }
        CHECK(output.dropped() == 2);
        REQUIRE(::setrlimit(RLIMIT_FSIZE, &original) == 0);
        output.write("fourth");
    }
    CHECK(file.text() == "first\nseco\nfourth\n");
    std::signal(SIGXFSZ, previous);
}

TEST_CASE("lines for a terminal have no control characters in them, and are the same JSON")
{
    const int ours = ::posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(ours >= 0);
    REQUIRE(::grantpt(ours) == 0);
    REQUIRE(::unlockpt(ours) == 0);
    std::array<char, 64> name{};
    REQUIRE(::ptsname_r(ours, name.data(), name.size()) == 0);
    const int terminal = ::open(name.data(), O_RDWR | O_NOCTTY);
    REQUIRE(terminal >= 0);
    {
        gateway::telemetry::log_output output{{.descriptor = terminal}};
        output.write(
            "{\"a\":\"\xc2\x9b"
            "31m\xe2\x80\xae\x1b\"}\n{\"b\":\"\xc3\xa9\"}"
        );
    }
    std::array<char, 256> block{};
    const auto got = ::read(ours, block.data(), block.size());
    ::close(terminal);
    ::close(ours);
    REQUIRE(got > 0);
    // The terminal makes CRLF of LF.
    CHECK(
        std::string_view{block.data(), static_cast<std::size_t>(got)} ==
        "{\"a\":\"\\u009b31m\\u202e\\u001b\"}\r\n{\"b\":\"\xc3\xa9\"}\r\n"
    );
}

TEST_SUITE_END();
