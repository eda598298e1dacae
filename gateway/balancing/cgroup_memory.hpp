// How much of the memory that its control group allows the process uses (Linux cgroup v1 and v2:
// https://docs.kernel.org/admin-guide/cgroup-v2.html, https://docs.kernel.org/admin-guide/cgroup-v1/memory.html).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace gateway::balancing {

// Texts of the files of one group. Pure.
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

// Reads three small files at each call. One thread.
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
