#include "gateway/mcp_path/session_subscriptions.hpp"

#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/legacy_answer.hpp"
#include "mcp/translation/subscription.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp_path {
namespace {

using core::errc;

// No other request of this session has its own id on the way to the server.
constexpr std::string_view own_id = "0";
constexpr std::string_view acknowledgement = "notifications/subscriptions/acknowledged";

}  // namespace

session_subscriptions::session_subscriptions(services with, const mcp::client_terms& terms)
    : with_{std::move(with)},
      terms_{terms}
{
}

void session_subscriptions::subscribe(const mcp::client_message& request, const std::shared_ptr<text_queue>& reader)
{
    auto uri = mcp::members_of(request.params).text("uri");
    if (uri.empty() || uri.size() > longest_uri) {
        return reader->finish(mcp::error_answer(request.id, mcp::invalid_params, "A URI is expected"));
    }
    if (uris_.contains(uri) && next_ == nullptr && current_ != nullptr) {
        return reader->finish(mcp::empty_answer(request.id));
    }
    if (uris_.size() >= most && !uris_.contains(uri)) {
        return reader->fail(core::gateway_error(errc::overloaded, "the session is subscribed to too many resources"));
    }
    uris_.insert(uri);
    asking_.push_back({std::string{request.id}, std::move(uri), reader});
    listen();
}

void session_subscriptions::unsubscribe(const mcp::client_message& request, text_queue& reader)
{
    const auto uri = mcp::members_of(request.params).text("uri");
    reader.finish(mcp::empty_answer(request.id));
    if (uris_.erase(uri) > 0) {
        listen();
    }
}

// The previous one stays until this one is acknowledged, so that nothing in between is missed.
void session_subscriptions::listen()
{
    again_at_ = core::steady_time::max();
    next_ = nullptr;
    if (uris_.empty()) {
        current_ = nullptr;
        return;
    }
    const auto request = mcp::own_request(own_id, "subscriptions/listen", mcp::listen_params(uris_));
    auto sent = with_.ask(mcp::to_modern(request.view(), terms_).view());
    if (!sent) {
        return fail(sent.error());
    }
    next_ = std::move(*sent);
    since_ = with_.clock();
    next_->set_wake([this, of = next_.get(), alive = std::weak_ptr<bool>{alive_}] {
        if (alive.expired()) {
            return;
        }
        if (of == next_.get()) {
            look_at_next();
        } else if (of == current_.get()) {
            look();
        }
    });
}

void session_subscriptions::look_at_next()
{
    const auto from = next_;
    while (auto text = from->take()) {
        const auto read = mcp::members_of(*text);
        if (read.text("method") == acknowledgement) {
            acknowledged(*text);
            return look();
        }
        if (read.find("method").empty()) {
            return refused(*text);
        }
        take(*text);
    }
    if (from->over()) {
        fail(from->failure().value_or(core::upstream_error(errc::upstream_protocol, "a subscription ended at once")));
    }
}

void session_subscriptions::acknowledged(std::string_view text)
{
    current_ = std::exchange(next_, nullptr);
    pause_ = shortest_pause;
    const auto told = mcp::acknowledged_resources(text);
    if (std::exchange(lost_, false)) {
        for (const auto& each : told) {
            with_.say(mcp::resource_updated(each));
        }
    }
    for (const auto& each : std::exchange(asking_, {})) {
        const bool is_told = std::ranges::find(told, each.uri) != told.end();
        if (!is_told) {
            uris_.erase(each.uri);
        }
        if (const auto reader = each.reader.lock()) {
            const auto* const why = "The server does not tell of changes of this resource";
            reader->finish(is_told ? mcp::empty_answer(each.id) : mcp::error_answer(each.id, mcp::invalid_params, why));
        }
    }
}

// With an answer: an error, or an end that came before anything else. The previous one goes on.
void session_subscriptions::refused(std::string_view said)
{
    next_ = nullptr;
    const auto failure = mcp::members_of(said).object("error");
    for (const auto& each : std::exchange(asking_, {})) {
        uris_.erase(each.uri);
        if (const auto reader = each.reader.lock()) {
            std::string text{R"({"jsonrpc":"2.0",)"};
            mcp::append_member(text, "id", each.id);
            mcp::append_member(
                text,
                "error",
                failure.empty() ? R"({"code":-32603,"message":"Internal error"})" : failure
            );
            mcp::close(text, '}');
            reader->finish(std::move(text));
        }
    }
    if (current_ == nullptr) {
        ended();
    }
}

void session_subscriptions::look()
{
    const auto from = current_;
    while (auto text = from->take()) {
        take(*text);
    }
    if (from->over()) {
        ended();
    }
}

void session_subscriptions::take(std::string_view text)
{
    const auto method = mcp::members_of(text).text("method");
    if (method == "notifications/cancelled") {
        return ended();
    }
    if (!method.empty() && method != acknowledgement) {
        with_.say(mcp::without_subscription(text));
    }
}

void session_subscriptions::ended()
{
    lost_ = lost_ || current_ != nullptr;
    current_ = nullptr;
    if (next_ == nullptr && !uris_.empty()) {
        again_at_ = with_.clock() + pause_;
        pause_ = std::min(2 * pause_, longest_pause);
    }
}

// Those that have been acknowledged before are asked for again later.
void session_subscriptions::fail(const core::error& why)
{
    next_ = nullptr;
    for (const auto& each : std::exchange(asking_, {})) {
        uris_.erase(each.uri);
        if (const auto reader = each.reader.lock()) {
            reader->fail(why);
        }
    }
    if (current_ == nullptr) {
        ended();
    }
}

void session_subscriptions::stop(const core::error& why)
{
    current_ = nullptr;
    fail(why);
    uris_.clear();
    again_at_ = core::steady_time::max();
}

void session_subscriptions::sweep()
{
    const auto now = with_.clock();
    if (next_ != nullptr && now - since_ >= with_.patience) {
        fail(core::upstream_error(errc::upstream_timeout, "a subscription was not acknowledged"));
    } else if (now >= again_at_) {
        listen();
    }
}

}  // namespace gateway::mcp_path
