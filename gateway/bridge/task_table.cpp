#include "gateway/bridge/task_table.hpp"

#include <algorithm>
#include <utility>

namespace gateway::bridge {

bool task_table::add(std::shared_ptr<called_task> task)
{
    const share more{1, task->bytes()};
    const auto& who = task->who();
    if (!make_room(who.owner, more)) {
        return false;
    }
    for (auto* const each : {&whole_, &owners_[who.owner]}) {
        each->tasks += more.tasks;
        each->bytes += more.bytes;
    }
    const std::string_view id = who.id;
    tasks_.emplace(id, held{std::move(task), more.bytes});
    return true;
}

bool task_table::resize(const called_task& task)
{
    const auto found = tasks_.find(task.who().id);
    if (found == tasks_.end()) {
        return true;
    }
    const auto bytes = task.bytes();
    const auto before = found->second.bytes;
    if (bytes > before && !make_room(task.who().owner, {0, bytes - before})) {
        return false;
    }
    for (auto* const each : {&whole_, &owners_[task.who().owner]}) {
        each->bytes = each->bytes + bytes - before;
    }
    found->second.bytes = bytes;
    return true;
}

void task_table::note_end(const called_task& task)
{
    if (tasks_.contains(task.who().id)) {
        ended_.push_back(&task);
    }
}

void task_table::remove(const std::string& id)
{
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) {
        return;
    }
    const auto gone = std::move(found->second);
    tasks_.erase(found);
    const auto place = std::ranges::find(ended_, gone.task.get());
    if (place != ended_.end()) {
        ended_.erase(place);
    }
    const auto owner = owners_.find(gone.task->who().owner);
    for (auto* const each : {&whole_, &owner->second}) {
        each->tasks -= 1;
        each->bytes -= gone.bytes;
    }
    if (owner->second.tasks == 0) {
        owners_.erase(owner);
    }
}

std::shared_ptr<called_task> task_table::find(const std::string& id, std::string_view agent, std::string_view owner)
    const
{
    const auto found = tasks_.find(id);
    if (found == tasks_.end()) {
        return nullptr;
    }
    const auto& who = found->second.task->who();
    return who.agent == agent && who.owner == owner ? found->second.task : nullptr;
}

std::vector<std::shared_ptr<called_task>> task_table::of(std::string_view agent, std::string_view owner) const
{
    std::vector<std::shared_ptr<called_task>> out;
    for (const auto& [id, each] : tasks_) {
        const auto& who = each.task->who();
        if (who.agent == agent && who.owner == owner) {
            out.push_back(each.task);
        }
    }
    std::ranges::sort(out, std::greater<>{}, [](const auto& task) { return task->order(); });
    return out;
}

std::vector<std::shared_ptr<called_task>> task_table::all() const
{
    std::vector<std::shared_ptr<called_task>> out;
    out.reserve(tasks_.size());
    for (const auto& [id, each] : tasks_) {
        out.push_back(each.task);
    }
    return out;
}

bool task_table::make_room(const std::string& owner, share more)
{
    const auto fits = [&more](const share& used, std::size_t tasks, std::size_t bytes) {
        return used.tasks + more.tasks <= tasks && used.bytes + more.bytes <= bytes;
    };
    while (true) {
        const auto known = owners_.find(owner);
        const auto own = known == owners_.end() ? share{} : known->second;
        const bool own_fits = fits(own, most_.tasks / 2, most_.bytes / 2);
        if (own_fits && fits(whole_, most_.tasks, most_.bytes)) {
            return true;
        }
        const auto victim = std::ranges::find_if(ended_, [&](const called_task* task) {
            return own_fits || task->who().owner == owner;
        });
        if (victim == ended_.end()) {
            return false;
        }
        remove((*victim)->who().id);
    }
}

}  // namespace gateway::bridge
