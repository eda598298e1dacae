#include "gateway/telemetry/audit_file.hpp"

#include "tests/support/scratch.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>

TEST_SUITE_BEGIN("gateway/audit_file");

namespace {

using gateway::telemetry::audit_file;
using test_support::read_whole;

std::unique_ptr<audit_file> opened(const std::string& path)
{
    auto file = audit_file::open("file:" + path);
    REQUIRE(file.has_value());
    return std::move(*file);
}

std::string failure_of(const std::string& path)
{
    const auto file = audit_file::open("file:" + path);
    REQUIRE(file.has_error());
    CHECK(file.error().code == core::errc::config_invalid);
    return file.error().detail;
}

void wait_until_written(const std::string& path, const std::string& text)
{
    while (read_whole(path) != text) {
        std::this_thread::yield();
    }
}

}  // namespace

TEST_CASE("lines are appended to a file that is for its owner alone")
{
    const test_support::scratch_directory directory;
    const auto path = directory.file("audit");
    opened(path)->write("first");
    opened(path)->write("second");
    CHECK(read_whole(path) == "first\nsecond\n");
    struct ::stat status{};
    REQUIRE(::stat(path.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777U) == 0600U);
}

TEST_CASE("Each line names the replica that wrote it")
{
    const test_support::scratch_directory directory;
    const auto path = directory.file("audit");
    {
        const auto file = opened(path);
        file->set_replica(gateway::telemetry::replica_field{"cardea-0"});
        file->write("{\"event\":\"a\"}\n{\"event\":\"b\"}");
    }
    CHECK(
        read_whole(path) == "{\"event\":\"a\",\"replica\":\"cardea-0\"}\n{\"event\":\"b\",\"replica\":\"cardea-0\"}\n"
    );
}

TEST_CASE("after a rotation lines go to a new file, and none is lost")
{
    const test_support::scratch_directory directory;
    const auto path = directory.file("audit");
    const auto file = opened(path);
    file->write("first");
    wait_until_written(path, "first\n");
    REQUIRE(std::rename(path.c_str(), (path + ".1").c_str()) == 0);
    file->write("second");
    wait_until_written(path + ".1", "first\nsecond\n");
    CHECK(file->reopen().has_value());
    file->write("third");
    wait_until_written(path, "third\n");
    CHECK(read_whole(path + ".1") == "first\nsecond\n");
}

TEST_CASE("a file that cannot be opened again leaves the one before in use")
{
    const test_support::scratch_directory directory;
    const auto path = directory.file("audit");
    const auto file = opened(path);
    REQUIRE(std::rename(path.c_str(), (path + ".1").c_str()) == 0);
    REQUIRE(::mkdir(path.c_str(), 0700) == 0);
    CHECK(file->reopen().has_error());
    file->write("line");
    wait_until_written(path + ".1", "line\n");
}

TEST_CASE("what is no regular file is refused, without waiting for a reader of a pipe")
{
    const test_support::scratch_directory directory;
    CHECK(failure_of(directory.file("no/such/directory")).find("No such file or directory") != std::string::npos);
    CHECK(failure_of(directory.path().string()).find("Is a directory") != std::string::npos);
    CHECK(failure_of("/dev/full").find("is not a regular file") != std::string::npos);
    const auto pipe = directory.file("pipe");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    CHECK(failure_of(pipe).starts_with("audit: " + pipe + ": "));
    const int reader = ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
    REQUIRE(reader >= 0);
    CHECK(failure_of(pipe).find("is not a regular file") != std::string::npos);
    ::close(reader);
}

TEST_CASE("a symbolic link is not followed, at the start and after a rotation")
{
    const test_support::scratch_directory directory;
    const auto target = directory.file("target");
    const auto link = directory.file("link");
    REQUIRE(::symlink(target.c_str(), link.c_str()) == 0);
    CHECK(failure_of(link).find("is a symbolic link") != std::string::npos);
    CHECK(::access(target.c_str(), F_OK) != 0);
    const auto path = directory.file("audit");
    const auto file = opened(path);
    REQUIRE(std::rename(path.c_str(), (path + ".1").c_str()) == 0);
    REQUIRE(::symlink(target.c_str(), path.c_str()) == 0);
    CHECK(file->reopen().has_error());
    file->write("line");
    wait_until_written(path + ".1", "line\n");
    CHECK(::access(target.c_str(), F_OK) != 0);
}

TEST_CASE("while lines cannot be written it says so, and counts them")
{
    const auto previous = std::signal(SIGXFSZ, SIG_IGN);
    rlimit original{};
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &original) == 0);
    const test_support::scratch_directory directory;
    const auto path = directory.file("audit");
    const auto file = opened(path);
    rlimit none = original;
    none.rlim_cur = 0;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &none) == 0);
    CHECK_FALSE(file->failing());
    file->write("lost");
    while (!file->failing()) {
        std::this_thread::yield();
    }
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &original) == 0);
    CHECK(file->failing());
    file->write("seen");
    wait_until_written(path, "seen\n");
    while (file->failing()) {
        std::this_thread::yield();
    }
    CHECK(file->dropped() == 1);
    std::signal(SIGXFSZ, previous);
}

TEST_SUITE_END();
