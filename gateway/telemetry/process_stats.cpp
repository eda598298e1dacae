#include "gateway/telemetry/process_stats.hpp"

#include <unistd.h>

#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

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

core::result<std::chrono::milliseconds> parse_cpu_time(std::string_view stat, long ticks_per_second)
{
    const auto name_end = stat.rfind(") ");
    if (name_end != std::string_view::npos && ticks_per_second > 0) {
        const auto after_name = stat.substr(name_end + 2);
        const auto user = number_at(after_name, 11);
        const auto system = number_at(after_name, 12);
        if (user && system) {
            const auto ticks = *user + *system;
            return std::chrono::milliseconds{ticks * 1000 / static_cast<std::uint64_t>(ticks_per_second)};
        }
    }
    return core::gateway_error(core::errc::internal, "stat is not understood");
}

core::result<std::uint64_t> parse_resident_bytes(std::string_view statm, long page_size)
{
    const auto pages = number_at(statm, 1);
    if (!pages || page_size <= 0) {
        return core::gateway_error(core::errc::internal, "statm is not understood");
    }
    return *pages * static_cast<std::uint64_t>(page_size);
}

core::result<process_stats> read_process_stats(const std::filesystem::path& directory)
{
    const auto stat = read_file(directory / "stat");
    const auto statm = read_file(directory / "statm");
    const auto descriptors = count_entries(directory / "fd");
    if (!stat) {
        return stat.error();
    }
    if (!statm) {
        return statm.error();
    }
    if (!descriptors) {
        return descriptors.error();
    }
    const auto cpu_time = parse_cpu_time(*stat, ::sysconf(_SC_CLK_TCK));
    const auto resident_bytes = parse_resident_bytes(*statm, ::sysconf(_SC_PAGESIZE));
    if (!cpu_time) {
        return cpu_time.error();
    }
    if (!resident_bytes) {
        return resident_bytes.error();
    }
    return process_stats{*resident_bytes, *descriptors, *cpu_time};
}

}  // namespace gateway::telemetry
