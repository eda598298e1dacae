// A store in memory that says that replicas share it. Each write may be refused.
#pragma once

#include "store/memory.hpp"
#include "tests/unit/gateway/replicas/fake_feed.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace replicas_rig {

class shared_memory final : public store::engine {
public:
    bool durable() const noexcept override { return true; }
    store::feed* shared() noexcept override { return &feed; }

    core::result<std::vector<store::record>> load() override { return below_->load(); }
    core::result<std::optional<store::record>> find(std::string id) override
    {
        ++finds;
        return below_->find(std::move(id));
    }
    core::result<store::record> put(std::string id, std::string definition, store::author by) override
    {
        if (refusal) {
            return *refusal;
        }
        return below_->put(std::move(id), std::move(definition), std::move(by));
    }
    core::result<std::uint64_t> remove(std::string id, store::author by) override
    {
        if (refusal) {
            return *refusal;
        }
        return below_->remove(std::move(id), std::move(by));
    }
    core::result<std::vector<store::change>> changes(std::uint64_t after, std::size_t most) override
    {
        return below_->changes(after, most);
    }
    core::result<> keep_tasks(std::vector<store::kept_task> tasks) override
    {
        ++task_writes;
        return below_->keep_tasks(std::move(tasks));
    }
    core::result<> trim_tasks(core::wall_time since, std::size_t most) override
    {
        return below_->trim_tasks(since, most);
    }
    core::result<std::vector<store::kept_task>> tasks() override { return below_->tasks(); }
    core::result<> keep_cards(std::vector<store::kept_card> cards) override
    {
        ++card_writes;
        return below_->keep_cards(std::move(cards));
    }
    core::result<std::optional<store::kept_card>> card(std::string agent) override
    {
        return below_->card(std::move(agent));
    }
    core::result<> keep_card_version(store::card_version version) override
    {
        return below_->keep_card_version(std::move(version));
    }
    core::result<std::vector<store::card_version>> card_versions(std::string agent) override
    {
        return below_->card_versions(std::move(agent));
    }
    core::result<> keep_document(store::kept_document document) override
    {
        ++document_writes;
        return refusal ? core::result<>{*refusal} : below_->keep_document(std::move(document));
    }
    core::result<> drop_document(std::string kind, std::string name) override
    {
        ++document_writes;
        return refusal ? core::result<>{*refusal} : below_->drop_document(std::move(kind), std::move(name));
    }
    core::result<std::vector<store::kept_document>> documents(std::string kind) override
    {
        return below_->documents(std::move(kind));
    }
    core::result<core::secret> session_key(core::secret made) override { return below_->session_key(std::move(made)); }
    core::result<std::optional<std::uint64_t>> keep_delivery(store::kept_delivery delivery) override
    {
        return below_->keep_delivery(std::move(delivery));
    }
    core::result<std::vector<store::delivery_facts>> deliveries() override { return below_->deliveries(); }
    core::result<std::optional<store::kept_delivery>> delivery(std::uint64_t number) override
    {
        return below_->delivery(number);
    }
    core::result<> drop_delivery(std::uint64_t number) override { return below_->drop_delivery(number); }

    fake_feed feed;
    std::optional<core::error> refusal;  // of agents and documents
    int finds = 0;
    int task_writes = 0;
    int card_writes = 0;
    int document_writes = 0;

private:
    std::unique_ptr<store::engine> below_ = store::make_memory();
};

}  // namespace replicas_rig
