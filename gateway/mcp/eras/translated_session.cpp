#include "gateway/mcp/eras/translated_session.hpp"

#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/translation/legacy_answer.hpp"
#include "mcp/translation/list_subscription.hpp"

#include <utility>

namespace gateway::mcp::eras {
namespace {

using core::errc;

// Those of the modern era, and those of the legacy one that need a session.
bool is_unknown(std::string_view method) noexcept
{
    return method == "initialize" || method == "server/discover" || method.starts_with("subscriptions/") ||
           method == "resources/subscribe" || method == "resources/unsubscribe";
}

// From [0, 1), the same for one session always.
double place_by_chance(std::string_view handle) noexcept
{
    return handle.empty() ? 0 : static_cast<unsigned char>(handle.front()) / 256.0;
}

}  // namespace

translated_session::translated_session(
    table::session_table& in,
    table::session_name name,
    translated_server server,
    ::mcp::client_terms terms,
    bool once
)
    : table::caller_session{in, std::move(name)},
      server_{std::move(server)},
      terms_{std::move(terms)},
      once_{once},
      unasked_{executor()},
      calls_{
          {.clock = [this] { return now(); },
           .ask = server_.ask,
           .once = once_,
           .max_message = static_cast<std::size_t>(agent().record.mcp->max_message),
           .kept = server_.kept.get(),
           .idle = [this] { end_if_done(); }},
          terms_
      },
      subscriptions_{
          {.clock = [this] { return now(); },
           .ask = server_.ask,
           .say = [this](std::string text) { unasked_.push(std::move(text), table::text_kind::notification, now()); },
           .patience = agent().record.mcp->request_timeout,
           .late = place_by_chance(this->name().handle),
           .kept = server_.kept.get()},
          terms_
      }
{
}

void translated_session::open(const ::mcp::client_message& initialize, std::shared_ptr<table::text_queue> reader)
{
    opening_id_ = initialize.id;
    version_ = ::mcp::agreed_version(::mcp::members_of(initialize.params).text("protocolVersion"));
    opening_reader_ = reader;
    const auto known = server_.listed();
    lists_ = known;
    if (known != nullptr && known->server.speaks == ::mcp::era::modern) {
        return opened(known->server);
    }
    discover(initialize);
}

void translated_session::discover(const ::mcp::client_message& initialize)
{
    const auto asked = ::mcp::own_request(initialize.id, "server/discover", "{}");
    const auto made = ::mcp::to_modern(asked.view(), terms_);
    auto message = made.view();
    message.head = initialize.head;
    auto sent = server_.ask(message);
    if (!sent) {
        return end(model::session_end::refused, sent.error());
    }
    opening_ = std::move(*sent);
    opening_->set_wake([this, alive = std::weak_ptr<bool>{alive_}] {
        if (!alive.expired()) {
            look_at_opening();
        }
    });
}

void translated_session::look_at_opening()
{
    std::string said;
    while (auto text = opening_->take()) {
        said = std::move(*text);
    }
    if (!opening_->over()) {
        return;
    }
    const auto from = std::exchange(opening_, nullptr);
    if (const auto& why = from->failure(); why) {
        return end(model::session_end::refused, *why);
    }
    if (said.size() > ::mcp::longest_handshake) {
        const auto* const over = "the answer to server/discover is over 256 KiB";
        return end(model::session_end::refused, core::upstream_error(core::errc::message_too_large, over));
    }
    const auto result = ::mcp::members_of(said).object("result");
    const auto facts = ::mcp::read_discover_result(result);
    if (facts) {
        return opened(*facts);
    }
    if (const auto reader = std::exchange(opening_reader_, {}).lock(); reader != nullptr && result.empty()) {
        reader->finish(std::move(said));
    } else if (reader != nullptr) {
        reader->fail(facts.error());
    }
    end(model::session_end::refused, facts.error());
}

void translated_session::opened(const ::mcp::server_facts& facts)
{
    if (const auto reader = std::exchange(opening_reader_, {}).lock()) {
        reader->finish(::mcp::initialize_answer(opening_id_, version_, facts, agent().record.id));
    }
}

core::result<std::shared_ptr<table::text_queue>> translated_session::request(const ::mcp::client_message& request)
{
    auto reader = std::make_shared<table::text_queue>(executor());
    if (auto asked = ask(request, reader); !asked) {
        return std::move(asked).error();
    }
    return reader;
}

core::result<>
translated_session::ask(const ::mcp::client_message& request, const std::shared_ptr<table::text_queue>& reader)
{
    if (request.method == "ping") {
        reader->finish(::mcp::empty_answer(request.id));
    } else if (request.method == "logging/setLevel") {
        reader->finish(set_level(request));
    } else if (request.method == "resources/subscribe" && !once_) {
        subscriptions_.subscribe(request, reader);
    } else if (request.method == "resources/unsubscribe" && !once_) {
        subscriptions_.unsubscribe(request, *reader);
    } else if (is_unknown(request.method)) {
        reader->finish(::mcp::error_answer(request.id, ::mcp::method_not_found, "Method not found"));
    } else {
        return calls_.begin(request, reader);
    }
    return {};
}

std::string translated_session::set_level(const ::mcp::client_message& request)
{
    auto level = ::mcp::members_of(request.params).text("level");
    if (!::mcp::is_log_level(level)) {
        return ::mcp::error_answer(request.id, ::mcp::invalid_params, "Unknown log level");
    }
    terms_.level = std::move(level);
    return ::mcp::empty_answer(request.id);
}

core::result<> translated_session::tell(const ::mcp::client_message& message)
{
    if (message.method.empty()) {
        calls_.take_answer(message);
    } else if (message.method == "notifications/cancelled") {
        calls_.cancel(message);
    }
    return {};
}

void translated_session::close(const core::error& error)
{
    opening_ = nullptr;
    if (const auto reader = std::exchange(opening_reader_, {}).lock()) {
        reader->fail(error);
    }
    calls_.fail(error);
    subscriptions_.stop(error);
    unasked_.close();
}

// What the gateway's own session with the server hears of, whether or not the server tells clients of changes.
void translated_session::lists_changed(
    const std::shared_ptr<const ::mcp::server_lists>& now,
    ::mcp::list_differences& to_now
)
{
    const auto before = std::exchange(lists_, now);
    if (before == nullptr || before == now || once_) {
        return;
    }
    for (auto& each : ::mcp::changed_texts({}, to_now.from(before))) {
        unasked_.push(std::move(each), table::text_kind::notification, this->now());
    }
}

void translated_session::end_if_done()
{
    if (once_ && !busy()) {
        end(model::session_end::done, core::caller_error(errc::session_not_found));
    }
}

void translated_session::sweep(core::steady_time now)
{
    const auto& server = *agent().record.mcp;
    if (opening_ != nullptr && now - began() >= server.initialize_timeout) {
        return end(
            model::session_end::refused,
            core::upstream_error(errc::upstream_timeout, "server/discover was not answered")
        );
    }
    calls_.sweep(server.call_timeout);
    subscriptions_.sweep();
}

}  // namespace gateway::mcp::eras
