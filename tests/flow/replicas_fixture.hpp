// What the tests of forwarding share: gateways in this process whose stores know of each other as replicas, and nothing else of each other.
#pragma once

#include "store/feed.hpp"
#include "store/memory.hpp"
#include "tests/flow/mcp_program_fixture.hpp"
#include "tests/flow/running_gateway.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace flow::replicas {

// Which replicas there are, as a database would say. Any thread.
class live_list {
public:
    void say(store::replica_facts facts)
    {
        const std::lock_guard lock{mutex_};
        all_.insert_or_assign(facts.id, std::move(facts));
    }
    void forget(store::replica_id id)
    {
        const std::lock_guard lock{mutex_};
        all_.erase(id);
    }
    // Where others reach it, instead of what it says of itself. Until then nobody hears of it.
    void reach(store::replica_id id, std::string url)
    {
        const std::lock_guard lock{mutex_};
        urls_.insert_or_assign(id, std::move(url));
    }
    std::vector<store::live_replica> all() const
    {
        const std::lock_guard lock{mutex_};
        std::vector<store::live_replica> found;
        for (const auto& [id, facts] : all_) {
            if (const auto url = urls_.find(id); url != urls_.end()) {
                found.push_back({facts, {}});
                found.back().facts.url = url->second;
            }
        }
        std::ranges::sort(found, {}, [](const auto& each) { return each.facts.name; });
        return found;
    }

private:
    mutable std::mutex mutex_;
    std::map<store::replica_id, store::replica_facts> all_;
    std::map<store::replica_id, std::string> urls_;
};

class replica_feed final : public store::feed {
public:
    replica_feed(store::replica_id self, live_list& list)
        : self_{self},
          list_{list}
    {
    }

    store::replica_id self() const noexcept override { return self_; }
    store::feed_position start() const override { return {}; }
    core::result<store::feed_batch> poll(store::feed_position from) override
    {
        store::feed_batch batch;
        batch.replicas = list_.all();
        batch.reached = std::move(from);
        return batch;
    }
    void wait(core::duration /*at_most*/) override
    {
        std::unique_lock lock{mutex_};
        woken_.wait_for(lock, std::chrono::milliseconds{5}, [this] { return std::exchange(awake_, false); });
    }
    void wake() noexcept override
    {
        const std::lock_guard lock{mutex_};
        awake_ = true;
        woken_.notify_all();
    }
    core::result<> beat(store::replica_facts own) override
    {
        list_.say(std::move(own));
        return {};
    }
    core::result<> leave() override
    {
        list_.forget(self_);
        return {};
    }
    bool is_up() const noexcept override { return true; }
    bool is_notified() const noexcept override { return true; }

private:
    const store::replica_id self_;
    live_list& list_;
    std::mutex mutex_;
    std::condition_variable woken_;
    bool awake_ = false;
};

// A store of its own with a key that all have, and such a feed.
class replica_records final : public store::engine {
public:
    replica_records(store::replica_id self, live_list& list)
        : feed_{self, list}
    {
        store::memory_contents contents;
        contents.key = core::secret{std::string(64, 'a')};
        own_ = store::make_memory(std::move(contents));
    }

    store::feed* shared() noexcept override { return &feed_; }
    bool durable() const noexcept override { return own_->durable(); }
    core::result<std::vector<store::record>> load() override { return own_->load(); }
    core::result<std::optional<store::record>> find(std::string id) override { return own_->find(std::move(id)); }
    core::result<store::record> put(std::string id, std::string definition, store::author by) override
    {
        return own_->put(std::move(id), std::move(definition), std::move(by));
    }
    core::result<std::uint64_t> remove(std::string id, store::author by) override
    {
        return own_->remove(std::move(id), std::move(by));
    }
    core::result<std::vector<store::change>> changes(std::uint64_t after, std::size_t most) override
    {
        return own_->changes(after, most);
    }
    core::result<> keep_tasks(std::vector<store::kept_task> tasks) override
    {
        return own_->keep_tasks(std::move(tasks));
    }
    core::result<> trim_tasks(core::wall_time since, std::size_t most) override
    {
        return own_->trim_tasks(since, most);
    }
    core::result<std::vector<store::kept_task>> tasks() override { return own_->tasks(); }
    core::result<> keep_cards(std::vector<store::kept_card> cards) override
    {
        return own_->keep_cards(std::move(cards));
    }
    core::result<std::optional<store::kept_card>> card(std::string agent) override
    {
        return own_->card(std::move(agent));
    }
    core::result<> keep_card_version(store::card_version version) override
    {
        return own_->keep_card_version(std::move(version));
    }
    core::result<std::vector<store::card_version>> card_versions(std::string agent) override
    {
        return own_->card_versions(std::move(agent));
    }
    core::result<> keep_document(store::kept_document document) override
    {
        return own_->keep_document(std::move(document));
    }
    core::result<> drop_document(std::string kind, std::string name) override
    {
        return own_->drop_document(std::move(kind), std::move(name));
    }
    core::result<std::vector<store::kept_document>> documents(std::string kind) override
    {
        return own_->documents(std::move(kind));
    }
    core::result<core::secret> session_key(core::secret made) override { return own_->session_key(std::move(made)); }
    core::result<std::optional<std::uint64_t>> keep_delivery(store::kept_delivery delivery) override
    {
        return own_->keep_delivery(std::move(delivery));
    }
    core::result<std::vector<store::delivery_facts>> deliveries() override { return own_->deliveries(); }
    core::result<std::optional<store::kept_delivery>> delivery(std::uint64_t number) override
    {
        return own_->delivery(number);
    }
    core::result<> drop_delivery(std::uint64_t number) override { return own_->drop_delivery(number); }

private:
    replica_feed feed_;
    std::unique_ptr<store::engine> own_;
};

using namespace flow::mcp_programs;

inline constexpr store::replica_id first_id = 0xA1;

// Replicas with the same file, whose programs keep what they get in one folder.
class three_replicas {
public:
    explicit three_replicas(std::function<void(config::settings&)> adjust = {}, std::size_t count = 3)
        : adjust_{std::move(adjust)}
    {
        for (std::size_t i = 0; i < count; ++i) {
            start(i);
        }
        for (std::size_t i = 0; i < count; ++i) {
            wait_until_known(i);
        }
    }

    // Instead of the one that was there, with another id.
    void start(std::size_t at)
    {
        gateways_.resize(std::max(gateways_.size(), at + 1));
        ids_.resize(gateways_.size());
        gateways_[at].reset();
        ids_[at] = first_id + starts_++;
        auto settings = settings_of(at);
        auto records = std::make_unique<replica_records>(ids_[at], list_);
        const bool secure = !settings.tls.empty();
        gateways_[at] = std::make_unique<running_gateway>(std::move(settings), std::move(records));
        const auto scheme = secure ? "https://127.0.0.1:" : "http://127.0.0.1:";
        list_.reach(ids_[at], scheme + std::to_string(gateways_[at]->port()));
    }

    void stop(std::size_t at) { gateways_[at].reset(); }

    // Until the others hear of it.
    void wait_until_known(std::size_t at) const
    {
        CHECK(gateways_[at]->wait_for_metric("cardea_replicas", static_cast<double>(gateways_.size())));
    }

    running_gateway& operator[](std::size_t at) { return *gateways_[at]; }
    live_list& list() noexcept { return list_; }
    store::replica_id id(std::size_t at) const { return ids_[at]; }

    http_client open(std::size_t at, std::string_view method, const field_list& fields, std::string_view body = {})
        const
    {
        http_client caller{gateways_[at]->port()};
        caller.send(program_gateway::text(method, fields, body));
        return caller;
    }
    http_response send(std::size_t at, std::string_view method, const field_list& fields, std::string_view body = {})
        const
    {
        return open(at, method, fields, body).read_response();
    }
    http_response post(std::size_t at, const field_list& fields, std::string_view body) const
    {
        return send(at, "POST", fields, body);
    }
    field_list begin(std::size_t at, field_list fields = {}) const
    {
        const auto got = post(at, fields, initialize_body);
        REQUIRE(got.status == 200);
        fields.emplace_back("Mcp-Session-Id", got.header("Mcp-Session-Id"));
        fields.emplace_back("MCP-Protocol-Version", "2025-11-25");
        return fields;
    }

    std::string got(std::string_view wanted) const
    {
        std::string all;
        program_gateway::becomes_true([&] {
            all = read_whole(folder_.file("got"));
            return all.find(wanted) != std::string::npos;
        });
        return all;
    }
    // How many have been started.
    std::size_t programs() const
    {
        const auto all = read_whole(folder_.file("pids"));
        return static_cast<std::size_t>(std::ranges::count(all, '\n'));
    }

    void touch(const std::string& name) const { write_whole(folder_.file(name), "x"); }

    // How many requests this one has forwarded with such an outcome.
    bool forwarded(std::size_t at, const std::string& outcome, double count) const
    {
        return gateways_[at]->wait_for_metric("cardea_forwarded_total{outcome=\"" + outcome + "\"}", count);
    }

private:
    config::settings settings_of(std::size_t at) const
    {
        auto all = quick_settings();
        core::agent record;
        record.id = "a";
        record.speaks = core::protocol::mcp;
        auto& server = record.mcp.emplace();
        server.transport = core::mcp_transport::stdio;
        server.command = "sh";
        server.arguments = {"-c", shell_server};
        server.directory = folder_.path().string();
        server.start = core::mcp_start::lazy;
        server.warm = 0;
        all.agents.push_back(std::move(record));
        all.replica.name = "r" + std::to_string(at);
        if (adjust_) {
            adjust_(all);
        }
        return all;
    }

    std::function<void(config::settings&)> adjust_;
    scratch_directory folder_;
    live_list list_;
    std::uint64_t starts_ = 0;
    std::vector<store::replica_id> ids_;
    std::vector<std::unique_ptr<running_gateway>> gateways_;
};

}  // namespace flow::replicas
