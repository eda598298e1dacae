#include "gateway/telemetry/access_log.hpp"

#include "core/trace_context.hpp"
#include "core/utf8.hpp"
#include "gateway/telemetry/line_writer.hpp"
#include "gateway/telemetry/mcp_counters.hpp"

#include <algorithm>
#include <array>
#include <random>

namespace gateway::telemetry {
namespace {

// Bytes that a line can need beyond a batch, so that the buffer has its size from the start.
constexpr std::size_t longest_line = 4 * 1024;

// Where the milliseconds stand in `{"ts":"2026-11-20T06:39:05.123Z`.
constexpr std::size_t milliseconds_at = 27;

// Always inlined, so that the length of `key` is known.
[[gnu::always_inline]] inline void add_number(line_writer& out, std::string_view key, std::uint64_t value)
{
    out.add(key);
    out.add_number(value);
}

// Milliseconds with three decimals; what lies below is cut.
[[gnu::always_inline]] inline void
add_milliseconds(line_writer& out, std::string_view key, std::chrono::nanoseconds time)
{
    const auto microseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0)) / 1000;
    add_number(out, key, microseconds / 1000);
    const auto rest = microseconds % 1000;
    const std::array<char, 4> decimals{
        '.',
        static_cast<char>('0' + rest / 100),
        static_cast<char>('0' + rest / 10 % 10),
        static_cast<char>('0' + rest % 10)
    };
    out.add({decimals.data(), decimals.size()});
}

void add_trace(line_writer& out, const core::trace_context& at)
{
    if (at) {
        out.add(R"(,"trace_id":")");
        out.add_hex(at.trace.high);
        out.add_hex(at.trace.low);
        out.add(R"(","span_id":")");
        out.add_hex(at.span);
        out.add("\"");
    }
}

[[gnu::always_inline]] inline void add_name(line_writer& out, std::string_view key, std::string_view name)
{
    out.add(key);
    out.add(name);
    out.add("\"");
}

void add_text(line_writer& out, std::string_view key, std::string_view text, std::size_t limit = std::string_view::npos)
{
    out.add(key);
    out.add_json_string(core::cut_utf8(text, limit));
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

void access_log::set_level(core::log_level level)
{
    flush();
    enabled_ = level <= core::log_level::info;
}

void access_log::set_viewers(core::log_sink* viewers)
{
    flush();
    viewers_ = viewers;
}

void access_log::write(const model::request_record& record, core::wall_time now)
{
    if (reader() == nullptr) {
        return;
    }
    const auto before = lines_.size();
    if (before > 0) {
        lines_ += '\n';
    }
    line_writer line{lines_};
    add_line(line, record, now);
    line.end();
    if (before > 0 && lines_.size() > limits_.batch) {
        reader()->write(std::string_view{lines_}.substr(0, before));
        lines_.erase(0, before + 1);
    }
    if (lines_.size() >= limits_.batch) {
        flush();
    }
}

void access_log::flush()
{
    if (!lines_.empty()) {
        reader()->write(lines_);
        lines_.clear();
    }
}

void access_log::add_start(line_writer& out, core::wall_time now)
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
    out.add(start_);
}

void access_log::add_failure(line_writer& out, const model::request_record& record) const
{
    add_name(out, R"(,"code":")", core::name(*record.code));  // NOLINT(*-optional-access): its caller has looked
    add_name(out, R"(,"from":")", core::name(record.from));
    if (!record.detail.empty()) {
        add_text(out, R"(,"detail":)", record.detail, limits_.detail);
    }
}

// Adds the method that was called, and how it was understood.
void access_log::add_call(line_writer& out, const model::request_record& record) const
{
    if (!record.management_method.empty()) {
        add_text(out, R"(,"rpc":)", record.management_method);
    } else if (record.rpc_method) {
        add_name(out, R"(,"rpc":")", ::a2a::name(*record.rpc_method));
    } else if (record.mcp_method) {
        add_name(out, R"(,"rpc":")", method_label(*record.mcp_method));
    }
    if (!record.bundle.empty()) {
        add_text(out, R"(,"bundle":)", record.bundle);
    }
    if (record.bridge) {
        add_name(out, R"(,"bridge":")", model::name(*record.bridge));
    }
    if (!record.tool.empty()) {
        add_text(out, R"(,"tool":)", record.tool, limits_.principal);
    }
    if (record.era) {
        add_name(out, R"(,"era":")", ::mcp::name(*record.era));
    }
    if (record.grpc_status) {
        add_name(out, R"(,"grpc_status":")", core::name(*record.grpc_status));
    }
    if (record.translated) {
        out.add(R"(,"translated":true)");
    }
    if (!record.session.empty()) {
        add_name(out, R"(,"session":")", record.session);
    }
    if (!record.replica.empty()) {
        add_text(out, R"(,"forwarded":)", record.replica);
    }
}

void access_log::add_line(line_writer& out, const model::request_record& record, core::wall_time now)
{
    add_start(out, now);
    out.add_hex(next_id_++);
    add_name(out, R"(","route":")", model::name(record.where));
    if (!record.http.empty()) {
        add_name(out, R"(,"http":")", record.http);
    }
    if (!record.http_method.empty()) {
        add_text(out, R"(,"method":)", record.http_method);
    }
    if (!record.principal.empty()) {
        add_text(out, R"(,"principal":)", record.principal, limits_.principal);
        add_text(out, R"(,"provider":)", record.provider);
    }
    if (!record.agent.empty()) {
        add_text(out, R"(,"agent":)", record.agent);
    }
    add_call(out, record);
    add_number(out, R"(,"status":)", record.status);
    if (record.code) {
        add_failure(out, record);
    }
    if (!record.rule.empty()) {
        add_text(out, R"(,"rule":)", record.rule, limits_.detail);
    }
    if (record.tool_failed) {
        out.add(R"(,"tool_failed":true)");
    }
    add_number(out, R"(,"bytes_in":)", record.bytes_in);
    add_number(out, R"(,"bytes_out":)", record.bytes_out);
    if (record.first_byte > std::chrono::nanoseconds::zero()) {
        add_milliseconds(out, R"(,"ttfb_ms":)", record.first_byte);
    }
    add_milliseconds(out, R"(,"ms":)", record.total);
    if (!record.peer.empty()) {
        add_text(out, R"(,"peer":)", record.peer, limits_.peer);
    }
    if (!record.client.empty()) {
        add_text(out, R"(,"client":)", record.client, limits_.peer);
    }
    if (record.by_console) {
        out.add(R"(,"via":"console")");
    }
    if (record.stream) {
        add_name(out, R"(,"stream":")", model::name(*record.stream));
    }
    if (record.card) {
        add_name(out, R"(,"card":")", model::name(*record.card));
    }
    if (record.sent.attempts > 0) {
        add_number(out, R"(,"endpoint":)", record.endpoint);
        add_number(out, R"(,"attempts":)", record.sent.attempts);
    }
    add_trace(out, record.trace);
    out.add("}");
}

}  // namespace gateway::telemetry
