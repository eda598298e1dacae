#include "store/postgres_link.hpp"

#include "core/utf8.hpp"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <utility>

namespace store {
namespace {

// Of pg_type; they never change.
constexpr Oid bytea_type = 17;
constexpr Oid bigint_type = 20;
constexpr Oid text_type = 25;
constexpr Oid bytea_array = 1001;
constexpr Oid bigint_array = 1016;
constexpr Oid text_array = 1009;

template <class T>
void append_big_endian(std::string& out, T value)
{
    for (int shift = static_cast<int>(sizeof value) * 8 - 8; shift >= 0; shift -= 8) {
        out += static_cast<char>(static_cast<std::uint64_t>(value) >> shift & 0xFFU);
    }
}

std::string big_endian(std::int64_t value)
{
    std::string out;
    append_big_endian(out, value);
    return out;
}

std::string as_text(std::string_view value)
{
    std::string out;
    out.reserve(value.size());
    while (!value.empty()) {
        const auto next = core::first_code_point(value);
        const bool sound = next.value != 0 && (next.value != core::replacement_point || next.bytes == 3);
        out += sound ? value.substr(0, next.bytes) : core::replacement_text;
        value.remove_prefix(next.bytes);
    }
    return out;
}

int left_until(core::steady_time deadline)
{
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 3'600'000));
}

// Says more than libpq's message, which may be in any language: "FATAL:  28P01: ..." (PQERRORS_VERBOSE).
std::string state_in(std::string_view message)
{
    const auto in_class = [](char each) { return (each >= '0' && each <= '9') || (each >= 'A' && each <= 'Z'); };
    for (auto at = message.find(":  "); at != std::string_view::npos; at = message.find(":  ", at + 1)) {
        const auto state = message.substr(at + 3, 5);
        if (state.size() == 5 && std::ranges::all_of(state, in_class) && message.substr(at + 8, 1) == ":") {
            return std::string{state};
        }
    }
    return {};
}

// An end of the session says nothing of what was asked: a commit may have been carried out before.
bool ends_session(const PGresult* result, std::string_view state)
{
    const auto* severity = PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const std::string_view how{severity == nullptr ? "" : severity};
    return state.empty() || how == "FATAL" || how == "PANIC" || state.starts_with("08") || state.starts_with("57P");
}

}  // namespace

void throw_exception_from_error(const pg_failure& why, const boost::source_location& /*where*/)
{
    throw std::logic_error{why.message};
}

std::int64_t milliseconds_of(core::wall_time at) noexcept
{
    return std::chrono::duration_cast<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

pg_values& pg_values::add(Oid type, std::string value)
{
    types_.push_back(type);
    values_.push_back(std::move(value));
    return *this;
}

pg_values& pg_values::text(std::string_view value)
{
    return add(text_type, as_text(value));
}

pg_values& pg_values::bytes(std::string_view value)
{
    return add(bytea_type, std::string{value});
}

pg_values& pg_values::number(std::int64_t value)
{
    return add(bigint_type, big_endian(value));
}

pg_values& pg_values::time(core::wall_time value)
{
    return number(milliseconds_of(value));
}

// As array_recv() reads it: one dimension that begins at 1, nothing NULL.
pg_values& pg_values::array(Oid type, Oid element, std::span<const std::string> values)
{
    std::string out;
    append_big_endian(out, std::uint32_t{values.empty() ? 0U : 1U});
    append_big_endian(out, std::uint32_t{0});
    append_big_endian(out, std::uint32_t{element});
    if (!values.empty()) {
        append_big_endian(out, static_cast<std::uint32_t>(values.size()));
        append_big_endian(out, std::uint32_t{1});
    }
    for (const auto& each : values) {
        append_big_endian(out, static_cast<std::uint32_t>(each.size()));
        out += each;
    }
    return add(type, std::move(out));
}

pg_values& pg_values::texts(std::span<const std::string> values)
{
    std::vector<std::string> sound;
    sound.reserve(values.size());
    std::ranges::transform(values, std::back_inserter(sound), as_text);
    return array(text_array, text_type, sound);
}

pg_values& pg_values::byte_strings(std::span<const std::string> values)
{
    return array(bytea_array, bytea_type, values);
}

pg_values& pg_values::numbers(std::span<const std::int64_t> values)
{
    std::vector<std::string> all;
    all.reserve(values.size());
    std::ranges::transform(values, std::back_inserter(all), big_endian);
    return array(bigint_array, bigint_type, all);
}

std::string pg_rows::text(int row, int column) const
{
    const auto size = static_cast<std::size_t>(PQgetlength(result_.get(), row, column));
    return {PQgetvalue(result_.get(), row, column), size};
}

std::int64_t pg_rows::number(int row, int column) const noexcept
{
    if (PQgetlength(result_.get(), row, column) != 8) {
        return 0;
    }
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) {
        value = value << 8U | static_cast<unsigned char>(PQgetvalue(result_.get(), row, column)[i]);
    }
    return static_cast<std::int64_t>(value);
}

core::wall_time pg_rows::time(int row, int column) const noexcept
{
    return core::wall_time{std::chrono::milliseconds{number(row, column)}};
}

pg_result<std::unique_ptr<pg_link>>
pg_link::connect(std::span<const std::pair<std::string, std::string>> options, core::steady_time deadline, int cancel)
{
    std::vector<const char*> names;
    std::vector<const char*> values;
    for (const auto& [name, value] : options) {
        names.push_back(name.c_str());
        values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    std::unique_ptr<pg_link> made{new pg_link{PQconnectStartParams(names.data(), values.data(), 0)}};
    auto* connection = made->connection_;
    PQsetErrorVerbosity(connection, PQERRORS_VERBOSE);
    auto next = PGRES_POLLING_WRITING;
    while (connection != nullptr && PQstatus(connection) != CONNECTION_BAD) {
        std::array<pollfd, 2> watched{};
        watched[0] = {PQsocket(connection), static_cast<short>(next == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
        watched[1] = {cancel, POLLIN, 0};
        const auto count = ::poll(watched.data(), watched.size(), left_until(deadline));
        if ((count == 0 && std::chrono::steady_clock::now() >= deadline) || watched[1].revents != 0) {
            return pg_failure{pg_failure::kind::too_late, {}, std::string{no_answer}};
        }
        if (watched[0].revents == 0) {
            continue;
        }
        next = PQconnectPoll(connection);
        if (next == PGRES_POLLING_OK) {
            PQsetErrorVerbosity(connection, PQERRORS_DEFAULT);
            PQsetNoticeProcessor(connection, [](void*, const char*) {}, nullptr);
            PQsetnonblocking(connection, 1);
            return made;
        }
        if (next == PGRES_POLLING_FAILED) {
            break;
        }
    }
    auto why = made->complaint();
    auto state = state_in(why);
    return pg_failure{pg_failure::kind::unsent, std::move(state), std::move(why)};
}

// Twice: the first may find the server's last words, and the end behind them.
bool pg_link::ended() noexcept
{
    return PQconsumeInput(connection_) == 0 || PQconsumeInput(connection_) == 0 ||
           PQstatus(connection_) != CONNECTION_OK;
}

bool pg_link::take_notifications()
{
    PQconsumeInput(connection_);
    bool any = false;
    for (auto* each = PQnotifies(connection_); each != nullptr; each = PQnotifies(connection_)) {
        PQfreemem(each);
        any = true;
    }
    return any;
}

std::optional<pg_failure> pg_link::wait(short events, core::steady_time deadline)
{
    pollfd watched{PQsocket(connection_), events, 0};
    const auto count = ::poll(&watched, 1, left_until(deadline));
    if (count == 0 && std::chrono::steady_clock::now() >= deadline) {
        return pg_failure{pg_failure::kind::too_late, {}, std::string{no_answer}};
    }
    if ((watched.revents & ~POLLOUT) != 0 && PQconsumeInput(connection_) == 0) {
        return pg_failure{pg_failure::kind::lost, {}, complaint()};
    }
    return std::nullopt;
}

pg_result<pg_rows> pg_link::run(const char* sql, const pg_values& values, core::steady_time deadline)
{
    if (ended()) {
        return pg_failure{pg_failure::kind::unsent, {}, complaint()};
    }
    std::vector<const char*> texts;
    std::vector<int> sizes;
    for (const auto& each : values.values_) {
        texts.push_back(each.data());
        sizes.push_back(static_cast<int>(each.size()));
    }
    const std::vector<int> binary(texts.size(), 1);
    const auto count = static_cast<int>(texts.size());
    const auto* types = values.types_.data();
    if (PQsendQueryParams(connection_, sql, count, types, texts.data(), sizes.data(), binary.data(), 1) == 0) {
        return pg_failure{pg_failure::kind::lost, {}, complaint()};
    }
    return answer(deadline);
}

pg_result<pg_rows> pg_link::script(const std::string& sql, core::steady_time deadline)
{
    if (ended()) {
        return pg_failure{pg_failure::kind::unsent, {}, complaint()};
    }
    if (PQsendQuery(connection_, sql.c_str()) == 0) {
        return pg_failure{pg_failure::kind::lost, {}, complaint()};
    }
    return answer(deadline);
}

// All results until the server is ready for the next statement: a commit that fails says so behind the rows.
pg_result<pg_rows> pg_link::answer(core::steady_time deadline)
{
    for (int unsent = PQflush(connection_); unsent != 0; unsent = PQflush(connection_)) {
        if (unsent < 0) {
            return pg_failure{pg_failure::kind::lost, {}, complaint()};
        }
        if (auto failed = wait(POLLIN | POLLOUT, deadline)) {
            return std::move(*failed);
        }
    }
    std::optional<pg_failure> failure;
    pg_rows rows{nullptr};
    for (;;) {
        while (PQisBusy(connection_) != 0) {
            if (auto failed = wait(POLLIN, deadline)) {
                return std::move(*failed);
            }
        }
        auto* result = PQgetResult(connection_);
        if (result == nullptr) {
            break;
        }
        pg_rows next{result};
        const auto status = PQresultStatus(result);
        if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) {
            rows = std::move(next);
            continue;
        }
        const auto* state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
        const auto* message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
        const std::string known{state == nullptr ? "" : state};
        const auto kind = ends_session(result, known) ? pg_failure::kind::lost : pg_failure::kind::refused;
        if (!failure || failure->state.empty()) {
            failure = pg_failure{kind, known, message == nullptr ? complaint() : std::string{message}};
        }
    }
    if (!failure && (PQstatus(connection_) != CONNECTION_OK || PQtransactionStatus(connection_) == PQTRANS_UNKNOWN)) {
        failure = pg_failure{pg_failure::kind::lost, {}, complaint()};
    }
    if (failure) {
        return std::move(*failure);
    }
    return rows;
}

}  // namespace store
