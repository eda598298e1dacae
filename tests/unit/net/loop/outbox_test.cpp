#include "net/loop/outbox.hpp"

#include <boost/asio/post.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <vector>

TEST_SUITE_BEGIN("net/loop/outbox");

namespace {

struct two_loops {
    net::asio::io_context here{1};
    net::asio::io_context there{1};
    std::vector<std::size_t> came;

    void tell(std::size_t what)
    {
        net::tell(here.get_executor(), there.get_executor(), [this, what] { came.push_back(what); });
    }

    // How many handlers run there, which is how often its thread may be woken.
    std::size_t run_there()
    {
        there.restart();
        return there.poll();
    }
};

}  // namespace

TEST_CASE("What one loop tells another in one round comes together, in order, and only then")
{
    two_loops x;
    net::asio::post(x.here, [&x] {
        x.tell(1);
        x.tell(2);
        x.tell(3);
        CHECK(x.run_there() == 0);
    });
    x.here.run();
    CHECK(x.run_there() == 1);
    CHECK(x.came == std::vector<std::size_t>{1, 2, 3});
}

TEST_CASE("What is told in a later round comes too")
{
    two_loops x;
    for (const std::size_t each : {1U, 2U}) {
        x.here.restart();
        net::asio::post(x.here, [&x, each] { x.tell(each); });
        x.here.run();
        CHECK(x.run_there() == 1);
    }
    CHECK(x.came == std::vector<std::size_t>{1, 2});
}

TEST_CASE("No more than most_told_together waits for the end of a round")
{
    for (const std::size_t count :
         {net::most_told_together - 1, net::most_told_together, net::most_told_together + 1}) {
        CAPTURE(count);
        two_loops x;
        net::asio::post(x.here, [&x, count] {
            for (std::size_t i = 0; i < count; ++i) {
                x.tell(i);
            }
            CHECK(x.run_there() == (count < net::most_told_together ? 0 : 1));
        });
        x.here.run();
        x.run_there();
        CHECK(x.came.size() == count);
        CHECK(x.came.back() == count - 1);
    }
}

TEST_CASE("Each of several loops gets what is for it")
{
    two_loops x;
    net::asio::io_context third{1};
    std::size_t of_third = 0;
    net::asio::post(x.here, [&] {
        x.tell(1);
        net::tell(x.here.get_executor(), third.get_executor(), [&] { ++of_third; });
        x.tell(2);
    });
    x.here.run();
    x.run_there();
    CHECK(x.came == std::vector<std::size_t>{1, 2});
    CHECK(of_third == 0);
    third.run();
    CHECK(of_third == 1);
}

TEST_CASE("What waits goes before what is posted behind tell_now(), also when the loop no longer runs")
{
    two_loops x;
    x.tell(1);
    net::tell_now(x.here.get_executor(), x.there.get_executor());
    net::asio::post(x.there, [&x] { x.came.push_back(2); });
    x.run_there();
    CHECK(x.came == std::vector<std::size_t>{1, 2});
}

TEST_CASE("What a loop that ends has told nobody yet is let go of")
{
    auto held = std::make_shared<int>();
    net::asio::io_context there{1};
    {
        net::asio::io_context here{1};
        net::tell(here.get_executor(), there.get_executor(), [held] { CHECK(*held == 1); });
        CHECK(held.use_count() == 2);
    }
    CHECK(held.use_count() == 1);
    CHECK(there.poll() == 0);
}

TEST_SUITE_END();
