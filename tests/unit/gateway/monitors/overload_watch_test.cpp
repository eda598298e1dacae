#include "gateway/monitors/overload_watch.hpp"

#include "net/loop/loop.hpp"

#include <boost/asio/io_context.hpp>

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/monitors/overload_watch");

namespace {

using namespace std::chrono_literals;

class no_lines final : public core::log_sink {
public:
    void write(std::string_view) override {}
};

}  // namespace

TEST_CASE("One stuck worker is no overload while another one runs, and is one when it is the only one")
{
    no_lines nowhere;
    const core::logger log{nowhere, core::log_level::error};
    net::loop control;
    net::loop stuck;  // nobody runs it
    config::overload_settings marks;
    marks.lag = {300ms, 300ms, 300ms};
    marks.memory = {1000, 1000, 1000};
    gateway::monitors::overload_watch of_both{control.get_executor(), marks, log};
    gateway::monitors::overload_watch of_stuck{control.get_executor(), marks, log};
    // What runs in the control loop's turn runs at once.
    of_both.start({stuck.get_executor(), control.get_executor()});
    of_stuck.start({stuck.get_executor()});
    while (of_stuck.level() < gateway::balancing::most_overload) {
        control.io().run_one();
    }
    CHECK(of_both.level() == 0);
    of_both.stop();
    of_stuck.stop();
}

TEST_SUITE_END();
