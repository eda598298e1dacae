#include "gateway/telemetry/span_text.hpp"

#include "core/json/json.hpp"

#include <chrono>
#include <cstdint>

namespace gateway::telemetry {
namespace {

constexpr std::size_t usual_span = 1024;

// Bits of the field `flags`: whether the trace is recorded, and whether the parent is known to be of another process.
constexpr unsigned sampled = 0x001;
constexpr unsigned knows_remote = 0x100;
constexpr unsigned remote_parent = 0x200;

constexpr int status_error = 2;

class attribute_list {
public:
    explicit attribute_list(std::string& out)
        : out_{out}
    {
        out_ += R"(,"attributes":[)";
    }

    // Nothing for an empty text.
    void add(std::string_view key, std::string_view text)
    {
        if (!text.empty()) {
            begin(key);
            out_ += R"("stringValue":)";
            core::append_json_string(out_, text);
            out_ += "}}";
        }
    }

    // Nothing for 0.
    void add(std::string_view key, unsigned number)
    {
        if (number > 0) {
            begin(key);
            out_ += R"("intValue":")" + std::to_string(number) + R"("}})";
        }
    }

    void end() { out_ += ']'; }

private:
    void begin(std::string_view key)
    {
        out_.append(first_ ? "" : ",").append(R"({"key":")").append(key).append(R"(","value":{)");
        first_ = false;
    }

    std::string& out_;
    bool first_ = true;
};

void append_time(std::string& out, std::string_view key, core::wall_time when)
{
    const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(when.time_since_epoch()).count();
    out.append(key).append(std::to_string(nanoseconds)).append("\"");
}

void append_name(std::string& out, const model::span& span)
{
    out += R"(,"name":")";
    out += span.http_method.empty() ? std::string_view{"HTTP"} : span.http_method;
    if (span.kind == model::span_kind::server && !span.route.empty()) {
        out.append(" ").append(span.route);
    }
    out += '"';
}

void append_attributes(std::string& out, const model::span& span)
{
    attribute_list list{out};
    list.add("http.request.method", span.http_method.empty() ? std::string_view{"_OTHER"} : span.http_method);
    list.add("http.route", span.route);
    list.add("url.path", span.path);
    list.add("url.scheme", span.scheme);
    list.add("server.address", span.host);
    list.add("server.port", span.port);
    list.add("http.request.resend_count", span.resends);
    list.add("http.response.status_code", span.status);
    if (!span.error.empty()) {
        list.add("error.type", span.error);
    } else if (span.failed) {
        list.add("error.type", std::to_string(span.status));
    }
    list.add("rpc.method", span.rpc_method);
    list.add("cardea.agent", span.agent);
    list.end();
}

void append_span(std::string& out, const model::span& span)
{
    out += R"({"traceId":")";
    core::append_hex(out, span.at.trace);
    out += R"(","spanId":")";
    core::append_hex(out, span.at.span);
    const bool server = span.kind == model::span_kind::server;
    auto flags = knows_remote | (span.at.sampled ? sampled : 0U);
    if (span.parent != 0) {
        out += R"(","parentSpanId":")";
        core::append_hex(out, span.parent);
        flags |= server ? remote_parent : 0U;
    }
    out += R"(","flags":)" + std::to_string(flags);
    append_name(out, span);
    out += server ? R"(,"kind":2)" : R"(,"kind":3)";
    append_time(out, R"(,"startTimeUnixNano":")", span.start);
    append_time(out, R"(,"endTimeUnixNano":")", span.end);
    append_attributes(out, span);
    if (span.failed) {
        out += R"(,"status":{"code":)" + std::to_string(status_error) + '}';
    }
    out += '}';
}

}  // namespace

std::string otlp_text(std::span<const model::span> spans, std::string_view version)
{
    std::string out;
    out.reserve(usual_span * (spans.size() + 1));
    out += R"({"resourceSpans":[{"resource":{"attributes":[)";
    out +=
        R"({"key":"service.name","value":{"stringValue":"cardea"}},{"key":"service.version","value":{"stringValue":)";
    core::append_json_string(out, version);
    out += R"(}}]},"scopeSpans":[{"scope":{"name":"cardea","version":)";
    core::append_json_string(out, version);
    out += R"(},"spans":[)";
    bool first = true;
    for (const auto& each : spans) {
        out += first ? "" : ",";
        append_span(out, each);
        first = false;
    }
    out += "]}]}]}";
    return out;
}

}  // namespace gateway::telemetry
