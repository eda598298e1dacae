#include "net/loop/loop.hpp"

#include "core/descriptor.hpp"

#include <boost/asio/post.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <new>
#include <string>

TEST_SUITE_BEGIN("net/loop");

namespace {

struct ending {
    int status = 0;     // as waitpid() tells it
    std::string words;  // on stderr
};

// A process of its own whose loop finds no memory.
ending run_without_memory(bool bounded)
{
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    const core::descriptor reading{ends[0]};
    core::descriptor writing{ends[1]};
    const auto child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(writing.number(), STDERR_FILENO);
        const ::rlimit space{1UL << 40U, 1UL << 40U};
        if (bounded && ::setrlimit(RLIMIT_AS, &space) != 0) {
            ::_exit(2);
        }
        net::loop loop;
        net::asio::post(loop.get_executor(), [] { throw std::bad_alloc{}; });
        loop.run();
        ::_exit(3);
    }
    writing = core::descriptor{};
    ending out;
    std::array<char, 512> piece{};
    for (auto size = ::read(reading.number(), piece.data(), piece.size()); size > 0;
         size = ::read(reading.number(), piece.data(), piece.size())) {
        out.words.append(piece.data(), static_cast<std::size_t>(size));
    }
    REQUIRE(::waitpid(child, &out.status, 0) == child);
    return out;
}

}  // namespace

TEST_CASE("A loop that finds no memory ends the process with 1 and one line that names the limit")
{
    for (const bool bounded : {false, true}) {
        CAPTURE(bounded);
        const auto end = run_without_memory(bounded);
        REQUIRE(WIFEXITED(end.status));
        CHECK(WEXITSTATUS(end.status) == EXIT_FAILURE);
        CHECK(end.words.starts_with("cardea: out of memory: "));
        CHECK(end.words.find('\n') == end.words.size() - 1);
        CHECK(
            end.words.find(bounded ? "1099511627776 bytes of addresses (RLIMIT_AS" : "memory.max") != std::string::npos
        );
    }
}

TEST_SUITE_END();
