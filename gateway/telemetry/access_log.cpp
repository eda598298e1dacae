#include "gateway/telemetry/access_log.hpp"

#include "core/json/json.hpp"
#include "core/trace_context.hpp"
#include "core/utf8.hpp"
#include "gateway/telemetry/mcp_counters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <random>

namespace gateway::telemetry {
namespace {

// What a line can need beyond a batch, so that the buffer has its size from the start.
constexpr std::size_t longest_line = 4 * 1024;

// Where the milliseconds stand in `{"ts":"2026-11-20T06:39:05.123Z`.
constexpr std::size_t milliseconds_at = 27;

void append_number(std::string& out, std::string_view key, std::uint64_t value)
{
    std::array<char, 20> digits;  // NOLINT(cppcoreguidelines-pro-type-member-init): written before it is read
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
    out += key;
    out.append(digits.data(), end);
}

// Milliseconds with three decimals; what lies below is cut.
void append_milliseconds(std::string& out, std::string_view key, std::chrono::nanoseconds time)
{
    const auto microseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0)) / 1000;
    append_number(out, key, microseconds / 1000);
    const auto rest = microseconds % 1000;
    const std::array<char, 4> decimals{
        '.',
        static_cast<char>('0' + rest / 100),
        static_cast<char>('0' + rest / 10 % 10),
        static_cast<char>('0' + rest % 10)
    };
    out.append(decimals.data(), decimals.size());
}

void append_trace(std::string& out, const core::trace_context& at)
{
    if (at) {
        out += R"(,"trace_id":")";
        core::append_hex(out, at.trace);
        out += R"(","span_id":")";
        core::append_hex(out, at.span);
        out += '"';
    }
}

void append_name(std::string& out, std::string_view key, std::string_view name)
{
    out += key;
    out += name;
    out += '"';
}

}  // namespace

access_log::access_log(core::log_sink& sink, core::log_level level, std::uint64_t first_id, limits limits)
    : sink_{sink},
      enabled_{level <= core::log_level::info},
      limits_{limits},
      next_id_{first_id}
{
    if (enabled_) {
        lines_.reserve(limits_.batch + longest_line);
    }
}

access_log::~access_log()
{
    flush();
}

std::uint64_t access_log::random_first_id()
{
    std::random_device source;
    return std::uniform_int_distribution<std::uint64_t>{}(source);
}

void access_log::write(const model::request_record& record, core::wall_time now)
{
    if (!enabled_) {
        return;
    }
    const auto before = lines_.size();
    if (before > 0) {
        lines_ += '\n';
    }
    append_line(record, now);
    if (before > 0 && lines_.size() > limits_.batch) {
        sink_.write(std::string_view{lines_}.substr(0, before));
        lines_.erase(0, before + 1);
    }
    if (lines_.size() >= limits_.batch) {
        flush();
    }
}

void access_log::flush()
{
    if (!lines_.empty()) {
        sink_.write(lines_);
        lines_.clear();
    }
}

void access_log::append_start(core::wall_time now)
{
    const auto second = std::chrono::floor<std::chrono::seconds>(now);
    if (second != second_) {
        second_ = second;
        start_ = R"({"ts":")";
        core::append_timestamp(start_, second);
        start_ += R"(","level":"info","event":"request","id":")";
    }
    const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(now - second).count();
    start_[milliseconds_at] = static_cast<char>('0' + milliseconds / 100);
    start_[milliseconds_at + 1] = static_cast<char>('0' + milliseconds / 10 % 10);
    start_[milliseconds_at + 2] = static_cast<char>('0' + milliseconds % 10);
    lines_ += start_;
}

void access_log::append_text(std::string_view key, std::string_view text, std::size_t limit)
{
    lines_ += key;
    core::append_json_string(lines_, core::cut_utf8(text, limit));
}

void access_log::append_failure(const model::request_record& record)
{
    append_name(lines_, R"(,"code":")", core::name(*record.code));  // NOLINT(*-optional-access): its caller has looked
    append_name(lines_, R"(,"from":")", core::name(record.from));
    if (!record.detail.empty()) {
        append_text(R"(,"detail":)", record.detail, limits_.detail);
    }
}

void access_log::append_line(const model::request_record& record, core::wall_time now)
{
    append_start(now);
    core::append_hex(lines_, next_id_++);
    append_name(lines_, R"(","route":")", model::name(record.where));
    if (!record.http_method.empty()) {
        append_text(R"(,"method":)", record.http_method);
    }
    if (!record.principal.empty()) {
        append_text(R"(,"principal":)", record.principal, limits_.principal);
        append_text(R"(,"provider":)", record.provider);
    }
    if (!record.agent.empty()) {
        append_text(R"(,"agent":)", record.agent);
    }
    if (!record.management_method.empty()) {
        append_text(R"(,"rpc":)", record.management_method);
    } else if (record.rpc_method) {
        append_name(lines_, R"(,"rpc":")", a2a::name(*record.rpc_method));
    } else if (record.mcp_method) {
        append_name(lines_, R"(,"rpc":")", method_label(*record.mcp_method));
    }
    if (!record.tool.empty()) {
        append_text(R"(,"tool":)", record.tool, limits_.principal);
    }
    if (record.era) {
        append_name(lines_, R"(,"era":")", mcp::name(*record.era));
    }
    if (record.translated) {
        lines_ += R"(,"translated":true)";
    }
    if (!record.session.empty()) {
        append_name(lines_, R"(,"session":")", record.session);
    }
    append_number(lines_, R"(,"status":)", record.status);
    if (record.code) {
        append_failure(record);
    }
    append_number(lines_, R"(,"bytes_in":)", record.bytes_in);
    append_number(lines_, R"(,"bytes_out":)", record.bytes_out);
    if (record.first_byte > std::chrono::nanoseconds::zero()) {
        append_milliseconds(lines_, R"(,"ttfb_ms":)", record.first_byte);
    }
    append_milliseconds(lines_, R"(,"ms":)", record.total);
    if (!record.peer.empty()) {
        append_text(R"(,"peer":)", record.peer, limits_.peer);
    }
    if (!record.client.empty()) {
        append_text(R"(,"client":)", record.client, limits_.peer);
    }
    if (record.stream) {
        append_name(lines_, R"(,"stream":")", model::name(*record.stream));
    }
    if (record.card) {
        append_name(lines_, R"(,"card":")", model::name(*record.card));
    }
    if (record.sent.attempts > 0) {
        append_number(lines_, R"(,"endpoint":)", record.endpoint);
        append_number(lines_, R"(,"attempts":)", record.sent.attempts);
    }
    append_trace(lines_, record.trace);
    lines_ += '}';
}

}  // namespace gateway::telemetry
