// The rows of a store. Every function is for the inside of a transaction, or reads alone.
#pragma once

#include "store/engine.hpp"
#include "store/sqlite_connection.hpp"

#include <zlib.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace store {

// Covers the values of a row, in their order: SQLite finds a damaged page, but not a damaged text in a sound one.
class checksum {
public:
    checksum& with(std::string_view text)
    {
        with(static_cast<std::int64_t>(text.size()));
        sum_ = crc32_z(sum_, reinterpret_cast<const Bytef*>(text.data()), text.size());
        return *this;
    }

    checksum& with(std::int64_t number)
    {
        sum_ = crc32_z(sum_, reinterpret_cast<const Bytef*>(&number), sizeof number);
        return *this;
    }

    checksum& with(std::uint64_t number) { return with(static_cast<std::int64_t>(number)); }

    std::int64_t value() const noexcept { return static_cast<std::int64_t>(sum_); }

private:
    uLong sum_ = 0;
};

// Fails with store_failed if a row is not what was written.
core::result<std::vector<record>> read_records(sqlite_connection& db);
core::result<std::optional<record>> read_record(sqlite_connection& db, std::string_view id);

core::result<std::vector<change>> read_changes(sqlite_connection& db, std::uint64_t after, std::size_t most);

// Nothing for a row that is not what was written.
core::result<std::optional<kept_card>> read_card(sqlite_connection& db, std::string_view agent);

// Gives `wanted` its version, which is also returned.
core::result<std::uint64_t> write_record(sqlite_connection& db, record& wanted, const author& by);

// The version of the removal.
core::result<std::uint64_t> remove_record(sqlite_connection& db, std::string_view id, const author& by);

core::result<> write_tasks(sqlite_connection& db, const std::vector<kept_task>& tasks);
core::result<> remove_tasks(sqlite_connection& db, core::wall_time since, std::size_t most);
core::result<std::vector<kept_task>> read_tasks(sqlite_connection& db);

core::result<> write_card(sqlite_connection& db, const kept_card& card);

// Makes `version` the latest card of its agent. Does not look at card_version_bytes.
core::result<> write_card_version(sqlite_connection& db, const card_version& version);
// Bytes of those of all agents.
core::result<std::uint64_t> size_of_card_versions(sqlite_connection& db);
// Removes the oldest of all agents until the others have at most `most` bytes.
core::result<> remove_card_versions(sqlite_connection& db, std::uint64_t most);
core::result<std::vector<card_version>> read_card_versions(sqlite_connection& db, std::string_view agent);

// Returns its number.
core::result<std::uint64_t> write_delivery(sqlite_connection& db, const kept_delivery& delivery);
core::result<std::vector<delivery_facts>> read_deliveries(sqlite_connection& db);
// Nothing for a row that is not what was written.
core::result<std::optional<kept_delivery>> read_delivery(sqlite_connection& db, std::uint64_t number);
core::result<> remove_delivery(sqlite_connection& db, std::uint64_t number);

core::result<> write_document(sqlite_connection& db, const kept_document& document);
core::result<> remove_document(sqlite_connection& db, std::string_view kind, std::string_view name);
// Fails with store_failed if a row is not what was written.
core::result<std::vector<kept_document>> read_documents(sqlite_connection& db, std::string_view kind);

// Nothing for a row that is not what was written.
core::result<std::optional<core::secret>> read_session_key(sqlite_connection& db);
core::result<> write_session_key(sqlite_connection& db, const core::secret& text);

}  // namespace store
