#include "store/postgres_feed.hpp"

#include "store/postgres_schema.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace store {
namespace {

// The rows of cardea.poll(): a kind, six numbers, six byte strings.
enum class row_kind : std::int64_t { head, change, record, card, task, document, delivery, replica, mark };
constexpr int number_column = 0;  // n1 is 1
constexpr int bytes_column = 6;   // b1 is 7

constexpr std::chrono::seconds longest_reload{30};

class row_view {
public:
    row_view(const pg_rows& rows, int row)
        : rows_{rows},
          row_{row}
    {
    }
    row_kind kind() const { return static_cast<row_kind>(rows_.number(row_, 0)); }
    std::int64_t n(int column) const { return rows_.number(row_, number_column + column); }
    std::uint64_t u(int column) const { return static_cast<std::uint64_t>(n(column)); }
    core::wall_time time(int column) const { return rows_.time(row_, number_column + column); }
    std::string b(int column) const { return rows_.text(row_, bytes_column + column); }
    bool no_b(int column) const { return rows_.is_null(row_, bytes_column + column); }

private:
    const pg_rows& rows_;
    int row_;
};

void take_head(feed_batch& out, const row_view& row, const feed_position& from)
{
    out.reload = static_cast<feed_reload>(row.n(1));
    out.reached = {row.u(2), row.b(1), row.u(3), row.u(4), row.u(5), row.u(6)};
    if (out.reached.agents == from.agents && out.reload == feed_reload::none) {
        out.reached.token = from.token;
    }
}

bool go_back(std::uint64_t& reached, std::uint64_t latest)
{
    if (latest == 0 || latest >= reached) {
        return false;
    }
    reached = latest;
    return true;
}

void take_document(feed_batch& out, feed_position& latest, const row_view& row)
{
    document_change made{row.b(1), row.b(2), {}};
    if (!row.no_b(4)) {
        made.now = kept_document{made.kind, made.name, row.b(3), row.b(4)};
    }
    latest.documents = row.u(1);
    out.documents.push_back(std::move(made));
}

void take_row(feed_batch& out, feed_position& latest, const row_view& row)
{
    switch (row.kind()) {
        case row_kind::head:
            break;
        case row_kind::change:
            latest.agents = row.u(1);
            latest.token = row.b(3);
            out.changes.push_back({{row.u(1), row.time(2), row.b(1), static_cast<action>(row.n(3)), row.b(2)}, row.u(4)}
            );
            break;
        case row_kind::record:
            out.records.push_back({row.b(1), row.b(2), row.u(1), row.time(2)});
            break;
        case row_kind::card:
            latest.cards = row.u(1);
            out.cards.push_back({row.b(1), row.b(2), row.b(3), row.b(4), row.b(5), row.b(6), row.time(2), {}});
            out.cards.back().fresh_for = core::duration{row.n(3)};
            break;
        case row_kind::task:
            latest.tasks = row.u(1);
            out.tasks.push_back({row.u(2), row.u(3), row.time(4)});
            break;
        case row_kind::document:
            take_document(out, latest, row);
            break;
        case row_kind::delivery:
            latest.deliveries = row.u(1);
            out.deliveries.push_back({row.u(2), row.b(1), row.b(2), row.b(3), row.u(3), row.time(4)});
            break;
        case row_kind::replica:
            out.replicas.push_back(
                {{row.u(1), row.b(1), row.b(2), row.b(3), row.b(4), row.u(2)}, core::duration{row.n(3)}}
            );
            break;
        case row_kind::mark:
            break;
    }
}

feed_batch
to_batch(const pg_rows& rows, const feed_position& from, std::vector<feed_mark>& marks, core::wall_time& clock)
{
    feed_batch out;
    feed_position latest;  // by the latest row of a kind; 0: there was none
    marks.clear();
    for (int i = 0; i < rows.size(); ++i) {
        const row_view row{rows, i};
        if (row.kind() == row_kind::head) {
            take_head(out, row, from);
        } else if (row.kind() == row_kind::mark) {
            marks.push_back({row.b(1), row.n(1), row.b(2)});
            clock = row.time(2);
        } else {
            take_row(out, latest, row);
        }
    }
    if (go_back(out.reached.agents, latest.agents)) {
        out.reached.token = latest.token;
        out.more = true;
    }
    out.more |= go_back(out.reached.cards, latest.cards);
    out.more |= go_back(out.reached.tasks, latest.tasks);
    out.more |= out.reload == feed_reload::none && go_back(out.reached.documents, latest.documents);
    out.more |= go_back(out.reached.deliveries, latest.deliveries);
    return out;
}

}  // namespace

core::result<> postgres_feed::begin(feed_position position, std::vector<feed_mark> marks, core::steady_time by)
{
    start_ = std::move(position);
    marks_ = std::move(marks);
    applied_ = reached_ = start_.agents;
    const auto link = session_.connection(by, true);
    return link ? core::result<>{} : core::result<>{error_of(link.error())};
}

// To the end of an answer: late by its way, which is less than what counts.
void postgres_feed::see_clock(core::wall_time of_store) noexcept
{
    constexpr std::chrono::seconds least_difference{2};
    const auto ahead = std::chrono::duration_cast<core::duration>(of_store - std::chrono::system_clock::now());
    ahead_ = std::chrono::abs(ahead) < least_difference ? 0 : ahead.count();
}

core::result<pg_rows>
postgres_feed::run(const char* sql, const pg_values& values, pg_journal::about what, core::duration timeout)
{
    const auto now = std::chrono::steady_clock::now();
    const auto link = session_.connection(now + pg_connector::short_wait, false);
    auto rows = pg_result<pg_rows>{link ? pg_failure{} : link.error()};
    if (link) {
        listen(now + timeout);
        rows = session_.run(sql, values, now + timeout);
    }
    auto& serves = what == pg_journal::about::writes ? beats_ : polls_;
    serves = rows.has_value();
    if (rows) {
        connector_.journal().healed(what);
        return std::move(*rows);
    }
    const auto& why = rows.error();
    if (why.what == pg_failure::kind::refused) {
        connector_.journal().trouble(what, meaning_of(why).reason, error_of(why).detail);
    }
    return core::gateway_error(core::errc::store_unreachable, error_of(why).detail);
}

// Before anything is read, so that nothing between is missed.
void postgres_feed::listen(core::steady_time deadline)
{
    if (!options_.notify || session_.generation() == listens_) {
        return;
    }
    listens_ = 0;
    const auto generation = session_.generation();
    const auto done = session_.run("LISTEN cardea", {}, deadline);
    const auto process = session_.run("SELECT pg_backend_pid()::bigint", {}, deadline);
    notified_ = done && process && generation == session_.generation();
    if (notified_) {
        direct_ = process->number(0, 0) == session_.link()->server_process();
        listens_ = generation;
        heard_ = std::chrono::steady_clock::now();
        beats_unheard_ = 0;
    }
}

core::result<feed_batch> postgres_feed::poll(feed_position from)
{
    applied_ = from.agents;
    const auto asked = std::chrono::steady_clock::now();
    auto batch = ask(from, false, options_.timeout);
    if (batch && batch->reload != feed_reload::none) {
        batch = ask(from, true, std::max<core::duration>(options_.timeout, longest_reload));
    }
    if (!batch) {
        return batch;
    }
    reached_ = batch->reached.agents;
    key_unsure_ = key_unsure_ || batch->reload == feed_reload::regressed;
    give_key_back();
    if (std::chrono::steady_clock::now() - asked < std::chrono::seconds{1}) {
        see_clock(clock_);
    }
    bring_here(batch->cards, &kept_card::fetched);
    bring_here(batch->tasks, &kept_task::seen);
    bring_here(batch->deliveries, &delivery_facts::received);
    return batch;
}

core::result<feed_batch> postgres_feed::ask(const feed_position& from, bool everything, core::duration timeout)
{
    pg_values values;
    values.number(options_.self).number(from.agents).bytes(from.token).number(from.cards).number(from.tasks);
    values.number(from.documents).number(from.deliveries).number(std::uint64_t{most_changes});
    std::vector<std::string> names;
    std::vector<std::int64_t> numbers;
    std::vector<std::string> tokens;
    for (const auto& each : marks_) {
        names.push_back(each.feed);
        numbers.push_back(each.number);
        tokens.push_back(each.token);
    }
    values.texts(names).numbers(numbers).byte_strings(tokens).number(std::int64_t{everything});
    constexpr auto sql = "SELECT * FROM cardea.poll($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 <> 0)";
    const auto rows = run(sql, values, pg_journal::about::feed, timeout);
    if (!rows) {
        return rows.error();
    }
    auto marks = marks_;
    auto batch = to_batch(*rows, from, marks, clock_);
    if (everything || batch.reload == feed_reload::none) {
        marks_ = std::move(marks);
    }
    return batch;
}

void postgres_feed::set_key(core::secret key)
{
    const std::lock_guard guard{key_mutex_};
    key_ = std::move(key);
}

void postgres_feed::give_key_back()
{
    const std::lock_guard guard{key_mutex_};
    if (!key_unsure_ || key_.empty()) {
        return;
    }
    pg_values values;
    values.bytes(random_bytes(16)).number(patience()).number(postgres_schema).text(key_.reveal());
    constexpr auto keep = "SELECT cardea.keep_session_key($1, $2, $3, $4)";
    if (!run(keep, values, pg_journal::about::writes, options_.timeout)) {
        return;  // with the next poll
    }
    const auto there = run(sql_key, {}, pg_journal::about::feed, options_.timeout);
    key_unsure_ = !there;
    if (there && there->text(0, 0) != key_.reveal() && options_.log != nullptr) {
        options_.log->write(core::log_level::error, "session_key_differs");
    }
}

core::result<> postgres_feed::beat(replica_facts own)
{
    pg_values values;
    values.number(patience()).number(own.id).text(own.name).text(own.url).text(own.version);
    values.text(own.configuration).number(own.applied);
    ++beats_unheard_;
    const auto rows =
        run("SELECT cardea.beat($1, $2, $3, $4, $5, $6, $7)", values, pg_journal::about::writes, options_.timeout);
    return rows ? core::result<>{} : core::result<>{rows.error()};
}

core::result<> postgres_feed::leave()
{
    pg_values values;
    values.number(patience()).number(options_.self);
    const auto rows = run("SELECT cardea.leave($1, $2)", values, pg_journal::about::writes, options_.timeout);
    return rows ? core::result<>{} : core::result<>{rows.error()};
}

bool postgres_feed::hears(bool from_others)
{
    if (session_.link() == nullptr || !session_.link()->take_notifications()) {
        return false;
    }
    if (direct_ || from_others) {
        heard_ = std::chrono::steady_clock::now();
        beats_unheard_ = 0;
        told_ = false;
        notified_ = true;
    }
    return true;
}

void postgres_feed::look_for_silence()
{
    if (listens_ == 0 || beats_unheard_ < 2 || std::chrono::steady_clock::now() < heard_ + replica_life) {
        return;
    }
    notified_ = false;
    if (!told_ && options_.log != nullptr) {
        options_.log->write(core::log_level::warn, "store_notify_silent", {{"reason", "pooler"}});
    }
    told_ = true;
}

void postgres_feed::wait(core::duration at_most)
{
    const auto until = std::chrono::steady_clock::now() + at_most;
    applied_ = reached_;
    look_for_silence();
    for (bool waited = false;; waited = true) {
        if (hears(waited)) {
            return;
        }
        if (session_.link() != nullptr && session_.link()->ended()) {
            const pg_failure why{pg_failure::kind::lost, {}, "the server has ended the connection"};
            session_.note(&why);
        }
        if (session_.link() == nullptr) {
            listens_ = 0;
            notified_ = false;
            connector_.want(pg_connector::use::feed);
        }
        const auto left = std::chrono::ceil<core::duration>(until - std::chrono::steady_clock::now());
        if (left <= core::duration{0}) {
            return;
        }
        std::array<pollfd, 2> watched{};
        watched[0] = {connector_.signal(), POLLIN, 0};
        watched[1] = {session_.link() == nullptr ? -1 : session_.link()->socket(), POLLIN, 0};
        ::poll(watched.data(), watched.size(), static_cast<int>(left.count()));
        if (watched[0].revents != 0) {
            eventfd_t ignored = 0;
            ::eventfd_read(connector_.signal(), &ignored);
            return;
        }
    }
}

}  // namespace store
