#include "tests/flow/relay_fixture.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <regex>
#include <sstream>

namespace flow {
namespace {

config::settings settings_for(const test_support::scripted_agent& agent, const relayed::adjustment& adjust)
{
    auto settings = quick_settings();
    settings.agents.push_back(a2a_agent("a", agent.url("/rpc")));
    if (adjust) {
        adjust(settings);
    }
    return settings;
}

void check_error_head(const test_support::http_response& got, const error_answer& what)
{
    CHECK(got.status == what.status);
    CHECK(got.header("Cardea-Error") == what.name);
    CHECK(got.header("Content-Type") == "application/json");
    CHECK(got.header("Cache-Control") == "no-store");
}

}  // namespace

relayed::relayed(test_support::handler by_default, const adjustment& adjust, test_support::agent_options options)
    : agent{std::move(by_default), std::move(options)},
      gateway{settings_for(agent, adjust)}
{
}

relayed::relayed(test_support::script always, const adjustment& adjust, test_support::agent_options options)
    : relayed{[always = std::move(always)](const auto&) { return always; }, adjust, std::move(options)}
{
}

std::string call_body(std::string_view id, std::string_view method)
{
    std::string body = R"({"jsonrpc":"2.0","id":)";
    body.append(id).append(R"(,"method":")").append(method).append(R"(","params":{}})");
    return body;
}

std::string call_text(std::string_view body, const test_support::field_list& further)
{
    test_support::field_list fields{{"Content-Type", "application/json"}};
    fields.insert(fields.end(), further.begin(), further.end());
    return test_support::request_text("POST", "/agents/a", fields, body);
}

test_support::http_response call(std::uint16_t port, std::string_view body)
{
    test_support::http_client caller{port};
    caller.send(call_text(body));
    return caller.read_response();
}

std::string jsonrpc_body(const error_answer& what, std::string_view id, std::string_view agent)
{
    std::ostringstream out;
    out << R"({"jsonrpc":"2.0","id":)" << id << R"(,"error":{"code":)" << what.code << R"(,"message":")" << what.message
        << R"(","data":{"code":")" << what.name << '"';
    if (!agent.empty()) {
        out << R"(,"agent":")" << agent << '"';
    }
    out << R"(,"retryable":)" << (what.retryable ? "true" : "false") << "}}}";
    return out.str();
}

std::string plain_body(const error_answer& what, std::string_view agent)
{
    std::ostringstream out;
    out << R"({"error":{"code":")" << what.name << R"(","message":")" << what.message << '"';
    if (!agent.empty()) {
        out << R"(,"agent":")" << agent << '"';
    }
    out << R"(,"retryable":)" << (what.retryable ? "true" : "false") << "}}";
    return out.str();
}

void check_jsonrpc_error(
    const test_support::http_response& got,
    const error_answer& what,
    std::string_view id,
    std::string_view agent
)
{
    check_error_head(got, what);
    CHECK(got.body == jsonrpc_body(what, id, agent));
}

void check_plain_error(const test_support::http_response& got, const error_answer& what, std::string_view agent)
{
    check_error_head(got, what);
    CHECK(got.body == plain_body(what, agent));
}

void check_rest_error(
    const test_support::http_response& got,
    const error_answer& what,
    bool of_1,
    std::string_view agent
)
{
    check_error_head(got, what);
    const auto body = nlohmann::json::parse(got.body, nullptr, /*allow_exceptions=*/false);
    REQUIRE(body.is_object());
    if (of_1) {
        const auto& error = body.at("error");
        CHECK(error.at("code") == what.status);
        CHECK(error.at("status").is_string());
        CHECK(error.at("message") == what.message);
        const auto& info = error.at("details").at(0);
        CHECK(info.at("@type") == "type.googleapis.com/google.rpc.ErrorInfo");
        CHECK(info.at("reason") == what.name);
        CHECK(info.at("domain") == "cardea");
        CHECK(info.value("/metadata/agent"_json_pointer, "") == agent);
    } else {
        CHECK(body.at("code").get<int>() < 0);
        CHECK(body.at("message") == what.message);
        CHECK(body.at("data").at("code") == what.name);
        CHECK(body.at("data").value("agent", "") == agent);
        CHECK(body.at("data").at("retryable") == what.retryable);
    }
}

std::vector<std::string> access_lines(const running_gateway& gateway, std::size_t count)
{
    static const std::regex times{R"re(("ts":|"id":|"ttfb_ms":|"ms":)("[^"]*"|[0-9.]+))re"};
    static const std::regex trace{R"re(,"trace_id":"[0-9a-f]{32}","span_id":"[0-9a-f]{16}"\})re"};
    const auto until = std::chrono::steady_clock::now() + test_support::patience;
    for (;;) {
        std::vector<std::string> found;
        for (const auto& line : gateway.log().all()) {
            if (line.find(R"("event":"request")") != std::string::npos) {
                const auto without_times = std::regex_replace(line, times, "$1_");
                CHECK(std::regex_search(without_times, trace));
                found.push_back(std::regex_replace(without_times, trace, "}"));
            }
        }
        if (found.size() >= count || std::chrono::steady_clock::now() >= until) {
            return found;
        }
        // A round trip instead of a pause: the lines come in batches.
        gateway.metric("cardea_ready");
    }
}

std::string chunked(std::string_view data, std::size_t size)
{
    std::ostringstream out;
    while (!data.empty()) {
        const auto piece = data.substr(0, size);
        out << std::hex << piece.size() << "\r\n" << piece << "\r\n";
        data.remove_prefix(piece.size());
    }
    out << "0\r\n\r\n";
    return out.str();
}

std::string pattern_text(std::size_t size)
{
    std::string text(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
        text[i] = test_support::pattern_byte(i);
    }
    return text;
}

}  // namespace flow
