#include "gateway/cli/admin_client.hpp"

#include "gateway/model/version.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

namespace gateway::cli {
namespace {

using core::json;

constexpr std::size_t largest_answer = 64 * 1024 * 1024;  // a page of a thousand agents with all of their metadata
constexpr std::chrono::seconds patience{60};              // a refresh waits for an agent
constexpr std::chrono::seconds connecting{3};
constexpr std::uint64_t page_size = 500;

std::string url_of(std::string address)
{
    if (!address.starts_with("http://") && !address.starts_with("https://")) {
        address.insert(0, "http://");
    }
    address.erase(address.find_last_not_of('/') + 1);
    return address + "/rpc";
}

// An error of JSON-RPC has its code in `data`; an error of the route itself does not.
admin_failure refusal_of(const json& error)
{
    const auto* data = core::member(error, "data");
    return {
        .reached = true,
        .message = core::text_member(error, "message"),
        .code = core::text_member(data == nullptr ? error : *data, "code"),
        .data = data == nullptr ? json{} : *data,
    };
}

}  // namespace

core::result<net::fetch_response> fetch_once(net::fetch_request request)
{
    boost::asio::io_context io{1};
    net::curl_fetcher fetcher{io, "cardea/" + std::string{model::version()}};
    core::result<net::fetch_response> outcome = core::gateway_error(core::errc::internal);
    boost::asio::co_spawn(
        io.get_executor(),
        fetcher.fetch(std::move(request)),
        [&](const std::exception_ptr& bug, core::result<net::fetch_response> done) {
            if (bug) {
                std::rethrow_exception(bug);
            }
            outcome = std::move(done);
            io.stop();
        }
    );
    io.run();
    return outcome;
}

admin_client::admin_client(std::string address, std::string ca_file, core::secret token)
    : address_{std::move(address)},
      url_{url_of(address_)},
      ca_file_{std::move(ca_file)},
      token_{std::move(token)}
{
}

admin_result admin_client::call(std::string_view method, const json& params) const
{
    net::fetch_request request;
    request.url = url_;
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}, {"Via", ""}};
    if (!token_.empty()) {
        request.headers.emplace_back("Authorization", "Bearer " + token_.reveal());
    }
    request.tls.ca_file = ca_file_;
    request.max_size = largest_answer;
    request.timeout = patience;
    request.connect_timeout = connecting;
    request.body = core::to_text({{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}});
    const auto answer = fetch_once(std::move(request));
    if (!answer) {
        constexpr std::string_view prefix = "fetch: ";
        const auto& error = answer.error();
        const auto& detail = error.detail;
        const auto why = detail.empty()               ? std::string{core::message(error.code)}
                         : detail.starts_with(prefix) ? detail.substr(prefix.size())
                                                      : detail;
        return admin_failure{
            .message = "cannot reach the gateway at " + address_ + ": " + why + "; start it, or pass --admin HOST:PORT"
        };
    }
    auto parsed = core::parse_json(answer->body, {.bytes = largest_answer, .depth = 64, .members = 1000});
    if (parsed) {
        if (const auto* result = core::member(*parsed, "result")) {
            return *result;
        }
        if (const auto* error = core::member(*parsed, "error"); error != nullptr && error->is_object()) {
            return refusal_of(*error);
        }
    }
    return admin_failure{
        .message = address_ + " is not a Cardea admin listener (it answered with status " +
                   std::to_string(answer->status) + "); pass --admin HOST:PORT"
    };
}

admin_result admin_client::call_pages(std::string_view method, json params, std::uint64_t limit, std::string_view list)
    const
{
    const std::string key_of_list{list};
    json agents = json::array();
    json summary;
    json next;
    do {
        params["limit"] = std::min<std::uint64_t>(page_size, std::max<std::uint64_t>(limit - agents.size(), 1));
        auto page = call(method, params);
        if (!page) {
            return page;
        }
        for (auto& agent : (*page)[key_of_list]) {
            if (agents.size() < limit) {
                agents.push_back(std::move(agent));
            }
        }
        if (summary.is_null()) {
            summary = page->value("summary", json{});
        }
        next = page->value("next", json{});
        params["after"] = next;
    } while (next.is_string() && agents.size() < limit);
    json found{{key_of_list, std::move(agents)}};
    for (auto& [key, value] : {std::pair{"next", &next}, {"summary", &summary}}) {
        if (!value->is_null()) {
            found[key] = std::move(*value);
        }
    }
    return found;
}

}  // namespace gateway::cli
