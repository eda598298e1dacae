// How overloaded the gateway is: 0 (not at all) to 3, by how late a loop runs and how much of its memory is used. A level is
// reached at once and left when nothing has reached its mark for a second. Pure; one thread.
#pragma once

#include "core/clock.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::balancing {

using overload_level = unsigned;

inline constexpr overload_level most_overload = 3;

struct overload_settings {
    std::array<core::duration, most_overload> lag{core::duration{50}, core::duration{200}, core::duration{500}};
    std::array<unsigned, most_overload> memory{85, 92, 95};  // percent of the limit
};

class overload_meter {
public:
    static constexpr core::duration hold{1'000};

    explicit overload_meter(const overload_settings& settings) noexcept
        : settings_{settings}
    {
    }

    // `lag`: of the worker that is least late. `memory`: percent; nothing: there is no limit. Times never go back.
    overload_level sample(core::duration lag, std::optional<unsigned> memory, core::steady_time now) noexcept;

private:
    overload_settings settings_;
    std::array<std::optional<core::steady_time>, most_overload> reached_{};  // when last
};

// The files of one control group (Linux cgroup v1 and v2: https://docs.kernel.org/admin-guide/cgroup-v2.html,
// https://docs.kernel.org/admin-guide/cgroup-v1/memory.html).
struct cgroup_texts {
    std::string usage;  // memory.current, or memory.usage_in_bytes
    std::string limit;  // memory.max, or memory.limit_in_bytes
    std::string stat;   // memory.stat; may be empty
};

// Percent, rounded down, without the file pages that the kernel can take back at once. Nothing: there is no limit, or a text is no
// number.
std::optional<unsigned> memory_percent(const cgroup_texts& texts) noexcept;

// The path of the process's group, from /proc/self/cgroup: of the unified hierarchy, else of v1's controller `memory`.
struct cgroup_path {
    bool unified = true;
    std::string path;  // begins with a slash
};
std::optional<cgroup_path> own_cgroup(std::string_view proc_self_cgroup);

// The part of its control group's memory that the process uses. Reads three small files at each call. One thread.
class cgroup_memory {
public:
    // `mount`: where the hierarchies are, `proc_self_cgroup`: the text of that file. A group that is not there, as in a container
    // that sees only its own, is the one at the mount itself.
    cgroup_memory(const std::filesystem::path& mount, std::string_view proc_self_cgroup);

    std::optional<unsigned> percent() const;

private:
    std::filesystem::path group_;
    bool unified_ = true;
};

}  // namespace gateway::balancing
