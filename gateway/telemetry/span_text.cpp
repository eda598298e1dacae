#include "gateway/telemetry/span_text.hpp"

#include "core/json/json_writer.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

namespace gateway::telemetry {
namespace {

constexpr std::size_t usual_span = 1024;

// Bits of the field `flags`: whether the trace is recorded, and whether the parent is known to be of another process.
constexpr unsigned sampled = 0x001;
constexpr unsigned knows_remote = 0x100;
constexpr unsigned remote_parent = 0x200;

constexpr int status_error = 2;

// Writes nothing for an empty text.
void add_attribute(core::json_writer& to, std::string_view key, std::string_view text)
{
    if (!text.empty()) {
        to.open('{');
        to.member("key", key);
        to.name("value");
        to.open('{');
        to.member("stringValue", text);
        to.close('}');
        to.close('}');
    }
}

// Writes nothing for 0.
void add_attribute(core::json_writer& to, std::string_view key, unsigned number)
{
    if (number > 0) {
        to.open('{');
        to.member("key", key);
        to.name("value");
        to.open('{');
        to.member("intValue", std::to_string(number));
        to.close('}');
        to.close('}');
    }
}

void add_time(core::json_writer& to, std::string_view name, core::wall_time when)
{
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
    to.member(name, std::to_string(nanoseconds));
}

template <typename Number>
void add_hex(core::json_writer& to, std::string_view name, const Number& number)
{
    std::string hex;
    core::append_hex(hex, number);
    to.member(name, hex);
}

std::string name_of(const model::span& span)
{
    if (span.kind == model::span_kind::server && span.is_mcp) {
        return std::string{span.rpc_method} + (span.tool.empty() ? "" : ' ' + span.tool);
    }
    std::string out{span.http_method.empty() ? std::string_view{"HTTP"} : span.http_method};
    if (span.kind == model::span_kind::server && !span.route.empty()) {
        out.append(" ").append(span.route);
    }
    return out;
}

void add_attributes(core::json_writer& to, const model::span& span)
{
    to.name("attributes");
    to.open('[');
    add_attribute(to, "http.request.method", span.http_method.empty() ? std::string_view{"_OTHER"} : span.http_method);
    add_attribute(to, "http.route", span.route);
    add_attribute(to, "url.path", span.path);
    add_attribute(to, "url.scheme", span.scheme);
    add_attribute(to, "server.address", span.host);
    add_attribute(to, "server.port", span.port);
    add_attribute(to, "http.request.resend_count", span.resends);
    add_attribute(to, "http.response.status_code", span.status);
    if (!span.error.empty()) {
        add_attribute(to, "error.type", span.error);
    } else if (span.failed) {
        add_attribute(to, "error.type", std::to_string(span.status));
    }
    add_attribute(to, "rpc.method", span.rpc_method);
    if (span.is_mcp) {
        add_attribute(to, "mcp.method.name", span.rpc_method);
        add_attribute(to, "mcp.protocol.version", span.protocol);
    }
    add_attribute(to, "jsonrpc.request.id", span.request_id);
    add_attribute(to, "gen_ai.operation.name", span.operation);
    add_attribute(to, "gen_ai.tool.name", span.tool);
    if (span.is_a2a) {
        add_attribute(to, "gen_ai.agent.id", span.agent);
        add_attribute(to, "gen_ai.agent.name", span.agent_name);
        add_attribute(to, "gen_ai.conversation.id", span.conversation);
    }
    add_attribute(to, "cardea.agent", span.agent);
    to.close(']');
}

void add_span(core::json_writer& to, const model::span& span)
{
    const bool server = span.kind == model::span_kind::server;
    auto flags = knows_remote | (span.at.sampled ? sampled : 0U);
    to.open('{');
    add_hex(to, "traceId", span.at.trace);
    add_hex(to, "spanId", span.at.span);
    if (span.parent != 0) {
        add_hex(to, "parentSpanId", span.parent);
        flags |= server ? remote_parent : 0U;
    }
    to.member("flags", flags);
    to.member("name", name_of(span));
    to.member("kind", server ? 2 : 3);
    add_time(to, "startTimeUnixNano", span.start);
    add_time(to, "endTimeUnixNano", span.end);
    add_attributes(to, span);
    if (span.failed) {
        to.name("status");
        to.open('{');
        to.member("code", status_error);
        to.close('}');
    }
    to.close('}');
}

}  // namespace

std::string otlp_text(std::span<const model::span> spans, std::string_view version)
{
    std::string out;
    out.reserve(usual_span * (spans.size() + 1));
    out += R"({"resourceSpans":[{"resource":{"attributes":[)";
    core::json_writer to{out};
    add_attribute(to, "service.name", std::string_view{"cardea"});
    add_attribute(to, "service.version", version);
    out += R"(]},"scopeSpans":[{"scope":{"name":"cardea")";
    to.member("version", version);
    out += R"(},"spans":[)";
    for (const auto& each : spans) {
        add_span(to, each);
    }
    out += "]}]}]}";
    return out;
}

void span_queue::add(model::span_batch came, core::steady_time now)
{
    dropped_ += came.dropped;
    for (auto& each : came.spans) {
        if (waiting_.size() < most) {
            waiting_.push_back({now, std::move(each)});
        } else {
            ++dropped_;
        }
    }
}

bool span_queue::due(core::steady_time now) const noexcept
{
    return waiting_.size() >= batch || (!waiting_.empty() && now - waiting_.front().since >= longest_wait);
}

std::vector<model::span> span_queue::take()
{
    std::vector<model::span> out;
    const auto size = std::min(waiting_.size(), batch);
    out.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
        out.push_back(std::move(waiting_.front().what));
        waiting_.pop_front();
    }
    return out;
}

}  // namespace gateway::telemetry
