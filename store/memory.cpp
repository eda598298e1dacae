#include "store/memory.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <utility>

namespace store {
namespace {

class memory final : public engine {
public:
    explicit memory(memory_contents contents)
        : key_{std::move(contents.key)}
    {
        for (auto& each : contents.records) {
            latest_ = std::max(latest_, each.version);
            auto id = each.id;
            records_.insert_or_assign(std::move(id), std::move(each));
        }
        for (auto& each : contents.trail) {
            latest_ = std::max(latest_, each.version);
            trail_.push_back(std::move(each));
        }
        for (auto& each : contents.documents) {
            std::pair key{each.kind, each.name};
            documents_.insert_or_assign(std::move(key), std::move(each));
        }
        for (auto& each : contents.deliveries) {
            latest_delivery_ = std::max(latest_delivery_, each.number);
            deliveries_.insert_or_assign(each.number, std::move(each));
        }
    }

    bool durable() const noexcept override { return false; }

    core::result<std::vector<record>> load() override
    {
        std::vector<record> all;
        all.reserve(records_.size());
        for (const auto& [id, each] : records_) {
            all.push_back(each);
        }
        return all;
    }

    core::result<std::optional<record>> find(std::string id) override
    {
        const auto found = records_.find(id);
        return found == records_.end() ? std::nullopt : std::optional<record>{found->second};
    }

    core::result<record> put(std::string id, std::string definition, author by) override
    {
        const auto there = version_of(id);
        if (auto expected = check_version(by, there); !expected) {
            return std::move(expected).error();
        }
        const auto version = note(id, there == 0 ? action::created : action::updated, by);
        record written{id, std::move(definition), version, whole_milliseconds(by.at)};
        records_.insert_or_assign(std::move(id), written);
        return written;
    }

    core::result<std::uint64_t> remove(std::string id, author by) override
    {
        const auto there = version_of(id);
        if (there == 0) {
            return core::caller_error(core::errc::agent_not_found);
        }
        if (auto expected = check_version(by, there); !expected) {
            return std::move(expected).error();
        }
        records_.erase(id);
        cards_.erase(id);
        std::erase_if(versions_, [&](const card_version& each) { return each.agent == id; });
        std::erase_if(documents_, [&](const auto& each) { return each.second.agent == id; });
        return note(id, action::deleted, by);
    }

    core::result<std::vector<change>> changes(std::uint64_t after, std::size_t most) override
    {
        const auto first =
            std::find_if(trail_.begin(), trail_.end(), [&](const change& each) { return each.version > after; });
        const auto count = std::min(most, static_cast<std::size_t>(trail_.end() - first));
        return std::vector<change>(first, first + static_cast<std::ptrdiff_t>(count));
    }

    core::result<> keep_tasks(std::vector<kept_task> tasks) override
    {
        for (auto& each : tasks) {
            each.seen = whole_milliseconds(each.seen);
            tasks_.insert_or_assign(each.name, each);
        }
        return {};
    }

    core::result<> trim_tasks(core::wall_time since, std::size_t most) override
    {
        const auto all = in_order();
        for (std::size_t i = 0; i < all.size(); ++i) {
            if (all[i].seen < since || i + most < all.size()) {
                tasks_.erase(all[i].name);
            }
        }
        return {};
    }

    core::result<std::vector<kept_task>> tasks() override { return in_order(); }

    core::result<> keep_cards(std::vector<kept_card> cards) override
    {
        for (auto& each : cards) {
            auto there = cards_.find(each.agent);
            if (!each.document.empty()) {
                cards_.insert_or_assign(each.agent, std::move(each));
            } else if (there != cards_.end() && there->second.source == each.source) {
                each.document = std::move(there->second.document);
                there->second = std::move(each);
            }
        }
        return {};
    }

    core::result<std::optional<kept_card>> card(std::string agent) override
    {
        const auto found = cards_.find(agent);
        return found == cards_.end() ? std::nullopt : std::optional<kept_card>{found->second};
    }

    core::result<> keep_card_version(card_version version) override
    {
        version.at = whole_milliseconds(version.at);
        std::size_t of_agent = 1;
        std::uint64_t bytes = bytes_of(version);
        for (auto each = versions_.rbegin(); each != versions_.rend(); ++each) {
            if (each->agent == version.agent) {
                each->document.clear();
                ++of_agent;
            }
            bytes += bytes_of(*each);
        }
        versions_.push_back(std::move(version));
        const auto& agent = versions_.back().agent;
        if (of_agent > card_versions_kept) {
            const auto oldest = std::ranges::find(versions_, agent, &card_version::agent);
            bytes -= bytes_of(*oldest);
            versions_.erase(oldest);
        }
        for (; bytes > card_version_bytes && !versions_.empty(); versions_.pop_front()) {
            bytes -= bytes_of(versions_.front());
        }
        return {};
    }

    core::result<std::vector<card_version>> card_versions(std::string agent) override
    {
        std::vector<card_version> found;
        for (auto each = versions_.rbegin(); each != versions_.rend(); ++each) {
            if (each->agent == agent) {
                found.push_back(*each);
            }
        }
        return found;
    }

    core::result<core::secret> session_key(core::secret made) override
    {
        if (key_.empty()) {
            key_ = std::move(made);
        }
        return key_;
    }

    core::result<std::optional<std::uint64_t>> keep_delivery(kept_delivery delivery) override
    {
        const auto number = ++latest_delivery_;
        delivery.number = number;
        delivery.received = whole_milliseconds(delivery.received);
        deliveries_.emplace(number, std::move(delivery));
        return number;
    }

    core::result<std::vector<delivery_facts>> deliveries() override
    {
        std::vector<delivery_facts> all;
        all.reserve(deliveries_.size());
        for (const auto& [number, each] : deliveries_) {
            all.push_back({number, each.id, each.agent, each.lane, each.body.size(), each.received});
        }
        return all;
    }

    core::result<std::optional<kept_delivery>> delivery(std::uint64_t number) override
    {
        const auto found = deliveries_.find(number);
        return found == deliveries_.end() ? std::nullopt : std::optional<kept_delivery>{found->second};
    }

    core::result<> drop_delivery(std::uint64_t number) override
    {
        deliveries_.erase(number);
        return {};
    }

    core::result<> keep_document(kept_document document) override
    {
        std::pair key{document.kind, document.name};
        documents_.insert_or_assign(std::move(key), std::move(document));
        return {};
    }

    core::result<> drop_document(std::string kind, std::string name) override
    {
        documents_.erase({std::move(kind), std::move(name)});
        return {};
    }

    core::result<std::vector<kept_document>> documents(std::string kind) override
    {
        std::vector<kept_document> all;
        for (auto at = documents_.lower_bound({kind, {}}); at != documents_.end() && at->first.first == kind; ++at) {
            all.push_back(at->second);
        }
        return all;
    }

private:
    std::uint64_t version_of(const std::string& id) const
    {
        const auto found = records_.find(id);
        return found == records_.end() ? 0 : found->second.version;
    }

    std::vector<kept_task> in_order() const
    {
        std::vector<kept_task> all;
        for (const auto& [name, each] : tasks_) {
            all.push_back(each);
        }
        std::ranges::sort(all, {}, [](const kept_task& each) { return std::pair{each.seen, each.name}; });
        return all;
    }

    std::uint64_t note(const std::string& id, action kind, const author& by)
    {
        trail_.push_back({++latest_, whole_milliseconds(by.at), by.who, kind, id});
        if (trail_.size() > changes_kept) {
            trail_.pop_front();
        }
        return latest_;
    }

    std::map<std::string, record> records_;
    std::map<std::string, kept_card> cards_;
    std::deque<card_version> versions_;  // the latest last
    std::map<std::uint64_t, kept_task> tasks_;
    std::deque<change> trail_;
    std::uint64_t latest_ = 0;
    core::secret key_;
    std::map<std::uint64_t, kept_delivery> deliveries_;
    std::uint64_t latest_delivery_ = 0;
    std::map<std::pair<std::string, std::string>, kept_document> documents_;  // by kind and name
};

}  // namespace

std::unique_ptr<engine> make_memory()
{
    return make_memory({});
}

std::unique_ptr<engine> make_memory(memory_contents contents)
{
    return std::make_unique<memory>(std::move(contents));
}

core::result<memory_contents> contents_of(engine& from)
{
    memory_contents out;
    auto records = from.load();
    if (!records) {
        return std::move(records).error();
    }
    auto trail = from.changes(0, changes_kept);
    if (!trail) {
        return std::move(trail).error();
    }
    auto key = from.session_key(core::secret{});
    if (!key) {
        return std::move(key).error();
    }
    const auto waiting = from.deliveries();
    if (!waiting) {
        return waiting.error();
    }
    for (const auto& each : *waiting) {
        auto whole = from.delivery(each.number);
        if (!whole) {
            return std::move(whole).error();
        }
        if (*whole) {
            out.deliveries.push_back(std::move(**whole));
        }
    }
    for (const auto kind : document_kinds) {
        auto kept = from.documents(std::string{kind});
        if (!kept) {
            return std::move(kept).error();
        }
        std::ranges::move(*kept, std::back_inserter(out.documents));
    }
    out.records = std::move(*records);
    out.trail = std::move(*trail);
    out.key = std::move(*key);
    return out;
}

}  // namespace store
