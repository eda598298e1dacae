#include "gateway/monitors/overload_watch.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <string_view>

TEST_SUITE_BEGIN("gateway/monitors/clock_watch");

namespace {

using namespace std::chrono_literals;

class one_text final : public core::log_sink {
public:
    void write(std::string_view lines) override { text_ += lines; }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

struct rig {
    // A tenth of a second later, with the wall clock set by so much meanwhile.
    void look(std::chrono::nanoseconds step)
    {
        steady += 100ms;
        *wall += std::chrono::duration_cast<core::wall_time::duration>(100ms + step);
        watch.look(steady);
    }

    std::shared_ptr<core::wall_time> wall = std::make_shared<core::wall_time>(std::chrono::sys_days{2026y / 1 / 1});
    one_text lines;
    core::logger log{lines, core::log_level::info};
    gateway::monitors::clock_watch watch{log, [now = wall] { return *now; }};
    core::steady_time steady = std::chrono::steady_clock::now();
};

}  // namespace

TEST_CASE("A step of the clock is said once, with its size, in both directions")
{
    rig x;
    x.look(0s);
    CHECK(x.lines.text().empty());
    x.look(87'600h);
    CHECK(x.lines.text().find(R"("event":"clock_stepped","seconds":315360000)") != std::string::npos);
    const auto once = x.lines.text();
    x.look(0s);
    CHECK(x.lines.text() == once);
    x.look(-175'200h);
    CHECK(x.lines.text().find(R"("event":"clock_stepped","seconds":-630720000)") != std::string::npos);
}

TEST_CASE("A clock that is led to the right time, or steps by less than a second, is not worth a line")
{
    rig x;
    for (int i = 0; i < 100; ++i) {
        x.look(50ms);
    }
    x.look(-900ms);
    CHECK(x.lines.text().empty());
}

TEST_SUITE_END();
