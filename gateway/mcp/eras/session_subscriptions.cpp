#include "gateway/mcp/eras/session_subscriptions.hpp"

#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/translation/legacy_messages.hpp"
#include "mcp/translation/list_subscription.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace gateway::mcp::eras {
namespace {

using core::errc;

// No other request of this session has its own id on the way to the server.
constexpr std::string_view own_id = "0";
constexpr std::string_view acknowledgement = "notifications/subscriptions/acknowledged";
constexpr std::string_view cancellation = "notifications/cancelled";

}  // namespace

session_subscriptions::session_subscriptions(services with, const ::mcp::client_terms& terms)
    : with_{std::move(with)},
      terms_{terms},
      kept_{with_.kept}
{
}

void session_subscriptions::subscribe(
    const ::mcp::client_message& request,
    const std::shared_ptr<table::text_queue>& reader
)
{
    auto uri = ::mcp::members_of(request.params).text("uri");
    if (uri.empty() || uri.size() > longest_uri) {
        return reader->finish(::mcp::error_answer(request.id, ::mcp::invalid_params, "A URI is expected"));
    }
    const bool known = uris_.contains(uri);
    const auto same = std::ranges::find(asking_, uri, &asking::uri);
    if (known && same == asking_.end()) {
        return reader->finish(::mcp::empty_answer(request.id));
    }
    if (asking_.size() >= most_asking) {
        return reader->fail(core::gateway_error(errc::overloaded, "too many subscriptions wait for the server"));
    }
    const bool sent = known && same->sent;
    if (!known) {
        if (auto added = add(request, uri); !added) {
            return reader->fail(added.error());
        }
    }
    asking_.push_back({std::string{request.id}, std::move(uri), reader, sent});
    if (!known) {
        change();
    }
}

core::result<> session_subscriptions::add(const ::mcp::client_message& request, const std::string& uri)
{
    auto fields = request.head == nullptr ? decltype(fields_){} : request.head->fields;
    const auto bytes = bytes_ + uri.size();
    if (uris_.size() >= most || bytes > most_bytes || !kept_.set(bytes + ::mcp::field_bytes(fields))) {
        return core::gateway_error(errc::overloaded, "the session is subscribed to too many resources");
    }
    bytes_ = bytes;
    fields_ = std::move(fields);
    uris_.insert(uri);
    return {};
}

void session_subscriptions::remove(std::string_view uri)
{
    const auto found = uris_.find(uri);
    if (found != uris_.end()) {
        bytes_ -= found->size();
        uris_.erase(found);
        kept_.set(bytes_ + ::mcp::field_bytes(fields_));
    }
}

void session_subscriptions::unsubscribe(const ::mcp::client_message& request, table::text_queue& reader)
{
    const auto uri = ::mcp::members_of(request.params).text("uri");
    reader.finish(::mcp::empty_answer(request.id));
    if (!uris_.contains(uri)) {
        return;
    }
    remove(uri);
    std::erase_if(asking_, [&uri](const asking& each) {
        const auto waiting = each.uri == uri ? each.reader.lock() : nullptr;
        if (waiting != nullptr) {
            waiting->finish(::mcp::empty_answer(each.id));
        }
        return each.uri == uri;
    });
    change();
}

// One at a time: each goes up with all URIs, and one that is replaced before it is acknowledged would never be.
void session_subscriptions::change()
{
    again_ = next_ != nullptr && !uris_.empty();
    if (!again_) {
        listen();
    }
}

// The previous one stays until this one is acknowledged, so that nothing in between is missed.
void session_subscriptions::listen()
{
    again_ = false;
    again_at_ = core::steady_time::max();
    next_ = nullptr;
    if (uris_.empty()) {
        current_ = nullptr;
        return;
    }
    const auto request = ::mcp::own_request(own_id, "subscriptions/listen", ::mcp::listen_params(uris_));
    const auto made = ::mcp::to_modern(request.view(), terms_);
    const ::mcp::message_head head{.name = {}, .fields = fields_};
    auto message = made.view();
    message.head = &head;
    auto sent = with_.ask(message);
    if (!sent) {
        return fail(sent.error());
    }
    for (auto& each : asking_) {
        each.sent = true;
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
        const auto read = ::mcp::members_of(*text);
        const auto method = read.text("method");
        if (method == acknowledgement) {
            acknowledged(*text);
            return look();
        }
        if (read.find("method").empty()) {
            return refused(*text);
        }
        if (method == cancellation) {
            return fail(core::upstream_error(errc::upstream_protocol, "the server has cancelled a subscription"));
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
    acknowledged_at_ = with_.clock();
    const auto told = ::mcp::acknowledged_resources(text);
    if (std::exchange(lost_, false)) {
        for (const auto& each : told) {
            with_.say(::mcp::resource_updated(each));
        }
    }
    for (const auto& each : take_sent()) {
        const bool is_told = std::ranges::find(told, each.uri) != told.end();
        if (!is_told) {
            remove(each.uri);
        }
        if (const auto reader = each.reader.lock()) {
            const auto* const why = "The server does not tell of changes of this resource";
            reader->finish(
                is_told ? ::mcp::empty_answer(each.id) : ::mcp::error_answer(each.id, ::mcp::invalid_params, why)
            );
        }
    }
    if (again_ || uris_.empty()) {
        listen();
    }
}

// With an answer: an error, or an end that came before anything else. The previous one goes on.
void session_subscriptions::refused(std::string_view said)
{
    next_ = nullptr;
    const auto failure = ::mcp::members_of(said).object("error");
    for (const auto& each : take_sent()) {
        remove(each.uri);
        if (const auto reader = each.reader.lock()) {
            const std::string_view error = failure.empty() ? R"({"code":-32603,"message":"Internal error"})" : failure;
            reader->finish(::mcp::answer_text(each.id, "error", error));
        }
    }
    if (again_) {
        listen();
    } else if (current_ == nullptr) {
        ended();
    }
}

// Those that next_ asks for; those that came since stay.
std::vector<session_subscriptions::asking> session_subscriptions::take_sent()
{
    std::vector<asking> sent;
    std::erase_if(asking_, [&sent](asking& each) {
        const bool of_next = each.sent;
        if (of_next) {
            sent.push_back(std::move(each));
        }
        return of_next;
    });
    return sent;
}

void session_subscriptions::look()
{
    const auto from = current_;
    if (from == nullptr) {
        return;
    }
    while (auto text = from == current_ ? from->take() : std::nullopt) {
        take(*text);
    }
    if (from == current_ && from->over()) {
        ended();
    }
}

void session_subscriptions::take(std::string_view text)
{
    const auto method = ::mcp::members_of(text).text("method");
    if (method == cancellation) {
        return ended();
    }
    if (!method.empty() && method != acknowledgement) {
        with_.say(::mcp::without_subscription(text));
    }
}

void session_subscriptions::ended()
{
    const auto now = with_.clock();
    if (std::exchange(current_, nullptr) != nullptr) {
        lost_ = true;
        if (now - acknowledged_at_ >= longest_pause) {
            pause_ = shortest_pause;
        }
    }
    if (next_ == nullptr && !uris_.empty()) {
        again_at_ = now + pause_ + std::chrono::duration_cast<core::duration>(spread * with_.late);
        pause_ = std::min(2 * pause_, longest_pause);
    }
}

// Those that have been acknowledged before are asked for again later.
void session_subscriptions::fail(const core::error& why)
{
    next_ = nullptr;
    again_ = false;
    for (const auto& each : std::exchange(asking_, {})) {
        remove(each.uri);
        if (const auto reader = each.reader.lock()) {
            reader->fail(why);
        }
    }
    if (current_ == nullptr) {
        ended();
    } else if (uris_.empty()) {
        current_ = nullptr;
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

}  // namespace gateway::mcp::eras
