#include "gateway/cli/admin_client.hpp"

#include "gateway/cli/fetch_once.hpp"

#include <chrono>
#include <utility>

namespace gateway::cli {
namespace {

using core::json;

constexpr std::size_t largest_answer = 64 * 1024 * 1024;  // a page of a thousand agents with all of their metadata
constexpr std::chrono::seconds patience{60};              // a refresh waits for an agent
constexpr std::chrono::seconds connecting{3};

std::string url_of(std::string address)
{
    if (!address.starts_with("http://") && !address.starts_with("https://")) {
        address.insert(0, "http://");
    }
    while (address.ends_with('/')) {
        address.pop_back();
    }
    return address + "/rpc";
}

std::string text_of(const json& object, std::string_view key)
{
    const auto* text = core::string_member(object, key);
    return text == nullptr ? std::string{} : *text;
}

// Both forms of errors: that of JSON-RPC has its code in `data`.
declined refusal_of(const json& error)
{
    const auto* data = core::member(error, "data");
    declined out{text_of(error, "code"), text_of(error, "message"), data == nullptr ? json{} : *data};
    if (data != nullptr) {
        out.code = text_of(*data, "code");
    }
    return out;
}

rpc_outcome outcome_of(const net::fetch_response& answer)
{
    auto parsed = core::parse_json(answer.body, {.bytes = largest_answer, .depth = 64, .members = 1000});
    if (parsed) {
        if (const auto* result = core::member(*parsed, "result")) {
            return *result;
        }
        if (const auto* error = core::member(*parsed, "error"); error != nullptr && error->is_object()) {
            return refusal_of(*error);
        }
    }
    return unreached{
        "what answers there, with status " + std::to_string(answer.status) + ", is no gateway of Cardea's"
    };
}

rpc_outcome call(const std::string& url, const std::string& ca_file, std::string_view method, const json& params)
{
    net::fetch_request request;
    request.url = url;
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}};
    request.tls.ca_file = ca_file;
    request.max_size = largest_answer;
    request.timeout = patience;
    request.connect_timeout = connecting;
    request.body = core::to_text({{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}});
    const auto answer = fetch_once(std::move(request));
    if (!answer) {
        constexpr std::string_view who = "fetch: ";
        const auto& why = answer.error();
        const std::string detail = why.detail.starts_with(who) ? why.detail.substr(who.size()) : why.detail;
        return unreached{detail.empty() ? std::string{core::message(why.code)} : detail};
    }
    return outcome_of(*answer);
}

}  // namespace

rpc_caller_of admin_client(std::string address, std::string ca_file)
{
    return
        [url = url_of(std::move(address)), ca_file = std::move(ca_file)](std::string_view method, const json& params) {
            return call(url, ca_file, method, params);
        };
}

}  // namespace gateway::cli
