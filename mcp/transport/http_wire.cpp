#include "mcp/transport/http_wire.hpp"

#include "core/ascii.hpp"
#include "core/base64.hpp"
#include "core/url.hpp"
#include "mcp/calls/client_method.hpp"
#include "mcp/protocol/raw_json.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <limits>
#include <utility>

namespace mcp {
namespace {

constexpr std::size_t longest_session_id = 1024;
constexpr std::size_t longest_quote = 200;  // of what a server says
constexpr std::string_view coded_prefix = "=?base64?";
constexpr std::string_view coded_suffix = "?=";

bool visible(char c) noexcept
{
    return c > ' ' && c < 0x7f;
}

// Those of the protocol are the transport's own.
bool is_ours(std::string_view name) noexcept
{
    constexpr std::array<std::string_view, 9> ours{
        "accept",
        "content-type",
        "content-length",
        "transfer-encoding",
        "last-event-id",
        "mcp-session-id",
        "mcp-protocol-version",
        "mcp-method",
        "mcp-name",
    };
    return std::ranges::any_of(ours, [&](std::string_view each) { return core::equal_ignoring_case(each, name); });
}

// Begins a session or asks for the era, in either case without one.
bool begins(const outgoing* message) noexcept
{
    return message != nullptr && (message->method == "initialize" || message->method == "server/discover");
}

bool asks_for_credentials(unsigned status) noexcept
{
    return status == 401 || status == 403;
}

// Without user, query and fragment, which may be credentials.
std::string address_of(std::string_view location)
{
    location = location.substr(0, location.find_first_of("?#"));
    const auto host = location.find("//");
    const auto end = host == location.npos ? host : location.find('/', host + 2);
    const auto user = location.substr(0, end).rfind('@');
    if (host == location.npos || user == location.npos || user < host) {
        return std::string{location};
    }
    return std::string{location.substr(0, host + 2)}.append(location.substr(user + 1));
}

// On one line.
std::string quoted(std::string_view text, const core::redaction& secrets)
{
    std::string out;
    for (const char c : secrets.apply(text, longest_quote)) {
        const bool blank = c == ' ' || c == '\t' || c == '\r' || c == '\n';
        if (!blank) {
            out += c;
        } else if (!out.empty() && !out.ends_with(' ')) {
            out += ' ';
        }
    }
    return out;
}

// Waits for a token before it sends the request. A server that answers 401 has not done what it was asked for (RFC 9110 section
// 15.5.2): with another token it is asked once more. Without a token the exchange ends with what the supply failed with; if there
// is no other token after a 401, that is the answer, without its body.
class authorized_exchange final : public net::exchange, private net::exchange_observer {
public:
    // References outlive it.
    authorized_exchange(http_wire& wire, net::exchange_request request, net::exchange_observer& observer);
    ~authorized_exchange() override = default;
    authorized_exchange(const authorized_exchange&) = delete;
    authorized_exchange& operator=(const authorized_exchange&) = delete;

private:
    void headed(const net::exchange_head& head) override;
    void took(std::string_view piece) override { observer_.took(piece); }
    void ended(core::result<> how) override { observer_.ended(std::move(how)); }

    void ask(core::secret refused);
    void send(core::secret token);
    void go_without(core::error why);

    http_wire& wire_;
    net::exchange_request request_;  // without the token; empty once it is answered
    net::exchange_observer& observer_;
    core::secret sent_;
    std::optional<net::exchange_head> refusal_;  // the first 401
    std::shared_ptr<bool> alive_ = std::make_shared<bool>();
    std::unique_ptr<net::exchange> under_way_;
};

authorized_exchange::authorized_exchange(
    http_wire& wire,
    net::exchange_request request,
    net::exchange_observer& observer
)
    : wire_{wire},
      request_{std::move(request)},
      observer_{observer}
{
    ask({});
}

// Also a token that is at hand comes after this call, as exchange_client tells nothing from within start().
void authorized_exchange::ask(core::secret refused)
{
    auto asked = wire_.settings.tokens(std::move(refused));
    net::asio::co_spawn(
        wire_.on.get_executor(),
        std::move(asked),
        [this, alive = std::weak_ptr{alive_}](const std::exception_ptr& bug, core::result<core::secret> token) {
            if (alive.expired()) {
                return;
            }
            if (bug) {
                return go_without(core::gateway_error(core::errc::internal, "the token could not be asked for"));
            }
            token ? send(std::move(*token)) : go_without(std::move(token).error());
        }
    );
}

void authorized_exchange::send(core::secret token)
{
    wire_.token = token;
    sent_ = std::move(token);
    auto request = refusal_ ? std::move(request_) : request_;
    wire_.show_token(request);
    net::exchange_observer& self = *this;
    under_way_ = wire_.client.start(std::move(request), self);
}

void authorized_exchange::headed(const net::exchange_head& head)
{
    if (head.status == 401 && !refusal_) {
        refusal_ = head;
        under_way_.reset();
        return ask(sent_);
    }
    request_ = {};
    observer_.headed(head);
}

void authorized_exchange::go_without(core::error why)
{
    if (!refusal_) {
        return observer_.ended(std::move(why));
    }
    const std::weak_ptr<bool> alive{alive_};
    const auto head = std::move(*refusal_);
    observer_.headed(head);
    if (!alive.expired()) {
        observer_.ended({});
    }
}

}  // namespace

std::string redirect_target(const std::string& url, const net::exchange_head& head)
{
    const auto location = head.field("location");
    if ((head.status != 307 && head.status != 308) || location.empty()) {
        return {};
    }
    auto target = core::resolved(url, location);
    const auto origin = core::origin_of(target);
    return origin.empty() || origin != core::origin_of(url) ? std::string{} : target;
}

bool http_course::follow(const net::exchange_head& head)
{
    auto target = redirects < most_redirects ? redirect_target(at, head) : std::string{};
    if (target.empty()) {
        return false;
    }
    ++redirects;
    at = std::move(target);
    return true;
}

std::string refusal_text(const net::exchange_head& head, std::string_view method, const http_settings& settings)
{
    auto text = "status " + std::to_string(head.status);
    text.append(" to ").append(method.empty() ? "an answer" : method);
    if (const auto challenge = head.field("www-authenticate");
        asks_for_credentials(head.status) && !challenge.empty()) {
        text += "; WWW-Authenticate: " + quoted(challenge, *settings.secrets);
    }
    if (const auto location = head.field("location"); head.status >= 300 && head.status < 400 && !location.empty()) {
        const bool kept = head.status == 307 || head.status == 308;
        text += "; Location: " + quoted(address_of(location), *settings.secrets);
        text += kept ? " (followed only within the origin, and three times)" : " (only 307 and 308 are followed)";
    }
    return text;
}

std::string refusal_body(unsigned status, std::string_view body, const http_settings& settings)
{
    const auto text = asks_for_credentials(status) ? quoted(body, *settings.secrets) : std::string{};
    return text.empty() ? text : "; " + text;
}

std::string unexpected_body(std::string_view type, std::string_view body, const http_settings& settings)
{
    const auto beginning = quoted(body, *settings.secrets);
    const auto named = quoted(type, *settings.secrets);
    return "; it sent " + (beginning.empty() ? "nothing" : (named.empty() ? "no type" : named) + ": " + beginning);
}

core::errc refusal_code(unsigned status) noexcept
{
    return asks_for_credentials(status) ? core::errc::session_misconfigured : core::errc::upstream_status;
}

std::string as_header_value(std::string_view text)
{
    const bool plain = !text.empty() && text.front() != ' ' && text.back() != ' ' &&
                       std::ranges::all_of(text, [](char c) { return visible(c) || c == ' '; });
    if (plain && !(text.starts_with(coded_prefix) && text.ends_with(coded_suffix))) {
        return std::string{text};
    }
    return std::string{coded_prefix} + core::base64(text) + std::string{coded_suffix};
}

bool is_session_id(std::string_view text) noexcept
{
    return !text.empty() && text.size() <= longest_session_id && std::ranges::all_of(text, visible);
}

core::duration patience_for(const outgoing& message, const core::mcp_server& server) noexcept
{
    // `server/discover` as a ping has a shorter time of its own.
    if (message.method == "initialize" || message.method == "server/discover") {
        return server.initialize_timeout;
    }
    return message.of_caller && message.id != 0 ? server.call_timeout : server.request_timeout;
}

net::exchange_request http_wire::request(std::string_view http_method, const outgoing* message) const
{
    net::exchange_request out;
    out.url = url();
    out.query = settings.query.reveal();
    out.method = http_method;
    out.tls = settings.tls;
    out.addresses = settings.addresses;
    out.proxy = settings.proxy;
    out.dial = settings.dial;
    out.http2 = settings.http2;
    out.max_size = settings.server.max_message;
    out.repeatable = false;
    for (const auto& [name, value] : settings.headers) {
        if (!is_ours(name)) {
            out.headers.emplace_back(name, value.reveal());
        }
    }
    const auto spoken = speaks ? std::string_view{speaks->version} : std::string_view{};
    const bool asks_for_era = message != nullptr && message->method == "server/discover";
    const bool in_modern = modern() || asks_for_era;
    if (in_modern) {
        out.headers.emplace_back("MCP-Protocol-Version", modern() ? spoken : latest(era::modern));
    } else if (speaks && !begins(message)) {
        out.headers.emplace_back("MCP-Protocol-Version", spoken);
    }
    if (in_modern && message != nullptr && !message->method.empty()) {
        out.headers.emplace_back("Mcp-Method", as_header_value(message->method));
        if (!message->name.empty()) {
            out.headers.emplace_back("Mcp-Name", as_header_value(message->name));
        }
        for (const auto& [name, value] : message->fields) {
            out.headers.emplace_back(name, value);
        }
    }
    if (!in_modern && !session_id.empty() && !begins(message)) {
        out.headers.emplace_back("Mcp-Session-Id", session_id);
    }
    return out;
}

net::exchange_request http_wire::post(const outgoing& message, std::shared_ptr<const std::string> text) const
{
    auto out = request("POST", &message);
    out.headers.emplace_back("Accept", "application/json, text/event-stream");
    out.headers.emplace_back("Content-Type", "application/json");
    out.body = std::move(text);
    out.repeatable = message.id != 0 && safe_to_repeat(client_method_of(message.method));
    out.head_timeout = patience_for(message, settings.server);
    out.idle_timeout = out.head_timeout;
    return out;
}

net::exchange_request http_wire::listen(std::string_view last_event_id) const
{
    auto out = request("GET", nullptr);
    out.headers.emplace_back("Accept", "text/event-stream");
    out.repeatable = true;
    if (!last_event_id.empty()) {
        out.headers.emplace_back("Last-Event-ID", last_event_id);
    }
    out.head_timeout = settings.server.request_timeout;
    out.idle_timeout = out.head_timeout;
    return out;
}

void http_wire::take_cookies(const std::string& url, const net::exchange_head& head)
{
    for (const auto& [name, value] : head.headers) {
        if (name != "set-cookie") {
            continue;
        }
        if (const auto at = core::http_url::parse(url)) {
            cookies.take(value, {at->host, at->path, at->secure}, std::chrono::system_clock::now());
        }
    }
}

// A request has one Cookie field (RFC 6265 section 5.4).
void http_wire::show_cookies(net::exchange_request& to) const
{
    const auto at = cookies.empty() ? std::nullopt : core::http_url::parse(to.url);
    const auto line = at ? cookies.line(at->path, std::chrono::system_clock::now()) : std::string{};
    if (line.empty()) {
        return;
    }
    const auto is = [](const auto& each) { return core::equal_ignoring_case(each.first, "cookie"); };
    if (const auto own = std::ranges::find_if(to.headers, is); own != to.headers.end()) {
        own->second.append("; ").append(line);
    } else {
        to.headers.emplace_back("Cookie", line);
    }
}

std::unique_ptr<net::exchange> http_wire::start(net::exchange_request request, net::exchange_observer& observer)
{
    show_cookies(request);
    if (!settings.tokens) {
        return client.start(std::move(request), observer);
    }
    return std::make_unique<authorized_exchange>(*this, std::move(request), observer);
}

void http_wire::show_token(net::exchange_request& to) const
{
    if (!token.empty()) {
        to.headers.emplace_back("Authorization", "Bearer " + token.reveal());
    }
}

}  // namespace mcp
