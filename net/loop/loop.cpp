#include "net/loop/loop.hpp"

#include "net/loop/transport.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <utility>

namespace net {

void end_without_memory() noexcept
{
    ::rlimit space{};
    const bool bounded = ::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY;
    std::array<char, 256> line{};
    const int size =
        bounded ? std::snprintf(
                      line.data(),
                      line.size(),
                      "cardea: out of memory: the process reached its limit of %llu bytes of addresses "
                      "(RLIMIT_AS, LimitAS of systemd); raise it or lower limits.connections\n",
                      static_cast<unsigned long long>(space.rlim_cur)
                  )
                : std::snprintf(
                      line.data(),
                      line.size(),
                      "cardea: out of memory: the system gives no more (memory.max of the cgroup, MemoryMax of "
                      "systemd, vm.overcommit_memory); raise it or lower limits.connections\n"
                  );
    const auto written = size > 0 ? ::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(size)) : 0;
    static_cast<void>(written);  // the process ends anyway
    std::_Exit(EXIT_FAILURE);
}

namespace {

// An exception that leaves a loop is a bug, and ends the process, or other threads would wait for this one. Only a lack of memory is no
// bug.
void run_all(asio::io_context& operations) noexcept
{
    try {
        operations.run();
    } catch (const std::bad_alloc&) {
        end_without_memory();
    }
}

}  // namespace

loop::loop(std::shared_ptr<dns_cache> names)
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
