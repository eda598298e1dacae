#include "gateway/mcp/eras/modern_client_calls.hpp"

#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/server_facts.hpp"
#include "mcp/protocol/version.hpp"
#include "mcp/translation/input_questions.hpp"
#include "mcp/translation/legacy_messages.hpp"
#include "mcp/translation/list_subscription.hpp"
#include "mcp/translation/modern_messages.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace gateway::mcp::eras {
namespace {

using core::errc;
using ::mcp::routed;

::mcp::input_binding binding_of(const call_terms& terms)
{
    return {.agent = terms.agent, .provider = {}, .principal = terms.principal, .call = terms.digest};
}

call_terms terms_of(const model::program_request& asked)
{
    call_terms terms;
    terms.agent = asked.agent;
    terms.principal = asked.principal;
    terms.digest = asked.digest;
    terms.method = asked.read.method;
    terms.logs = !asked.read[routed::meta_level].empty();
    terms.declared =
        ::mcp::client_capabilities::read(asked.read.raw(routed::meta_capabilities, asked.message.view().text));
    return terms;
}

call_request request_of(const model::program_request& asked)
{
    const auto message = asked.message.view();
    return {.id = message.id, .progress_token = message.progress_token};
}

}  // namespace

std::shared_ptr<table::text_queue> list_listeners::listen(
    const std::string& agent_id,
    std::string_view raw_id,
    std::string_view wishes,
    std::shared_ptr<const ::mcp::server_lists> known
)
{
    std::erase_if(all_, [](const listener& each) { return each.reader.expired(); });
    auto reader = std::make_shared<table::text_queue>(on_);
    const auto wanted = known == nullptr ? ::mcp::list_set{} : ::mcp::lists_listened_to(wishes);
    reader->push(::mcp::acknowledged_text(raw_id, wanted), table::text_kind::answer);
    all_.push_back({agent_id, std::string{raw_id}, wanted, std::move(known), reader});
    return reader;
}

void list_listeners::changed(const std::string& agent_id, const std::shared_ptr<const ::mcp::server_lists>& lists)
{
    ::mcp::list_differences to_now{*lists};
    for (auto& each : all_) {
        if (each.agent_id != agent_id || each.known == nullptr) {
            continue;
        }
        const auto before = std::exchange(each.known, lists);
        const auto changes = to_now.from(before) & each.wanted;
        const auto reader = each.reader.lock();
        for (auto& text : ::mcp::changed_texts(each.raw_id, changes)) {
            if (reader != nullptr) {
                reader->push(std::move(text), table::text_kind::notification);
            }
        }
    }
}

void list_listeners::end(const std::string& agent_id)
{
    std::erase_if(all_, [&](const listener& each) {
        const auto reader = each.agent_id == agent_id ? each.reader.lock() : nullptr;
        if (reader != nullptr) {
            reader->finish(::mcp::listened_answer(each.raw_id));
        }
        return each.agent_id == agent_id;
    });
}

std::shared_ptr<table::text_queue> modern_client_call::open(const call_request& request)
{
    auto reader = std::make_shared<table::text_queue>(owner_.executor());
    id_ = request.id;
    token_ = request.progress_token;
    reader_ = reader;
    reader->on_left([this, alive = std::weak_ptr<bool>{alive_}](table::text_queue& /*queue*/) {
        if (!alive.expired()) {
            owner_.over(*this);
        }
    });
    session_.answer->set_wake([this] { look(); });
    look();
    return reader;
}

std::shared_ptr<table::text_queue> modern_client_call::go_on(const call_request& request, std::string_view responses)
{
    again_ = true;
    for (const auto& answer : questions_.take_answers(responses)) {
        if (auto told = owner_.tell(*this, answer); !told) {
            auto reader = std::make_shared<table::text_queue>(owner_.executor());
            reader->fail(std::move(told).error());
            owner_.over(*this);
            return reader;
        }
    }
    if (!questions_.empty()) {
        gather();
    }
    return open(request);
}

// Nothing is taken while the call is parked: that is for the next request.
void modern_client_call::look()
{
    const auto reader = reader_.lock();
    if (reader == nullptr) {
        return;
    }
    auto& from = *session_.answer;
    while (auto text = from.take()) {
        if (from.over() && !from.failure()) {
            return finish(*reader, std::move(*text));
        }
        came(*reader, std::move(*text));
    }
    from.arrived();
    if (!from.over()) {
        return;
    }
    if (const auto& failure = from.failure()) {
        reader->fail(*failure);
    } else {
        reader->close();
    }
    owner_.over(*this);
}

void modern_client_call::came(table::text_queue& reader, std::string text)
{
    const auto read = ::mcp::read_message(text, {.bytes = text.size()});
    if (!read) {
        return;
    }
    if (read->kind == ::mcp::message_kind::request) {
        return ask(*read);
    }
    if (read->method == "notifications/cancelled") {
        return questions_.withdraw(::mcp::members_of(read->params).find("requestId"));
    }
    // MCP 2026-07-28, server/utilities/logging: none without a level in the request.
    if (read->method == "notifications/message" && !terms_.logs) {
        return;
    }
    if (again_ && read->method == "notifications/progress") {
        if (token_.empty()) {
            return;
        }
        text = ::mcp::with_progress_token(std::move(text), token_);
    }
    reader.push(std::move(text), table::text_kind::notification);
}

void modern_client_call::ask(const ::mcp::message& question)
{
    const ::mcp::input_request asked{.key = {}, .method = question.method, .params = question.params};
    if (!::mcp::may_be_asked(terms_.declared, asked) || !questions_.may_ask()) {
        return refuse(::mcp::answer_to(question));
    }
    questions_.add(question);
    if (!gathering_) {
        gather();
    }
}

// A program that does not read that waits for nothing.
void modern_client_call::refuse(const std::string& answer)
{
    static_cast<void>(owner_.tell(*this, answer));
}

void modern_client_call::gather()
{
    gathering_.emplace(owner_.executor(), gathers);
    gathering_->async_wait([this, alive = std::weak_ptr<bool>{alive_}](const net::error_code& cancelled) {
        if (!cancelled && !alive.expired()) {
            gathering_.reset();
            ask_client();
        }
    });
}

void modern_client_call::ask_client()
{
    const auto reader = reader_.lock();
    if (reader == nullptr || questions_.empty()) {
        return;
    }
    const auto state = questions_.may_ask() ? owner_.park(*this) : std::nullopt;
    if (!state) {
        for (const auto& answer : questions_.refuse()) {
            refuse(answer);
        }
        return;
    }
    reader_.reset();
    reader->finish(questions_.ask(id_, *state));
}

void modern_client_call::finish(table::text_queue& reader, std::string answer)
{
    if (terms_.method == ::mcp::client_method::discover) {
        const auto facts = ::mcp::read_initialize_result(::mcp::members_of(answer).object("result"));
        if (facts) {
            answer = ::mcp::discover_answer(id_, *facts, /*tells_changes=*/false);
        } else {
            answer.clear();
            reader.fail(facts.error());
        }
    } else if (again_) {
        answer = ::mcp::with_id(std::move(answer), id_);
    }
    if (!answer.empty()) {
        reader.finish(std::move(answer));
    }
    owner_.over(*this);
}

modern_client_calls::modern_client_calls(
    const table::local_session_services& services,
    programs::program_sessions& sessions
)
    : services_{services},
      sessions_{sessions},
      listeners_{services.loop.get_executor()}
{
}

core::result<std::shared_ptr<table::text_queue>> modern_client_calls::request(
    const std::shared_ptr<const model::agent_entry>& agent,
    const model::program_request& asked
)
{
    auto here = answer_here(*agent, asked);
    if (!here) {
        return here;
    }
    if (*here != nullptr) {
        sessions_.expect_sessions(agent);
        return here;
    }
    return begin(agent, asked);
}

core::result<std::shared_ptr<table::text_queue>>
modern_client_calls::answer_here(const model::agent_entry& agent, const model::program_request& asked)
{
    if (agent.record.mcp->sessionless == core::mcp_sessionless::refuse) {
        return core::caller_error(errc::session_required, "a message without a session");
    }
    const auto& read = asked.read;
    if (!read[routed::request_state].empty() || !read[routed::input_responses].empty()) {
        return go_on(asked);
    }
    const auto message = asked.message.view();
    if (read.method == ::mcp::client_method::discover &&
        agent.record.mcp->sessionless == core::mcp_sessionless::fall_back) {
        // The server would answer so, and a client of both eras begins a session, in which it gets all that the server has.
        constexpr auto unknown =
            "The server speaks MCP up to 2025-11-25, which has no server/discover. Begin with initialize.";
        return table::answered(executor(), ::mcp::error_answer(message.id, ::mcp::method_not_found, unknown));
    }
    const auto list = ::mcp::list_of(read.method);
    const bool listens = read.method == ::mcp::client_method::listen;
    const bool known_here = list || listens || read.method == ::mcp::client_method::discover;
    const auto lists = known_here && services_.lists ? services_.lists(asked.agent) : nullptr;
    if (listens) {
        return listeners_.listen(asked.agent, message.id, read.raw(routed::listen_to, message.text), lists);
    }
    const auto cursor = list ? read.raw(routed::cursor, message.text) : std::string_view{};
    // Its first page has come from a session of its own, before the gateway's knew the list.
    const bool of_server = !cursor.empty() && !::mcp::is_own_cursor(cursor);
    if (lists == nullptr || of_server) {
        return std::shared_ptr<table::text_queue>{};
    }
    if (!list) {
        return table::answered(executor(), ::mcp::discover_answer(message.id, lists->server, /*tells_changes=*/true));
    }
    auto page = ::mcp::list_answer(message.id, *list, *lists, cursor);
    if (!page) {
        return page.error();
    }
    return table::answered(executor(), std::move(*page));
}

void modern_client_calls::lists_changed(
    const std::string& agent_id,
    const std::shared_ptr<const ::mcp::server_lists>& lists
)
{
    listeners_.changed(agent_id, lists);
}

core::result<std::shared_ptr<table::text_queue>>
modern_client_calls::begin(const std::shared_ptr<const model::agent_entry>& agent, const model::program_request& asked)
{
    const auto& read = asked.read;
    const auto text = asked.message.view().text;
    const ::mcp::legacy_request request{read, text};
    programs::single_call single{.request = request.view(), .version = ::mcp::latest(::mcp::era::legacy)};
    // Capabilities that a call cannot be asked for are not declared.
    if (!asked.digest.empty()) {
        single.capabilities = read.raw(routed::meta_capabilities, text);
    }
    single.client = read.raw(routed::meta_client_info, text);
    single.level = read.raw(routed::meta_level, text);
    auto begun = read.method == ::mcp::client_method::discover
                     ? sessions_.begin(agent, asked.principal, programs::initialize_of(single).view())
                     : sessions_.call(agent, asked.principal, single);
    if (!begun) {
        return begun.error();
    }
    auto added = std::make_unique<modern_client_call>(*this, std::move(*begun), terms_of(asked));
    auto& call = *added;
    calls_.emplace(&call, std::move(added));
    return call.open(request_of(asked));
}

core::result<std::shared_ptr<table::text_queue>> modern_client_calls::go_on(const model::program_request& asked)
{
    const auto text = asked.message.view().text;
    std::string room;
    const auto state = asked.read.text(routed::request_state, text, room).value_or("");
    const auto terms = terms_of(asked);
    const auto handle = services_.seals->open_input(state, binding_of(terms), std::chrono::system_clock::now());
    const auto found = handle ? parked_.find(*handle) : parked_.end();
    if (found == parked_.end()) {
        services_.log.write(core::log_level::info, "mcp_input_expired", {{"agent", asked.agent}});
        return core::caller_error(errc::input_expired, "no call waits for this input");
    }
    auto& call = *found->second.call;
    parked_.erase(found);
    return call.go_on(request_of(asked), asked.read.raw(routed::input_responses, text));
}

core::result<> modern_client_calls::tell(const modern_client_call& call, const std::string& answer)
{
    ::mcp::client_message message;
    message.text = answer;
    message.id = ::mcp::members_of(answer).find("id");
    const auto& terms = call.terms();
    auto told = sessions_.tell({call.handle(), terms.agent, terms.principal}, message);
    // A session that is over fails the call itself.
    return told || told.error().code == errc::session_not_found ? core::result<>{} : told;
}

std::optional<std::string> modern_client_calls::park(modern_client_call& call)
{
    const auto& terms = call.terms();
    const auto of_agent = std::ranges::count_if(parked_, [&](const auto& each) {
        return each.second.call->terms().agent == terms.agent;
    });
    if (parked_.size() >= most_parked || std::cmp_greater_equal(of_agent, most_parked_of_agent)) {
        return std::nullopt;
    }
    const auto whose = core::mark_of_principal({}, terms.principal);
    auto& all = core::all_shares();
    auto own_of_agent =
        all.take(core::place_shares::of_object(this, terms.agent), whose, core::half_of(most_parked_of_agent));
    auto own = all.take(core::place_shares::of_object(this), whose, core::half_of(most_parked));
    if (!own_of_agent || !own) {
        return std::nullopt;
    }
    const auto handle = services_.seals->new_handle(0);
    parked_.emplace(handle, parked_call{&call, services_.clock(), std::move(*own_of_agent), std::move(*own)});
    return services_.seals->seal_input(handle, binding_of(terms), std::chrono::system_clock::now());
}

void modern_client_calls::over(modern_client_call& call)
{
    std::erase_if(parked_, [&](const auto& each) { return each.second.call == &call; });
    const auto gone = calls_.extract(&call);
    if (call.terms().method == ::mcp::client_method::discover) {
        // The session may be over already.
        static_cast<void>(sessions_.end({call.handle(), call.terms().agent, call.terms().principal}));
    }
}

void modern_client_calls::sweep(core::steady_time now)
{
    for (auto each = parked_.begin(); each != parked_.end();) {
        const auto late = each->second.since + ::mcp::input_life <= now ? each->second.call : nullptr;
        ++each;
        if (late != nullptr) {
            services_.log.write(core::log_level::info, "mcp_input_expired", {{"agent", late->terms().agent}});
            over(*late);
        }
    }
}

}  // namespace gateway::mcp::eras
