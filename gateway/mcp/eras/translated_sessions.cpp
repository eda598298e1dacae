#include "gateway/mcp/eras/translated_sessions.hpp"

#include "gateway/mcp/programs/program_session.hpp"
#include "gateway/model/version.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/translation/legacy_messages.hpp"

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

using core::errc;

::mcp::client_terms terms_of(const ::mcp::client_message& initialize)
{
    const auto params = ::mcp::members_of(initialize.params);
    ::mcp::client_terms terms;
    if (const auto declared = params.object("capabilities"); !declared.empty()) {
        terms.capabilities = ::mcp::compact(declared);
    }
    terms.info = ::mcp::short_client_info(params.object("clientInfo"));
    return terms;
}

// The terms of a call whose client has stated none.
::mcp::client_terms own_terms()
{
    ::mcp::client_terms terms;
    terms.info = "{";
    ::mcp::append_text_member(terms.info, "name", "cardea");
    ::mcp::append_text_member(terms.info, "version", model::version());
    ::mcp::close(terms.info, '}');
    return terms;
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
    opening_held_ = initialize.head == nullptr ? nullptr : initialize.head->held;
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
    opening_held_ = nullptr;
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

// The gateway's own session hears of changes, whether or not the server reports them to clients.
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

core::result<> translated_sessions::begin(
    table::session_name name,
    const ::mcp::client_message& initialize,
    std::shared_ptr<table::text_queue> reader
)
{
    if (initialize.text.size() > programs::program_session::most_initialize) {
        return core::caller_error(errc::body_too_large, "initialize is kept and must be short");
    }
    const auto begun = begin_one(std::move(name), terms_of(initialize), false);
    if (!begun) {
        return begun.error();
    }
    reader->translate();
    (*begun)->open(initialize, std::move(reader));
    return {};
}

core::result<> translated_sessions::call(
    std::shared_ptr<const model::agent_entry> agent,
    std::string principal,
    const ::mcp::client_message& request,
    const std::shared_ptr<table::text_queue>& reader
)
{
    const auto begun =
        begin_one({std::move(agent), table::new_session_handle(), std::move(principal)}, own_terms(), true);
    if (!begun) {
        return begun.error();
    }
    reader->translate();
    auto asked = (*begun)->ask(request, reader);
    (*begun)->end_if_done();
    return asked;
}

core::result<translated_session*>
translated_sessions::begin_one(table::session_name name, ::mcp::client_terms terms, bool once)
{
    const auto& agent = name.agent;
    auto room = make_room(agent, name.principal, agent->record.mcp->max_sessions.value_or(usual_sessions));
    if (!room) {
        return room.error();
    }
    auto& kept = kept_[agent->record.id];
    if (kept == nullptr) {
        kept = std::make_shared<net::shared_budget>(most_kept);
    }
    auto ask = [upstream = ask_(agent), principal = name.principal](const ::mcp::client_message& request) {
        auto own = request;
        own.principal = principal;
        return upstream(own);
    };
    translated_server server{
        .ask = std::move(ask),
        .listed = [this, id = agent->record.id] { return services().listed ? services().listed(id) : nullptr; },
        .kept = kept
    };
    auto begun =
        std::make_unique<translated_session>(*this, std::move(name), std::move(server), std::move(terms), once);
    return &add(std::move(begun), std::move(*room));
}

void translated_sessions::lists_changed(const std::string& id, const std::shared_ptr<const ::mcp::server_lists>& now)
{
    news_[id] = std::make_unique<news>(news{.now = now, .to_now = ::mcp::list_differences{*now}});
    tell_some(id);
}

void translated_sessions::tell_some(const std::string& agent_id)
{
    const auto found = news_.find(agent_id);
    if (found == news_.end()) {
        return;
    }
    auto& told = *found->second;
    const auto sessions = some(agent_id, told.told_to);
    for (auto* const each : sessions) {
        told.told_to = each->name().handle;
        static_cast<translated_session*>(each)->lists_changed(
            told.now,
            told.to_now
        );  // there are no others in this table
    }
    if (sessions.size() < most_swept) {
        news_.erase(found);
        return;
    }
    later([this, agent_id] { tell_some(agent_id); });
}

void translated_sessions::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    table::session_table::set_agent(id, agent);
    if (agent == nullptr) {
        kept_.erase(id);
        news_.erase(id);
    }
}

}  // namespace gateway::mcp::eras
