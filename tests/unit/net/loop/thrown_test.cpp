#include "net/loop/thrown.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>

TEST_SUITE_BEGIN("net/thrown");

namespace {

class kept_lines final : public core::log_sink {
public:
    void write(std::string_view lines) override { text += lines; }

    std::string text;
};

}  // namespace

TEST_CASE("an exception of a coroutine is one line of the log, with the place that spawned it")
{
    kept_lines sink;
    const core::logger log{sink, core::log_level::info};
    net::log_thrown(std::make_exception_ptr(std::runtime_error{"no such agent"}), log, "reload");
    CHECK(
        sink.text.find(R"("level":"error","event":"internal_error","where":"reload","what":"no such agent"})") !=
        std::string::npos
    );
}

TEST_CASE("a coroutine that throws nothing is not reported")
{
    kept_lines sink;
    const core::logger log{sink, core::log_level::info};
    net::log_thrown(nullptr, log, "reload");
    CHECK(sink.text.empty());
}

TEST_CASE("an exception that is no std::exception goes on to the loop")
{
    CHECK_THROWS_AS(net::report_thrown(std::make_exception_ptr(7), [](std::string_view) {}), int);
}

TEST_SUITE_END();
