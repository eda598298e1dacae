#include "gateway/mcp/eras/translated_calls.hpp"

#include "mcp/calls/client_method.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/version.hpp"
#include "mcp/translation/legacy_answer.hpp"
#include "mcp/translation/legacy_request.hpp"
#include "mcp/translation/modern_answer.hpp"

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

translated_calls::translated_calls(const table::program_services& services, programs::program_sessions& sessions)
    : services_{services},
      sessions_{sessions},
      listeners_{services.loop.get_executor()}
{
}

core::result<std::shared_ptr<table::text_queue>>
translated_calls::request(const std::shared_ptr<const model::agent_entry>& agent, const model::program_request& asked)
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
translated_calls::answer_here(const model::agent_entry& agent, const model::program_request& asked)
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

void translated_calls::lists_changed(
    const std::string& agent_id,
    const std::shared_ptr<const ::mcp::server_lists>& lists
)
{
    listeners_.changed(agent_id, lists);
}

core::result<std::shared_ptr<table::text_queue>>
translated_calls::begin(const std::shared_ptr<const model::agent_entry>& agent, const model::program_request& asked)
{
    const auto& read = asked.read;
    const auto text = asked.message.view().text;
    const ::mcp::legacy_request request{read, text};
    programs::single_call single{.request = request.view(), .version = ::mcp::latest(::mcp::era::legacy)};
    // What a call cannot be asked for is not declared.
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
    call_owner& self = *this;
    auto added = std::make_unique<translated_call>(self, std::move(*begun), terms_of(asked));
    auto& call = *added;
    calls_.emplace(&call, std::move(added));
    return call.open(request_of(asked));
}

core::result<std::shared_ptr<table::text_queue>> translated_calls::go_on(const model::program_request& asked)
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

core::result<> translated_calls::tell(const translated_call& call, const std::string& answer)
{
    ::mcp::client_message message;
    message.text = answer;
    message.id = ::mcp::members_of(answer).find("id");
    const auto& terms = call.terms();
    auto told = sessions_.tell({call.handle(), terms.agent, terms.principal}, message);
    // A session that is over fails the call itself.
    return told || told.error().code == errc::session_not_found ? core::result<>{} : told;
}

std::optional<std::string> translated_calls::park(translated_call& call)
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

void translated_calls::over(translated_call& call)
{
    std::erase_if(parked_, [&](const auto& each) { return each.second.call == &call; });
    const auto gone = calls_.extract(&call);
    if (call.terms().method == ::mcp::client_method::discover) {
        // It may be over already.
        static_cast<void>(sessions_.end({call.handle(), call.terms().agent, call.terms().principal}));
    }
}

void translated_calls::sweep(core::steady_time now)
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
