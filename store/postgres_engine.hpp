// The engine of a PostgreSQL: store/postgres.hpp.
#pragma once

#include "store/postgres.hpp"
#include "store/postgres_feed.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace store {

// Each row of a result, by a function of the result and the row.
template <class T, class Read>
std::vector<T> all_of(const pg_rows& rows, Read read)
{
    std::vector<T> all;
    all.reserve(static_cast<std::size_t>(rows.size()));
    for (int i = 0; i < rows.size(); ++i) {
        all.push_back(read(rows, i));
    }
    return all;
}

// What was read at the start, until it is asked for, or this replica has written.
struct prefetched {
    feed_position position;
    std::vector<feed_mark> marks;
    std::optional<std::vector<record>> records;
    std::map<std::string, std::vector<kept_document>> documents;  // by kind
    std::optional<std::vector<kept_task>> tasks;
    core::secret key;
    bool deliveries = true;  // a new replica has none
};

// The functions of an engine are in two files: agents and the start in postgres.cpp, what is kept besides in postgres_kept.cpp.
class postgres final : public engine {
public:
    postgres(postgres_options options, pg_target target)
        : options_{std::move(options)},
          connector_{std::move(target)},
          session_{connector_, pg_connector::use::store},
          feed_{options_, connector_}
    {
    }

    core::result<> start(const std::string& unverified);
    core::result<> migrate();

    bool durable() const noexcept override { return true; }
    feed* shared() noexcept override { return &feed_; }

    core::result<std::vector<record>> load() override;
    core::result<std::optional<record>> find(std::string id) override;
    core::result<record> put(std::string id, std::string definition, author by) override;
    core::result<std::uint64_t> remove(std::string id, author by) override;
    core::result<std::vector<change>> changes(std::uint64_t after, std::size_t most) override;
    core::result<> keep_tasks(std::vector<kept_task> tasks) override;
    core::result<> trim_tasks(core::wall_time since, std::size_t most) override;
    core::result<std::vector<kept_task>> tasks() override;
    core::result<> keep_cards(std::vector<kept_card> cards) override;
    core::result<std::optional<kept_card>> card(std::string agent) override;
    core::result<> keep_card_version(card_version version) override;
    core::result<std::vector<card_version>> card_versions(std::string agent) override;
    core::result<> keep_document(kept_document document) override;
    core::result<> drop_document(std::string kind, std::string name) override;
    core::result<std::vector<kept_document>> documents(std::string kind) override;
    core::result<core::secret> session_key(core::secret made) override;
    core::result<std::optional<std::uint64_t>> keep_delivery(kept_delivery delivery) override;
    core::result<std::vector<delivery_facts>> deliveries() override;
    core::result<std::optional<kept_delivery>> delivery(std::uint64_t number) override;
    core::result<> drop_delivery(std::uint64_t number) override;

private:
    // A write: its function's call, whose first three values are the token, the patience and the schema; its other values; the feed that
    // it raises.
    struct call {
        const char* feed;
        const char* sql;
        std::string token = random_bytes(16);  // of 128 bits: by it settle() knows the write
    };
    using more_values = std::function<void(pg_values&)>;

    // Fails with `lost` if the outcome is not known, and with `unsent` if nothing was written.
    pg_result<std::uint64_t> write(const call& what, const more_values& values);
    pg_result<std::uint64_t> settle(const call& what, const pg_failure& why, core::steady_time by);
    core::result<> write_rows(const call& what, const more_values& values);
    static core::error error_of_write(const pg_failure& why);
    void forget_start(std::string_view feed);
    core::result<pg_rows> read(const char* sql, const pg_values& values);
    core::result<> prefetch();
    pg_result<bool> prefetch_within(pg_link& link, core::steady_time by);
    void forget_unknown();
    std::int64_t patience() const noexcept { return options_.timeout.count() * 2 / 3; }

    const postgres_options options_;
    pg_connector connector_;
    pg_session session_;
    postgres_feed feed_;
    prefetched start_;
    std::vector<std::string> unknown_;  // tokens of deliveries that were refused, and may be there
};

}  // namespace store
