#include "gateway/balancing/overload.hpp"

#include "core/ascii.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace gateway::balancing {
namespace {

// v1 has a number close to the largest number of pages instead of "max".
constexpr std::uint64_t unlimited = std::uint64_t{1} << 60;

std::optional<std::uint64_t> number_in(std::string_view text) noexcept
{
    text = core::trim(text, " \t\n");
    std::uint64_t value = 0;
    const auto* const end = text.data() + text.size();
    const auto read = std::from_chars(text.data(), end, value);
    return read.ec == std::errc{} && read.ptr == end && !text.empty() ? std::optional{value} : std::nullopt;
}

// Takes the first line off the text.
std::string_view take_line(std::string_view& text) noexcept
{
    const auto end = std::min(text.find('\n'), text.size());
    const auto line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

// Copies of files, which the kernel can take back at once. v1 counts with those of the groups below only under another name.
std::uint64_t reclaimable(std::string_view stat) noexcept
{
    std::uint64_t active = 0;
    std::uint64_t inactive = 0;
    while (!stat.empty()) {
        auto line = take_line(stat);
        constexpr std::string_view total = "total_";
        line.remove_prefix(line.starts_with(total) ? total.size() : 0);
        for (const auto& [name, most] : {std::pair{"active_file ", &active}, std::pair{"inactive_file ", &inactive}}) {
            if (line.starts_with(name)) {
                *most = std::max(*most, number_in(line.substr(std::string_view{name}.size())).value_or(0));
            }
        }
    }
    return active + inactive;
}

std::string text_of(const std::filesystem::path& file)
{
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
}

}  // namespace

overload_level
overload_meter::sample(core::duration lag, std::optional<unsigned> memory, core::steady_time now) noexcept
{
    overload_level level = 0;
    for (std::size_t i = 0; i < most_overload; ++i) {
        const bool full = memory && *memory >= settings_.memory[i];
        if (lag >= settings_.lag[i] || full) {
            reached_[i] = now;
        }
        const auto& last = reached_[i];
        if (last && now - *last < hold) {
            level = static_cast<overload_level>(i + 1);
        }
    }
    return level;
}

std::optional<unsigned> memory_percent(const cgroup_texts& texts) noexcept
{
    const auto usage = number_in(texts.usage);
    const auto limit = number_in(texts.limit);
    if (!usage || !limit || *limit == 0 || *limit >= unlimited) {
        return std::nullopt;
    }
    const auto used = *usage - std::min(*usage, reclaimable(texts.stat));
    return static_cast<unsigned>(static_cast<double>(used) * 100 / static_cast<double>(*limit));
}

std::optional<cgroup_path> own_cgroup(std::string_view proc_self_cgroup)
{
    std::optional<cgroup_path> found;
    while (!proc_self_cgroup.empty()) {
        auto line = take_line(proc_self_cgroup);
        line.remove_prefix(std::min(line.find(':') + 1, line.size()));
        const auto end = line.find(':');
        if (end == std::string_view::npos) {
            continue;
        }
        const auto controllers = ',' + std::string{line.substr(0, end)} + ',';
        const auto path = line.substr(end + 1);
        if (controllers.find(",memory,") != std::string::npos) {
            return cgroup_path{false, std::string{path}};  // a controller is in one hierarchy only
        }
        if (controllers == ",,") {
            found = cgroup_path{true, std::string{path}};
        }
    }
    return found;
}

cgroup_memory::cgroup_memory(const std::filesystem::path& mount, std::string_view proc_self_cgroup)
{
    const auto own = own_cgroup(proc_self_cgroup).value_or(cgroup_path{true, "/"});
    unified_ = own.unified;
    const auto top = unified_ ? mount : mount / "memory";
    group_ = top / std::filesystem::path{own.path}.relative_path();
    std::error_code failed;
    if (!std::filesystem::exists(group_ / (unified_ ? "memory.current" : "memory.usage_in_bytes"), failed)) {
        group_ = top;
    }
}

std::optional<unsigned> cgroup_memory::percent() const
{
    return memory_percent(
        {text_of(group_ / (unified_ ? "memory.current" : "memory.usage_in_bytes")),
         text_of(group_ / (unified_ ? "memory.max" : "memory.limit_in_bytes")),
         text_of(group_ / "memory.stat")}
    );
}

}  // namespace gateway::balancing
