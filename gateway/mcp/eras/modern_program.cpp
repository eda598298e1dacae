#include "gateway/mcp/eras/modern_program.hpp"

#include "gateway/model/agent_record.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/version.hpp"

#include <iterator>
#include <utility>

namespace gateway::mcp::eras {

using core::errc;

modern_program::modern_program(
    const table::local_session_services& services,
    programs::program_sessions& sessions,
    std::shared_ptr<const model::agent_entry> agent,
    bool one_client
)
    : services_{services},
      sessions_{sessions},
      agent_{std::move(agent)},
      one_client_{one_client}
{
}

modern_program::~modern_program()
{
    end(core::gateway_error(errc::draining));
}

void modern_program::begin()
{
    ::mcp::book_settings settings;
    settings.shared = !one_client_;
    settings.renames = true;
    settings.only_declared = true;  // which no client has
    settings.most_calls = most_calls;
    settings.most_of_principal = most_calls_of_principal;
    settings.most_listens = most_listens;
    settings.note = one_client_ ? nullptr : programs::note_to(services_.log, agent_->record.id);
    settings.messages.bytes = agent_->record.mcp->max_message;
    const ::mcp::start_place turns{one_client_ ? nullptr : &services_.turns, agent_->record.mcp->overlap};
    auto started = std::make_unique<programs::program>(turns, services_.reach(*agent_));
    started->set_observer(this);
    started->settle({.version = std::string{::mcp::latest(::mcp::era::modern)}, .client = {}});
    calls_ = std::make_unique<programs::program_calls>(std::move(started), ::mcp::era::modern, std::move(settings));
    answers_ = false;
}

core::result<std::shared_ptr<table::text_queue>> modern_program::request(const ::mcp::client_message& request)
{
    const auto now = services_.clock();
    last_use_ = now;
    auto own = request;
    own.client = ++callers_;
    if (calls_ == nullptr) {
        begin();
    }
    auto reader = std::make_shared<table::text_queue>(services_.loop.get_executor());
    auto begun = calls_->begin(own, reader, now);
    if (!begun && begun.error().code == errc::upstream_reset) {
        // Not a byte of it has reached the program.
        end(begun.error());
        begin();
        begun = calls_->begin(own, reader, now);
    }
    if (!begun) {
        return begun.error();
    }
    calls_->cancel_if_left(*reader, *begun);
    return reader;
}

void modern_program::sweep(core::steady_time now)
{
    if (calls_ == nullptr) {
        return;
    }
    calls_->time_out(now, agent_->record.mcp->call_timeout);
    if (calls_->any()) {
        last_use_ = now;
    } else if (now - last_use_ >= longest_idle) {
        end(core::gateway_error(errc::session_not_found));
    }
}

void modern_program::end(const core::error& why)
{
    if (const auto calls = std::move(calls_)) {
        sessions_.retire(calls->fail(why), agent_->record.id, {});
    }
}

// Its own messages are dropped: clients subscribe to changes.
void modern_program::said(std::string_view text)
{
    if (!std::exchange(answers_, true)) {
        calls_->ready(::mcp::latest(::mcp::era::modern));
    }
    for (const auto each : ::mcp::messages_in(text, ::mcp::latest(::mcp::era::modern))) {
        calls_->take(each, services_.clock(), /*listening=*/false);
    }
}

void modern_program::said_long(const ::mcp::read_text& what)
{
    if (!std::exchange(answers_, true)) {
        calls_->ready(::mcp::latest(::mcp::era::modern));
    }
    calls_->take(what.whole, services_.clock(), /*listening=*/false);
}

void modern_program::said_too_much(std::string_view beginning, std::size_t limit)
{
    calls_->take_too_long(beginning, limit, services_.clock());
}

void modern_program::failed(::mcp::call_number call, core::error why)
{
    calls_->fail(call, why);
}

void modern_program::ended(core::error why)
{
    end(answers_ ? core::upstream_error(errc::upstream_reset, why.detail) : why);
}

::mcp::parameter_fields* listed_parameters::of(const std::string& agent_id)
{
    auto lists = services_.listed ? services_.listed(agent_id) : nullptr;
    if (lists == nullptr) {
        return nullptr;
    }
    auto& known = known_[agent_id];
    if (known.lists.lock() != lists) {
        known.lists = lists;
        known.fields = std::make_unique<::mcp::parameter_fields>(std::move(lists));
    }
    return known.fields.get();
}

core::result<> listed_parameters::check(const model::program_request& asked)
{
    if (asked.read.whole.empty() || asked.read.method != ::mcp::client_method::tools_call) {
        return {};
    }
    auto* const tools = of(asked.agent);
    if (tools == nullptr) {
        return {};
    }
    const auto text = asked.message.view().text;
    std::string room;
    const auto tool = asked.read.text(::mcp::routed::name, text, room).value_or("");
    if (!tools->agree(tool, asked.read.raw(::mcp::routed::arguments, text), asked.fields)) {
        return core::caller_error(core::errc::header_mismatch, "Mcp-Param-* is not what the arguments say");
    }
    return {};
}

core::result<std::shared_ptr<table::text_queue>>
modern_programs::request(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request)
{
    if (stopped_) {
        return core::gateway_error(errc::draining);
    }
    auto& serving = programs_[agent->record.id];
    if (serving == nullptr) {
        serving = std::make_unique<modern_program>(services_, sessions_, agent, /*one_client=*/false);
    }
    return serving->request(request);
}

modern_upstream modern_programs::connect(const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto id = agent->record.id;
    auto connection = std::make_shared<modern_program>(services_, sessions_, agent, /*one_client=*/true);
    connections_[id].push_back(connection);
    return [this, id, connection = std::move(connection)](const ::mcp::client_message& request) {
        const auto head = ::mcp::head_of(request, tools_.of(id));
        auto sent = request;
        sent.head = &head;
        return connection->request(sent);
    };
}

void modern_programs::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    tools_.forget(id);
    const auto goes_on = [&](const modern_program& each) {
        return agent != nullptr && model::same_callers_sessions(each.agent().record, agent->record);
    };
    if (const auto open = connections_.find(id); open != connections_.end()) {
        for (const auto& each : open->second) {
            const auto connection = each.lock();
            if (connection != nullptr && goes_on(*connection)) {
                connection->set_agent(agent);
            }
        }
    }
    const auto found = programs_.find(id);
    if (found != programs_.end() && goes_on(*found->second)) {
        found->second->set_agent(agent);
    } else if (found != programs_.end()) {
        found->second->end(core::upstream_error(errc::upstream_reset, "the agent has changed"));
        programs_.erase(found);
    }
}

void modern_programs::sweep(core::steady_time now)
{
    for (const auto& [id, each] : programs_) {
        each->sweep(now);
    }
    for (auto each = connections_.begin(); each != connections_.end();) {
        auto& open = each->second;
        std::erase_if(open, [](const auto& connection) { return connection.expired(); });
        for (const auto& connection : open) {
            if (const auto held = connection.lock()) {
                held->sweep(now);
            }
        }
        each = open.empty() ? connections_.erase(each) : std::next(each);
    }
}

void modern_programs::stop()
{
    stopped_ = true;
    programs_.clear();
    for (const auto& [id, open] : std::exchange(connections_, {})) {
        for (const auto& each : open) {
            if (const auto connection = each.lock()) {
                connection->end(core::gateway_error(errc::draining));
            }
        }
    }
}

}  // namespace gateway::mcp::eras
