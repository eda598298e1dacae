#include "gateway/cli/admin_client.hpp"

#include "config/file.hpp"
#include "gateway/model/terminal_text.hpp"
#include "gateway/model/version.hpp"
#include "net/client/exchange.hpp"
#include "net/loop/loop.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

namespace gateway::cli {
namespace {

using core::json;

constexpr std::size_t largest_answer = 64 * 1024 * 1024;  // a page of a thousand agents with all of their metadata
constexpr std::chrono::seconds connecting{3};
constexpr std::chrono::hours endless{24 * 365};  // of an agent's answer: the gateway bounds it
constexpr std::uint64_t page_size = 500;

std::string base_of(std::string address)
{
    if (!address.starts_with("http://") && !address.starts_with("https://")) {
        address.insert(0, "http://");
    }
    address.erase(address.find_last_not_of('/') + 1);
    return address;
}

// A key of `cardea key new` has a field of its own (gateway/cli/key_command.cpp).
std::pair<std::string, std::string> credential_of(const core::secret& token)
{
    const auto& text = token.reveal();
    return text.starts_with("cardea_") ? std::pair<std::string, std::string>{"X-API-Key", text}
                                       : std::pair<std::string, std::string>{"Authorization", "Bearer " + text};
}

// An error of JSON-RPC has its code in `data`; an error of the route itself does not.
admin_failure refusal_of(const json& error)
{
    const auto* data = core::member(error, "data");
    return {
        .reached = true,
        .message = core::text_member(error, "message"),
        .code = core::text_member(data == nullptr ? error : *data, "code"),
        .data = data == nullptr ? error : *data,
    };
}

std::string user_agent()
{
    return "cardea/" + std::string{model::version()};
}

// One exchange, until its end or until its reader has enough.
class reading final : public net::exchange_observer {
public:
    explicit reading(const admin_reader& reader)
        : reader_{reader},
          client_{loop_, user_agent()}
    {
    }

    core::result<> run(net::exchange_request request)
    {
        under_way_ = client_.start(std::move(request), *this);
        loop_.run();
        return how_;
    }

    bool answered() const noexcept { return answered_; }

private:
    void headed(const net::exchange_head& head) override
    {
        answered_ = true;
        if (!reader_.headed(head)) {
            end();
        }
    }

    void took(std::string_view piece) override
    {
        if (!reader_.took(piece)) {
            end();
        }
    }

    void ended(core::result<> how) override
    {
        how_ = std::move(how);
        end();
    }

    void end()
    {
        under_way_.reset();
        client_.close();
        loop_.stop();
    }

    const admin_reader& reader_;
    net::loop loop_;
    net::exchange_client client_;
    std::unique_ptr<net::exchange> under_way_;
    core::result<> how_;
    bool answered_ = false;
};

}  // namespace

core::result<net::fetch_response> fetch_once(net::fetch_request request)
{
    boost::asio::io_context io{1};
    net::curl_fetcher fetcher{io, user_agent()};
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

std::string complaints(const admin_failure& failure, const std::string& about)
{
    const auto line = [](const std::string& text) { return "cardea: " + model::printable(text) + "\n"; };
    if (!failure.reached) {
        return line(failure.message);
    }
    const auto prefix = about.empty() ? about : about + ": ";
    auto out = line(prefix + failure.message + " (" + failure.code + ")");
    const auto* problems = core::member(failure.data, "problems");
    for (std::size_t i = 0; problems != nullptr && problems->is_array() && i < problems->size(); ++i) {
        const auto& each = (*problems)[i];
        out += line(
            prefix + (each.is_string() ? each.get<std::string>()
                                       : core::text_member(each, "path") + ": " + core::text_member(each, "what"))
        );
    }
    if (const auto* version = core::member(failure.data, "version")) {
        out += line(prefix + "its version is " + core::to_text(*version));
    }
    return out;
}

exit_code code_of(const admin_failure& failure) noexcept
{
    return failure.reached ? exit_code::refused : exit_code::unreached;
}

admin_client::admin_client(std::string address, std::string ca_file, core::secret token)
    : address_{std::move(address)},
      base_{base_of(address_)},
      ca_file_{std::move(ca_file)},
      token_{std::move(token)}
{
}

core::result<admin_client> admin_client::open(const admin_options& options, const environment& variable)
{
    auto address = options.admin.empty() ? variable("CARDEA_ADMIN").value_or("") : options.admin;
    if (address.empty()) {
        address = "127.0.0.1:4001";
    }
    auto token = core::result<std::string>{variable("CARDEA_ADMIN_TOKEN").value_or("")};
    if (!options.token_file.empty()) {
        token = config::read_secret_file(options.token_file);
    }
    if (!token) {
        auto why = std::move(token).error();
        why.detail = "--token-file: " + options.token_file + ": " + why.detail;
        return why;
    }
    return admin_client{std::move(address), options.ca_file, core::secret{std::move(*token)}};
}

core::result<net::fetch_response> admin_client::post(std::string_view path, std::string body, core::duration timeout)
    const
{
    net::fetch_request request;
    request.url = base_ + std::string{path};
    request.headers = {{"Content-Type", "application/json"}, {"Accept", "application/json"}, {"Via", ""}};
    if (!token_.empty()) {
        request.headers.push_back(credential_of(token_));
    }
    request.tls.ca_file = ca_file_;
    request.max_size = largest_answer;
    request.timeout = timeout;
    request.connect_timeout = std::min<core::duration>(connecting, timeout);
    request.body = std::move(body);
    return fetch_once(std::move(request));
}

admin_failure admin_client::unreached(const core::error& why, bool answered) const
{
    const auto& detail = why.detail;
    const auto colon = detail.find(": ");
    const bool prefixed = detail.starts_with("fetch: ") || detail.starts_with("exchange: ");
    const auto shown = detail.empty() ? std::string{core::message(why.code)}
                       : prefixed     ? detail.substr(colon + 2)
                                      : detail;
    return {
        .message = (answered ? "lost the connection to the gateway at " : "cannot reach the gateway at ") + address_ +
                   ": " + shown + (answered ? "" : "; start it, or pass --admin HOST:PORT")
    };
}

admin_failure admin_client::refusal(unsigned status, std::string_view body) const
{
    const auto parsed = core::parse_json(body, {.bytes = largest_answer, .depth = 64, .members = 1000});
    const auto* const error = parsed ? core::member(*parsed, "error") : nullptr;
    if (error != nullptr && error->is_object()) {
        return refusal_of(*error);
    }
    return {
        .message = address_ + " is not a Cardea admin listener (it answered with status " + std::to_string(status) +
                   "); pass --admin HOST:PORT"
    };
}

admin_result admin_client::call(std::string_view method, const json& params, core::duration timeout) const
{
    auto body = core::to_text({{"jsonrpc", "2.0"}, {"id", 1}, {"method", method}, {"params", params}});
    const auto answer = post("/rpc", std::move(body), timeout);
    if (!answer) {
        return unreached(answer.error());
    }
    auto parsed = core::parse_json(answer->body, {.bytes = largest_answer, .depth = 64, .members = 1000});
    if (const auto* result = parsed ? core::member(*parsed, "result") : nullptr) {
        return *result;
    }
    return refusal(answer->status, answer->body);
}

admin_result admin_client::reload() const
{
    constexpr std::chrono::minutes patience{5};  // programs end and start
    const auto answer = post("/reload", {}, patience);
    if (!answer) {
        return unreached(answer.error());
    }
    auto parsed = core::parse_json(answer->body, {.bytes = largest_answer, .depth = 64, .members = 1000});
    if (answer->status == 200 && parsed && core::member(*parsed, "agents") != nullptr) {
        return std::move(*parsed);
    }
    return refusal(answer->status, answer->body);
}

net::exchange_request admin_client::exchange_of(const admin_request& request) const
{
    net::exchange_request out;
    out.url = base_ + request.path;
    out.method = request.method;
    out.headers = request.headers;
    out.headers.emplace_back("Via", "");
    if (!token_.empty()) {
        out.headers.push_back(credential_of(token_));
    }
    if (!request.body.empty()) {
        out.body = std::make_shared<const std::string>(request.body);
    }
    out.tls.ca_file = ca_file_;
    out.connect_timeout = connecting;
    out.head_timeout = endless;
    out.idle_timeout = endless;
    out.stream_timeout = request.silence;
    out.max_size = largest_answer;
    out.repeatable = request.method == "GET";
    return out;
}

std::optional<admin_failure> admin_client::stream(const admin_request& request, const admin_reader& reader) const
{
    reading run{reader};
    const auto how = run.run(exchange_of(request));
    if (how) {
        return std::nullopt;
    }
    return unreached(how.error(), run.answered());
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
