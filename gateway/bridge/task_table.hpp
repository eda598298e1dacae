// The tasks of callers of A2A at MCP servers, while they go on and for an hour after. They are this process's. On the control loop.
#pragma once

#include "core/clock.hpp"
#include "gateway/bridge/called_task.hpp"
#include "gateway/model/snapshot.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gateway::bridge {

class task_table {
public:
    struct limits {
        std::size_t tasks = 10'000;
        std::size_t bytes = 64 * 1024 * 1024;
    };

    explicit task_table(limits most)
        : most_{most}
    {
    }

    // Makes room by forgetting tasks that have ended: those of the same owner, who gets half, else the oldest. False: there is none.
    bool add(std::shared_ptr<called_task> task);
    // After the size of one has changed. False: there is no room; it counts as before.
    bool resize(const called_task& task);
    void note_end(const called_task& task);
    void remove(const std::string& id);

    // Null: the agent has no such task of this owner.
    std::shared_ptr<called_task> find(const std::string& id, std::string_view agent, std::string_view owner) const;

    // Those of the owner at the agent, the one that has changed last first.
    std::vector<std::shared_ptr<called_task>> of(std::string_view agent, std::string_view owner) const;

    std::vector<std::shared_ptr<called_task>> all() const;
    std::size_t size() const noexcept { return tasks_.size(); }
    std::size_t bytes() const noexcept { return whole_.bytes; }
    std::uint64_t next_order() noexcept { return ++order_; }

private:
    struct share {
        std::size_t tasks = 0;
        std::size_t bytes = 0;
    };
    struct held {
        std::shared_ptr<called_task> task;
        std::size_t bytes = 0;
    };

    bool make_room(const std::string& owner, share more);

    limits most_;
    std::unordered_map<std::string_view, held> tasks_;  // by the id in the task
    model::string_map<share> owners_;
    std::list<const called_task*> ended_;  // the oldest end first
    share whole_;
    std::uint64_t order_ = 0;
};

}  // namespace gateway::bridge
