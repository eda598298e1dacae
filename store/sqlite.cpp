#include "store/sqlite.hpp"

#include "store/ballast.hpp"
#include "store/sqlite_connection.hpp"
#include "store/sqlite_rows.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

namespace store {
namespace {

using core::errc;

constexpr std::uint64_t page = 4096;  // bytes, SQLite's default
// Pages of the log from which on every commit tries to move it into the file. With the ballast of a large disk that is
// SQLite's own default.
constexpr std::uint64_t shortest_log = 4;
constexpr std::uint64_t longest_log = 1000;

class sqlite final : public engine {
public:
    sqlite(sqlite_options options, file_lock lock)
        : options_{std::move(options)},
          lock_{std::move(lock)},
          ballast_{options_.path + ".ballast", options_.ballast}
    {
    }

    core::result<> start();

    bool durable() const noexcept override { return true; }

    core::result<std::vector<record>> load() override
    {
        return read([&] { return read_records(*db_); });
    }

    core::result<std::optional<record>> find(std::string id) override
    {
        return read([&] { return read_record(*db_, id); });
    }

    core::result<record> put(std::string id, std::string definition, author by) override
    {
        record wanted{std::move(id), std::move(definition), 0, whole_milliseconds(by.at)};
        auto version = write(need::growth, [&] { return write_record(*db_, wanted, by); });
        return version ? core::result<record>{std::move(wanted)} : std::move(version).error();
    }

    core::result<std::uint64_t> remove(std::string id, author by) override
    {
        return write(need::deletion, [&] { return remove_record(*db_, id, by); });
    }

    core::result<std::vector<change>> changes(std::uint64_t after, std::size_t most) override
    {
        return read([&] { return read_changes(*db_, after, most); });
    }

    core::result<> keep_tasks(std::vector<kept_task> tasks) override
    {
        return write_rows(need::growth, [&] { return write_tasks(*db_, tasks); });
    }

    core::result<> trim_tasks(core::wall_time since, std::size_t most) override
    {
        return write_rows(need::deletion, [&] { return remove_tasks(*db_, since, most); });
    }

    core::result<std::vector<kept_task>> tasks() override
    {
        return read([&] { return read_tasks(*db_); });
    }

    core::result<> keep_cards(std::vector<kept_card> cards) override;
    core::result<core::secret> session_key(core::secret made) override;

    core::result<std::optional<kept_card>> card(std::string agent) override
    {
        return read([&] { return read_card(*db_, agent); });
    }

    core::result<> keep_card_version(card_version version) override;

    core::result<std::vector<card_version>> card_versions(std::string agent) override
    {
        return read([&] { return read_card_versions(*db_, agent); });
    }

    core::result<std::optional<std::uint64_t>> keep_delivery(kept_delivery delivery) override;

    core::result<> drop_delivery(std::uint64_t number) override
    {
        return write_rows(need::deletion, [&] { return remove_delivery(*db_, number); });
    }

    core::result<std::vector<delivery_facts>> deliveries() override
    {
        return read([&] { return read_deliveries(*db_); });
    }

    core::result<std::optional<kept_delivery>> delivery(std::uint64_t number) override
    {
        return read([&] { return read_delivery(*db_, number); });
    }

    core::result<> keep_document(kept_document document) override
    {
        return write_rows(need::growth, [&] { return write_document(*db_, document); });
    }

    core::result<> drop_document(std::string kind, std::string name) override
    {
        return write_rows(need::deletion, [&] { return remove_document(*db_, kind, name); });
    }

    core::result<std::vector<kept_document>> documents(std::string kind) override
    {
        return read([&] { return read_documents(*db_, kind); });
    }

private:
    enum class need { growth, deletion };
    enum class room { all, ballast };  // ballast: what is written may not make the file larger
    using steps = std::function<core::result<std::uint64_t>()>;  // returns the version of the change; 0: it has none

    template <class Reading>
    auto read(const Reading& reading) -> decltype(reading())
    {
        if (auto ready = connect(); !ready) {
            return std::move(ready).error();
        }
        auto found = reading();
        if (!found) {
            return failed(std::move(found).error());
        }
        return found;
    }

    core::result<> connect();
    core::error failed(core::error why);
    core::result<std::uint64_t> write(need kind, const steps& change);
    core::result<std::uint64_t> write_once(need kind, const steps& change);
    bool forget_history();
    core::result<> write_rows(need kind, const std::function<core::result<>()>& change);
    core::result<std::uint64_t> attempt(need kind, room where, const steps& change);
    core::result<std::uint64_t> change_within(need kind, room where, const steps& change);
    bool empty_log();
    void make_room();
    void hold_ballast();
    core::result<> limit_log();
    core::result<std::uint64_t> settle(core::error why, std::uint64_t version);

    sqlite_options options_;
    file_lock lock_;
    ballast ballast_;
    std::uint64_t limited_for_ = 0;          // bytes of ballast that the limit of the log is made for
    std::unique_ptr<sqlite_connection> db_;  // null: the file is opened again by whoever needs it next
};

core::error about(const std::string& path, core::error why)
{
    why.detail = path + ": " + why.detail;
    return why;
}

core::result<> sqlite::start()
{
    ballast_.find();
    auto ready = connect();
    if (!ready && ready.error().code == errc::store_full && ballast_.release()) {
        ready = connect();
    }
    if (ready) {
        ready = check_database(*db_);
    }
    if (!ready) {
        return about(options_.path, std::move(ready).error());
    }
    make_room();
    return {};
}

core::result<> sqlite::connect()
{
    if (db_) {
        return {};
    }
    auto opened = open_database(options_.path, options_.vfs);
    if (!opened) {
        return std::move(opened).error();
    }
    db_ = std::move(*opened);
    auto limited = limit_log();
    return limited ? core::result<>{} : core::result<>{failed(std::move(limited).error())};
}

// Moving the log into the file takes as much room as the log has, and on a full disk there is only the ballast for it:
// the log is a quarter of it at most, and one write.
core::result<> sqlite::limit_log()
{
    limited_for_ = ballast_.held();
    const auto pages = std::clamp(limited_for_ / 4 / page, shortest_log, longest_log);
    return db_->run(
        "PRAGMA wal_autocheckpoint=" + std::to_string(pages) +
        ";PRAGMA journal_size_limit=" + std::to_string(pages * page)
    );
}

// A connection that has failed may have an opinion of its own of what the file holds.
core::error sqlite::failed(core::error why)
{
    if (why.code == errc::store_failed) {
        db_.reset();
    }
    return why;
}

// Everything else is worth more than the history of cards.
core::result<std::uint64_t> sqlite::write(need kind, const steps& change)
{
    auto done = write_once(kind, change);
    while (!done && done.error().code == errc::store_full && forget_history()) {
        done = write_once(kind, change);
    }
    return done;
}

// A little at a time, because a removal needs room in the log until that is emptied. False: nothing of it is left, or none can go.
bool sqlite::forget_history()
{
    constexpr std::uint64_t at_once = 64 * 1024;
    const auto there = read([&] { return size_of_card_versions(*db_); });
    if (!there || *there == 0) {
        return false;
    }
    const auto removed = write_once(need::deletion, [&]() -> core::result<std::uint64_t> {
        auto done = remove_card_versions(*db_, *there - std::min(*there, at_once));
        return done ? core::result<std::uint64_t>{0} : core::result<std::uint64_t>{std::move(done).error()};
    });
    return removed.has_value();
}

core::result<std::uint64_t> sqlite::write_once(need kind, const steps& change)
{
    auto done = attempt(kind, room::all, change);
    const auto full = [&] { return !done && done.error().code == errc::store_full; };
    if (full()) {
        make_room();
        done = attempt(kind, room::all, change);
    }
    if (full() && ballast_.release()) {
        done = attempt(kind, room::ballast, change);
        empty_log();
    }
    hold_ballast();
    return done;
}

// Moves all of the log into the file and gives its space back.
bool sqlite::empty_log()
{
    if (!connect()) {
        return false;
    }
    auto emptied = db_->run("PRAGMA wal_checkpoint(TRUNCATE)");
    if (!emptied) {
        failed(std::move(emptied).error());
        return false;
    }
    return true;
}

// The file may have to grow before the log can go. The log has at least the space that the file takes, so that the
// ballast is there again afterwards.
void sqlite::make_room()
{
    if (!empty_log() && ballast_.release()) {
        empty_log();
    }
    hold_ballast();
}

void sqlite::hold_ballast()
{
    ballast_.fill();
    if (db_ && limited_for_ != ballast_.held() && !limit_log()) {
        db_.reset();
    }
}

core::result<std::uint64_t> sqlite::attempt(need kind, room where, const steps& change)
{
    auto ready = connect();
    if (ready) {
        ready = db_->run("BEGIN IMMEDIATE");
    }
    if (!ready) {
        return failed(std::move(ready).error());
    }
    auto version = change_within(kind, where, change);
    if (!version) {
        if (db_->in_transaction() && !db_->run("ROLLBACK")) {
            db_.reset();
        }
        return failed(std::move(version).error());
    }
    auto committed = db_->run("COMMIT");
    return committed ? version : settle(std::move(committed).error(), *version);
}

// Agents that are gone leave pages in the file, which can be written even if the disk is full: the log needs room for
// them only until it is emptied. What makes the file larger would cost the ballast; what makes it much larger would
// leave a log that even the ballast could not empty.
core::result<std::uint64_t> sqlite::change_within(need kind, room where, const steps& change)
{
    const auto before = db_->number("PRAGMA page_count");
    if (!before) {
        return before.error();
    }
    auto version = change();
    if (!version || kind == need::deletion) {
        return version;
    }
    const auto after = db_->number("PRAGMA page_count");
    if (!after) {
        return after.error();
    }
    const auto grown = static_cast<std::uint64_t>(std::max<std::int64_t>(*after - *before, 0)) * page;
    const bool much = ballast_.held() != 0 && grown > ballast_.held() / 2;
    if ((where == room::ballast && grown > 0) || (much && room_beside(options_.path) < 3 * grown)) {
        return core::gateway_error(errc::store_full, "write: the disk has no room for a larger file");
    }
    return version;
}

// After a commit that failed, the write may be in the log all the same. What the file says once it has been opened again
// is what holds; a checkpoint brings that to the disk.
core::result<std::uint64_t> sqlite::settle(core::error why, std::uint64_t version)
{
    db_.reset();
    if (version == 0 || !connect()) {
        return why;
    }
    const auto latest = db_->number("SELECT coalesce(max(version), 0) FROM changes");
    const bool there = latest && static_cast<std::uint64_t>(*latest) >= version;
    if (there && db_->run("PRAGMA wal_checkpoint(FULL)")) {
        return version;
    }
    return why;
}

core::result<> sqlite::write_rows(need kind, const std::function<core::result<>()>& change)
{
    const auto written = write(kind, [&]() -> core::result<std::uint64_t> {
        auto done = change();
        return done ? core::result<std::uint64_t>{0} : core::result<std::uint64_t>{std::move(done).error()};
    });
    return written ? core::result<>{} : core::result<>{written.error()};
}

core::result<> sqlite::keep_cards(std::vector<kept_card> cards)
{
    return write_rows(need::growth, [&]() -> core::result<> {
        for (const auto& each : cards) {
            if (auto done = write_card(*db_, each); !done) {
                return done;
            }
        }
        return {};
    });
}

// Takes no room from what is kept for the rest: neither the ballast, nor what make_room() would give.
core::result<> sqlite::keep_card_version(card_version version)
{
    constexpr std::uint64_t room_for_agents = 8 * 1024 * 1024;
    if (room_beside(options_.path) < room_for_agents) {
        return core::gateway_error(
            errc::store_full,
            "write: less than 8 MiB of the disk are left for a history of cards"
        );
    }
    version.at = whole_milliseconds(version.at);
    const auto kept = attempt(need::growth, room::all, [&]() -> core::result<std::uint64_t> {
        auto done = write_card_version(*db_, version);
        done = done ? remove_card_versions(*db_, card_version_bytes) : std::move(done);
        return done ? core::result<std::uint64_t>{0} : core::result<std::uint64_t>{std::move(done).error()};
    });
    return kept ? core::result<>{} : core::result<>{kept.error()};
}

core::result<std::optional<std::uint64_t>> sqlite::keep_delivery(kept_delivery delivery)
{
    delivery.received = whole_milliseconds(delivery.received);
    std::uint64_t number = 0;
    const auto kept = write(need::growth, [&]() -> core::result<std::uint64_t> {
        auto written = write_delivery(*db_, delivery);
        number = written ? *written : 0;
        return written ? core::result<std::uint64_t>{0} : written;
    });
    return kept ? core::result<std::optional<std::uint64_t>>{number}
                : core::result<std::optional<std::uint64_t>>{kept.error()};
}

core::result<core::secret> sqlite::session_key(core::secret made)
{
    auto there = read([&] { return read_session_key(*db_); });
    if (!there) {
        return std::move(there).error();
    }
    if (auto& kept_before = *there) {
        return std::move(*kept_before);
    }
    const auto kept = write_rows(need::growth, [&] { return write_session_key(*db_, made); });
    return kept ? core::result<core::secret>{std::move(made)} : core::result<core::secret>{kept.error()};
}

}  // namespace

core::result<std::unique_ptr<engine>> open_sqlite(sqlite_options options)
{
    auto lock = file_lock::take(options.path);
    if (!lock) {
        return std::move(lock).error();
    }
    const auto found = look_for(options.path);
    if (!found) {
        return found.error();
    }
    if (*found == presence::remains) {
        return core::gateway_error(
            errc::store_failed,
            options.path + ": is missing, but its log is there; restore the one or remove the other"
        );
    }
    if (*found == presence::absent) {
        if (auto created = make_database(options.path, options.vfs); !created) {
            return about(options.path, std::move(created).error());
        }
    }
    auto opened = std::make_unique<sqlite>(std::move(options), std::move(*lock));
    if (auto ready = opened->start(); !ready) {
        return std::move(ready).error();
    }
    return std::unique_ptr<engine>{std::move(opened)};
}

}  // namespace store
