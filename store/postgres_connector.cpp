#include "store/postgres_connector.hpp"

#include "store/postgres_schema.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <iterator>

namespace store {
namespace {

using core::errc;

struct meaning_row {
    std::string_view state;  // an SQLSTATE, or how it begins
    pg_meaning means;
};

// The first that matches.
constexpr auto meanings = std::to_array<meaning_row>({
    {sql_state::newer, {errc::store_newer, "newer_schema"}},
    {sql_state::isolation, {errc::store_failed, "isolation"}},
    {"25006", {errc::store_unreachable, "read_only"}},
    {"28", {errc::store_unreachable, "login_refused"}},
    {"3D000", {errc::store_unreachable, "no_database"}},
    {"40", {errc::store_unreachable, "conflict"}},
    {"42501", {errc::store_failed, "no_rights"}},
    {"53100", {errc::store_full, "disk_full"}},
    {"53300", {errc::store_unreachable, "too_many_connections"}},
    {"53", {errc::store_unreachable, "no_resources"}},
    {"55P03", {errc::store_unreachable, "locked"}},
    {"57014", {errc::store_unreachable, "canceled"}},
    {"57P", {errc::store_unreachable, "shutdown"}},
    {"08", {errc::store_unreachable, "lost"}},
    {"XX00", {errc::store_failed, "damaged"}},
});

// libpq also says where in the server's sources a failure is from.
std::string_view first_line(std::string_view text)
{
    return text.substr(0, text.find('\n'));
}

}  // namespace

pg_meaning meaning_of(const pg_failure& why)
{
    if (why.state.empty()) {
        const bool follows = why.message.find("read-only") != std::string::npos;
        const bool late = why.message == no_answer;
        return {errc::store_unreachable, follows ? "read_only" : late ? "timeout" : "unreachable"};
    }
    const auto found =
        std::ranges::find_if(meanings, [&](const auto& row) { return why.state.starts_with(row.state); });
    return found == meanings.end() ? pg_meaning{errc::store_failed, "failed"} : found->means;
}

// The message of an invalid value (class 22) quotes it.
core::error error_of(const pg_failure& why)
{
    const auto means = meaning_of(why);
    auto detail = std::string{means.reason};
    if (!why.state.empty()) {
        detail += " (" + why.state + ")";
    }
    if (!why.state.starts_with("22")) {
        detail.append(": ").append(first_line(why.message));
    }
    return core::gateway_error(means.code, std::move(detail));
}

void pg_journal::begin(const core::logger* log)
{
    const std::lock_guard guard{mutex_};
    log_ = log;
}

void pg_journal::trouble(about what, std::string_view reason, std::string_view detail)
{
    const std::lock_guard guard{mutex_};
    auto& known = reasons_[static_cast<std::size_t>(what)];
    if (log_ == nullptr || known == reason) {
        return;
    }
    known = reason;
    const auto event = what == about::writes ? "store_writes_refused" : "store_unreachable";
    log_->write(core::log_level::error, event, {{"reason", reason}, {"detail", detail}});
}

void pg_journal::healed(about what)
{
    const std::lock_guard guard{mutex_};
    auto& known = reasons_[static_cast<std::size_t>(what)];
    if (log_ == nullptr || known.empty()) {
        return;
    }
    known.clear();
    log_->write(core::log_level::info, what == about::writes ? "store_writes_accepted" : "store_reachable");
}

pg_connector::pg_connector(pg_target target)
    : target_{std::move(target)},
      signal_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      cancel_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)},
      random_{std::random_device{}()},
      thread_{[this] { work(); }}
{
}

pg_connector::~pg_connector()
{
    {
        const std::lock_guard guard{mutex_};
        ends_ = true;
    }
    ::eventfd_write(cancel_.number(), 1);
    changed_.notify_all();
    thread_.join();
}

void pg_connector::wake() noexcept
{
    ::eventfd_write(signal_.number(), 1);
}

void pg_connector::want(use what)
{
    {
        const std::lock_guard guard{mutex_};
        places_[static_cast<std::size_t>(what)].wanted = true;
    }
    changed_.notify_all();
}

void pg_connector::proved()
{
    const std::lock_guard guard{mutex_};
    if (unproved_ != 0) {
        unproved_ = 0;
        next_ = {};
        places_[0].next = {};
        places_[1].next = {};
        changed_.notify_all();
    }
}

pg_result<std::unique_ptr<pg_link>> pg_connector::take(use what, core::steady_time by, bool once)
{
    std::unique_lock lock{mutex_};
    auto& place = places_[static_cast<std::size_t>(what)];
    const auto before = failed_;
    place.wanted = true;
    changed_.notify_all();
    changed_.wait_until(lock, by, [&] { return place.made != nullptr || (once && failed_ != before); });
    if (place.made == nullptr) {
        return latest_;
    }
    place.wanted = false;
    return std::move(place.made);
}

// The one whose time comes first; null: none is open.
pg_connector::place* pg_connector::next_place()
{
    const auto found =
        std::ranges::min_element(places_, {}, [](const place& each) { return std::pair{!each.is_open(), each.next}; });
    return found->is_open() ? &*found : nullptr;
}

void pg_connector::work()
{
    std::unique_lock lock{mutex_};
    while (!ends_) {
        auto* place = next_place();
        if (place == nullptr) {
            changed_.wait(lock);
            continue;
        }
        if (const auto time = std::max(place->next, next_); std::chrono::steady_clock::now() < time) {
            changed_.wait_until(lock, time);
            continue;
        }
        const auto longest = std::min(first_pause * (1L << std::min(unproved_, 10U)), longest_pause);
        ++unproved_;
        lock.unlock();
        auto made = attempt();
        lock.lock();
        const auto next =
            std::chrono::steady_clock::now() +
            core::duration{std::uniform_int_distribution<core::duration::rep>{0, longest.count()}(random_)};
        if (made) {
            place->made = std::move(*made);
            place->next = next;
            next_ = {};
        } else {
            next_ = next;
            latest_ = std::move(made).error();
            ++failed_;
            journal_.trouble(pg_journal::about::connection, meaning_of(latest_).reason, error_of(latest_).detail);
        }
        changed_.notify_all();
        if (place == &places_[static_cast<std::size_t>(use::feed)] && place->made != nullptr) {
            wake();
        }
    }
}

// The first host that answers as it should.
pg_result<std::unique_ptr<pg_link>> pg_connector::attempt()
{
    pg_failure why;
    for (auto options : target_.hosts) {
        if (!target_.password_file.empty()) {
            std::ifstream file{target_.password_file, std::ios::binary};
            std::string password{std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
            if (password.empty()) {
                return pg_failure{
                    pg_failure::kind::unsent,
                    "28",
                    "store_options.password_file is empty or cannot be read"
                };
            }
            password.erase(password.find_last_not_of("\r\n") + 1);
            options.emplace_back("password", std::move(password));
        }
        const auto by = std::chrono::steady_clock::now() + target_.connect_timeout;
        auto made = pg_link::connect(options, by, cancel_.number());
        if (made) {
            return made;
        }
        why = std::move(made).error();
    }
    return why;
}

void pg_session::drop() noexcept
{
    link_.reset();
    up_.store(false, std::memory_order_relaxed);
}

pg_result<pg_link*> pg_session::connection(core::steady_time by, bool once)
{
    if (!link_) {
        auto made = connector_.take(use_, by, once);
        if (!made) {
            auto why = std::move(made).error();
            why.what = pg_failure::kind::unsent;
            return why;
        }
        link_ = std::move(*made);
        ++generation_;
        up_.store(true, std::memory_order_relaxed);
    }
    return link_.get();
}

// A server that only follows may not be the one that writes any more: another connection may lead to that one.
void pg_session::note(const pg_failure* failure)
{
    const bool follows = failure != nullptr && failure->state == "25006";
    if (!follows && (failure == nullptr || failure->what == pg_failure::kind::refused)) {
        connector_.proved();
        connector_.journal().healed(pg_journal::about::connection);
        return;
    }
    drop();
    connector_.want(use_);
    if (failure->what == pg_failure::kind::lost || failure->what == pg_failure::kind::too_late) {
        const auto detail = error_of(*failure).detail;
        connector_.journal().trouble(pg_journal::about::connection, meaning_of(*failure).reason, detail);
    }
}

// A connection that has ended says nothing of the database: another one has a little time, but not after an attempt that failed.
pg_result<pg_rows>
pg_session::run(const char* sql, const pg_values& values, core::steady_time deadline, core::steady_time connected_by)
{
    auto by = std::max(std::chrono::steady_clock::now() + pg_connector::short_wait, connected_by);
    bool once = false;
    for (;;) {
        const bool used = link_ != nullptr && !once;
        auto link = connection(std::min(by, deadline), once);
        if (!link) {
            return std::move(link).error();
        }
        auto rows = (*link)->run(sql, values, deadline);
        if (rows) {
            note(nullptr);
            return rows;
        }
        const auto why = rows.error();
        note(&why);
        if (why.what != pg_failure::kind::unsent || (!used && std::chrono::steady_clock::now() >= by)) {
            return why;
        }
        if (used) {
            by = std::max(by, std::chrono::steady_clock::now() + pg_connector::longer_wait);
            once = connected_by == core::steady_time{};
        }
    }
}

}  // namespace store
