#include "config/file.hpp"

#include <doctest/doctest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <string>

TEST_SUITE_BEGIN("config/file");

namespace {

// A file of its own, gone at the end.
class temporary_file {
public:
    explicit temporary_file(const std::string& content)
    {
        const int number = ::mkstemp(path_.data());
        REQUIRE(number >= 0);
        ::close(number);
        std::ofstream{path_, std::ios::binary} << content;
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() { ::unlink(path_.c_str()); }

    const std::string& path() const { return path_; }

private:
    std::string path_ = "/tmp/cardea-test-XXXXXX";
};

std::string shown(const core::result<std::string>& content)
{
    return content ? *content : "failed: " + content.error().detail;
}

}  // namespace

TEST_CASE("a file is read whole, up to its limit")
{
    const temporary_file file{std::string{"a\0b\n", 4}};
    CHECK(shown(config::read_file(file.path())) == std::string{"a\0b\n", 4});
    CHECK(shown(config::read_file(file.path(), 5)) == std::string{"a\0b\n", 4});
    CHECK(shown(config::read_file(file.path(), 4)) == std::string{"a\0b\n", 4});
    CHECK(shown(config::read_file(file.path(), 3)) == "failed: is longer than 3 bytes");
}

TEST_CASE("a file larger than one read is whole as well")
{
    const std::string content(200'000, 'x');
    const temporary_file file{content};
    CHECK(config::read_file(file.path()).value() == content);
}

TEST_CASE("what is no file says why")
{
    CHECK(shown(config::read_file("/tmp")) == "failed: is a directory; expected a file");
    CHECK(shown(config::read_file("/nowhere/at/all")) == "failed: cannot be opened: No such file or directory");
    CHECK(shown(config::read_file("")) == "failed: cannot be opened: No such file or directory");
    CHECK(shown(config::read_file(std::string{"/dev/null\0x", 11})) == "failed: has a NUL in its name");
    CHECK(shown(config::read_file("/dev/zero", 100)) == "failed: is longer than 100 bytes");
}

TEST_CASE("a credential in a file has no line breaks at its end, and at most 64 KiB")
{
    CHECK(shown(config::read_secret_file(temporary_file{"token\n"}.path())) == "token");
    CHECK(shown(config::read_secret_file(temporary_file{"token\r\n\n"}.path())) == "token");
    CHECK(shown(config::read_secret_file(temporary_file{"\n"}.path())) == "");
    CHECK(config::read_secret_file(temporary_file{std::string(65'536, 't')}.path()).has_value());
    CHECK(
        shown(config::read_secret_file(temporary_file{std::string(65'537, 't')}.path())) ==
        "failed: is longer than 65536 bytes"
    );
}

TEST_SUITE_END();
