#include "tests/flow/gateway_answers.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <stdexcept>
#include <thread>
#include <utility>

namespace flow {

std::string card_target(std::string_view agent)
{
    return "/agents/" + std::string(agent) + "/.well-known/agent-card.json";
}

test_support::http_response
get_card(const running_gateway& gateway, std::string_view agent, const test_support::field_list& headers)
{
    return test_support::request(gateway.port(), "GET", card_target(agent), headers);
}

std::string card_text(std::string_view name, std::string_view url)
{
    const core::json card = {
        {"protocolVersion", "0.3.0"},
        {"name", name},
        {"description", "Says what a test needs."},
        {"url", url},
        {"preferredTransport", "JSONRPC"},
        {"version", "1.0.0"},
        {"capabilities", {{"streaming", true}}},
        {"defaultInputModes", {"text/plain"}},
        {"defaultOutputModes", {"text/plain"}},
        {"skills", core::json::array()}
    };
    return core::to_text(card);
}

std::string own_extension(std::string_view agent)
{
    return R"({"uri":"urn:cardea:a2a:extension:gateway:v1","description":)"
           R"("The gateway in front of this agent: which agent it is there, and facts about each answer",)"
           R"("required":false,"params":{"agent":")" +
           std::string{agent} + R"("}})";
}

std::string both_bindings(const std::string& base)
{
    return R"([{"url":")" + base + R"(","transport":"JSONRPC"},{"url":")" + base +
           R"(/rest","transport":"HTTP+JSON"}])";
}

core::json parsed(std::string_view text)
{
    auto value = core::parse_json(text);
    if (!value) {
        throw std::runtime_error{"not JSON: " + std::string(text)};
    }
    return std::move(*value);
}

void check_refusal(
    const test_support::http_response& answer,
    unsigned status,
    std::string_view code,
    std::string_view agent
)
{
    CHECK(answer.status == status);
    CHECK(answer.header("Cardea-Error") == code);
    CHECK(answer.header("Content-Type") == "application/json");
    CHECK(answer.header("Cache-Control") == "no-store");
    CHECK(answer.count("ETag") == 0);
    const bool needs_operator = code == "session_misconfigured" || code == "card_held";
    CHECK((answer.count("Retry-After") == 1) == (status == 503 && !needs_operator));
    auto body = parsed(answer.body);
    const auto* error = core::member(body, "error");
    REQUIRE(error != nullptr);
    const auto* message = core::string_member(*error, "message");
    REQUIRE(message != nullptr);
    CHECK(message->ends_with('.'));
    core::json expected = {{"code", code}, {"message", *message}};
    if (!agent.empty()) {
        expected["agent"] = agent;
    }
    // An agent that answers, but wrongly, does so again.
    const bool unreached = code == "upstream_unresolved" || code == "upstream_refused" || code == "upstream_reset";
    expected["retryable"] = !needs_operator && (unreached || status == 503 || status == 504);
    CHECK(body == core::json{{"error", expected}});
}

test_support::http_response post_json(std::uint16_t port, std::string_view target, std::string_view body)
{
    return test_support::request(port, "POST", target, {{"Content-Type", "application/json"}}, body);
}

core::json manage(const running_gateway& gateway, std::string_view method, const core::json& params)
{
    const core::json call = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}};
    auto answer = parsed(post_json(gateway.admin_port(), "/rpc", core::to_text(call)).body);
    const auto* result = core::member(answer, "result");
    if (result == nullptr) {
        throw std::runtime_error{"no result: " + core::to_text(answer)};
    }
    return *result;
}

std::string managing(std::string_view method, std::string_view params)
{
    return R"({"jsonrpc":"2.0","id":1,"method":")" + std::string(method) + R"(","params":)" + std::string(params) + "}";
}

core::json error_of(const running_gateway& gateway, std::string_view method, std::string_view params)
{
    const auto answer = post_json(gateway.admin_port(), "/rpc", managing(method, params));
    CHECK(answer.status == 200);
    auto body = parsed(answer.body);
    const auto* error = core::member(body, "error");
    return error == nullptr ? core::json{} : *error;
}

bool becomes_true(const std::function<bool()>& question)
{
    const auto until = std::chrono::steady_clock::now() + test_support::patience;
    while (std::chrono::steady_clock::now() < until) {
        if (question()) {
            return true;
        }
        // Questions without a pause take both cores from a program that has just been started.
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    return false;
}

long max_age_of(const test_support::http_response& answer)
{
    constexpr std::string_view start = "public, max-age=";
    const auto field = answer.header("Cache-Control");
    const bool fits = field.starts_with(start) && field.size() > start.size() &&
                      field.find_first_not_of("0123456789", start.size()) == std::string::npos;
    return fits ? std::stol(field.substr(start.size())) : -1;
}

}  // namespace flow
