#include "gateway/reload/changed_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <unordered_set>

namespace gateway::reload {

file_stamp stamp_of(const std::string& path)
{
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) {
        return {};
    }
    // The time of the latest change of any kind: a file that has become readable is worth another try.
    return {
        .device = status.st_dev,
        .number = status.st_ino,
        .size = status.st_size,
        .seconds = status.st_ctim.tv_sec,
        .nanoseconds = status.st_ctim.tv_nsec
    };
}

namespace {

std::unordered_set<std::string_view> ids_in(const config::changes& changes)
{
    std::unordered_set<std::string_view> ids{changes.added.begin(), changes.added.end()};
    for (const auto& each : changes.changed) {
        ids.insert(each.id);
    }
    return ids;
}

}  // namespace

bool add_changed_files(
    config::changes& changes,
    const std::vector<core::agent>& agents,
    const file_hashes& before,
    const file_hashes& now
)
{
    const auto differs = [&](const std::string& path) {
        const auto old = before.find(path);
        const auto latest = now.find(path);
        return old != before.end() && latest != now.end() && old->second != latest->second;
    };
    bool any = false;
    std::vector<config::changed_agent> more;
    const auto known = ids_in(changes);
    for (const auto& agent : agents) {
        if (differs(agent.ca_file) || differs(agent.cert_file) || differs(agent.key_file)) {
            any = true;
            if (!known.contains(agent.id)) {
                more.push_back({agent.id, {"tls"}});
            }
        }
    }
    changes.unchanged -= more.size();
    changes.changed.insert(changes.changed.end(), more.begin(), more.end());
    return any;
}

std::vector<core::agent> added_or_changed(const config::changes& changes, const std::vector<core::agent>& agents)
{
    const auto ids = ids_in(changes);
    std::vector<core::agent> out;
    std::copy_if(agents.begin(), agents.end(), std::back_inserter(out), [&](const auto& each) {
        return ids.contains(each.id);
    });
    return out;
}

}  // namespace gateway::reload
