#include "gateway/telemetry/process_stats.hpp"

#include "gateway/telemetry/metric_family.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace gateway::telemetry {
namespace {

// The field with this number, counted from 0, of `text`, whose fields are parted by single blanks.
std::optional<std::uint64_t> number_at(std::string_view text, std::size_t field)
{
    for (; field > 0; --field) {
        const auto blank = text.find(' ');
        if (blank == std::string_view::npos) {
            return std::nullopt;
        }
        text.remove_prefix(blank + 1);
    }
    std::uint64_t number = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    return failure == std::errc{} ? std::optional{number} : std::nullopt;
}

core::result<std::string> read_file(const std::filesystem::path& path)
{
    std::ifstream file{path, std::ios::binary};
    std::string text{std::istreambuf_iterator<char>{file}, {}};
    if (!file.is_open() || file.bad()) {
        return core::gateway_error(core::errc::internal, "cannot read " + path.string());
    }
    return text;
}

core::result<std::uint64_t> count_entries(const std::filesystem::path& path)
{
    std::error_code failure;
    std::uint64_t count = 0;
    for (std::filesystem::directory_iterator at{path, failure}, end; !failure && at != end; at.increment(failure)) {
        ++count;
    }
    if (failure) {
        return core::gateway_error(core::errc::internal, "cannot list " + path.string());
    }
    return count;
}

}  // namespace

core::result<process_stats> parse_stat(std::string_view stat, kernel_units units)
{
    const auto name_end = stat.rfind(") ");
    if (name_end == std::string_view::npos || units.ticks <= 0 || units.page <= 0) {
        return core::gateway_error(core::errc::internal, "stat is not understood");
    }
    const auto after_name = stat.substr(name_end + 2);
    const auto number = [&](std::size_t field) { return number_at(after_name, field - 3); };
    const auto user = number(14);
    const auto system = number(15);
    const auto threads = number(20);
    const auto address_space = number(23);
    const auto pages = number(24);
    if (!user || !system || !threads || !address_space || !pages) {
        return core::gateway_error(core::errc::internal, "stat is not understood");
    }
    process_stats out;
    out.cpu_time = std::chrono::milliseconds{(*user + *system) * 1000 / static_cast<std::uint64_t>(units.ticks)};
    out.threads = *threads;
    out.address_space = *address_space;
    out.resident_bytes = *pages * static_cast<std::uint64_t>(units.page);
    return out;
}

core::result<std::uint64_t> parse_most_descriptors(std::string_view limits)
{
    constexpr std::string_view name = "Max open files";
    const auto line = limits.find(name);
    const auto at = line == std::string_view::npos ? line : limits.find_first_not_of(' ', line + name.size());
    if (at == std::string_view::npos) {
        return core::gateway_error(core::errc::internal, "limits is not understood");
    }
    const auto value = limits.substr(at);
    if (value.starts_with("unlimited")) {
        return std::numeric_limits<std::uint64_t>::max();
    }
    const auto number = number_at(value, 0);
    return number ? core::result<std::uint64_t>{*number}
                  : core::gateway_error(core::errc::internal, "limits is not understood");
}

unsigned usable_cores() noexcept
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    const bool known = ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0;  // not beyond 1,024 cores
    return known ? static_cast<unsigned>(CPU_COUNT(&allowed)) : std::max(1U, std::thread::hardware_concurrency());
}

core::result<process_stats> read_process_stats(const std::filesystem::path& directory)
{
    const auto stat = read_file(directory / "stat");
    const auto limits = read_file(directory / "limits");
    const auto descriptors = count_entries(directory / "fd");
    if (!stat) {
        return stat.error();
    }
    if (!limits) {
        return limits.error();
    }
    if (!descriptors) {
        return descriptors.error();
    }
    auto out = parse_stat(*stat, {::sysconf(_SC_CLK_TCK), ::sysconf(_SC_PAGESIZE)});
    const auto most = parse_most_descriptors(*limits);
    if (!most) {
        return most.error();
    }
    if (out) {
        out->open_descriptors = *descriptors;
        out->most_descriptors = *most;
    }
    return out;
}

void collect_process(metrics& into)
{
    const auto stats = read_process_stats();
    const auto add = [&](const metric_row& row, auto value) {
        family one{row};
        if (stats) {
            one.add({}, value(*stats));
        }
        into.add(std::move(one));
    };
    add(metric("process_resident_memory_bytes"), [](const process_stats& of) { return of.resident_bytes; });
    add(metric("process_virtual_memory_bytes"), [](const process_stats& of) { return of.address_space; });
    add(metric("process_open_fds"), [](const process_stats& of) { return of.open_descriptors; });
    add(metric("process_max_fds"), [](const process_stats& of) { return of.most_descriptors; });
    add(metric("process_threads"), [](const process_stats& of) { return of.threads; });
    add(metric("process_cpu_seconds_total"), [](const process_stats& of) { return seconds(of.cpu_time); });
}

}  // namespace gateway::telemetry
