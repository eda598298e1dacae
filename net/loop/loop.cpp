#include "net/loop/loop.hpp"

#include "net/loop/frame_pool.hpp"
#include "net/loop/transport.hpp"

#include <array>
#include <ctime>
#include <utility>

namespace net {
namespace {

// What leaves a loop is a bug, and ends the process: a service manager starts it again. Otherwise threads wait for the one that is gone.
void run_all(asio::io_context& operations) noexcept
{
    operations.run();
}

}  // namespace

loop::loop(std::shared_ptr<name_book> names)
    : work_{asio::make_work_guard(io_)},
      deadlines_{io_},
      poller_{io_},
      resolver_{io_, std::move(names)}
{
    deadlines_.add(buffers_);
    deadlines_.add(resolver_);
}

void loop::run()
{
    frame_pool::prepare_thread();
    deadlines_.start();
    poller_.start();
    run_all(io_);
}

void loop::stop()
{
    deadlines_.stop();
    poller_.stop();
    work_.reset();
}

char* loop::record()
{
    if (record_ == nullptr) {
        record_ = std::make_unique_for_overwrite<char[]>(transport::tls_record);
    }
    return record_.get();
}

std::string_view loop::http_date()
{
    const auto now = std::time(nullptr);
    if (now != date_second_) {
        std::tm parts{};
        ::gmtime_r(&now, &parts);
        std::array<char, 40> text{};
        // The process never calls setlocale: names of days and months are the C locale's, as the format demands.
        const auto length = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
        date_.assign(text.data(), length);
        date_second_ = now;
    }
    return date_;
}

}  // namespace net
