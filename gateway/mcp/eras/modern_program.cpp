#include "gateway/mcp/eras/modern_program.hpp"

#include "gateway/model/agent_record.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/version.hpp"

#include <utility>

namespace gateway::mcp::eras {

using core::errc;

modern_program::modern_program(modern_services services, std::shared_ptr<const model::agent_entry> agent)
    : services_{std::move(services)},
      agent_{std::move(agent)}
{
}

modern_program::~modern_program()
{
    end(core::gateway_error(errc::draining));
}

void modern_program::begin()
{
    ::mcp::book_settings settings;
    settings.shared = !services_.one_client;
    settings.renames = true;
    settings.only_declared = true;  // which no client has
    settings.most_calls = most_calls;
    settings.most_of_principal = most_calls_of_principal;
    settings.most_listens = most_listens;
    settings.note = services_.note;
    settings.messages.bytes = agent_->record.mcp->max_message;
    auto started = services_.start(*agent_);
    started->set_observer(this);
    started->settle({.version = std::string{::mcp::latest(::mcp::era::modern)}, .client = {}});
    calls_ = std::make_unique<programs::program_calls>(std::move(started), ::mcp::era::modern, std::move(settings));
    answers_ = false;
}

core::result<std::shared_ptr<table::text_queue>>
modern_program::request(const ::mcp::client_message& request, core::steady_time now)
{
    now_ = now;
    last_use_ = now;
    auto own = request;
    own.client = ++callers_;
    if (calls_ == nullptr) {
        begin();
    }
    auto reader = std::make_shared<table::text_queue>(services_.on);
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
    now_ = now;
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
        services_.retire(calls->fail(why));
    }
}

// Its own messages are dropped: clients subscribe to changes.
void modern_program::said(std::string_view text)
{
    if (!std::exchange(answers_, true)) {
        calls_->ready(::mcp::latest(::mcp::era::modern));
    }
    for (const auto each : ::mcp::messages_in(text, ::mcp::latest(::mcp::era::modern))) {
        calls_->take(each, now_, /*listening=*/false);
    }
}

void modern_program::said_long(const ::mcp::read_text& what)
{
    if (!std::exchange(answers_, true)) {
        calls_->ready(::mcp::latest(::mcp::era::modern));
    }
    calls_->take(what.whole, now_, /*listening=*/false);
}

void modern_program::said_too_much(std::string_view beginning, std::size_t limit)
{
    calls_->take_too_long(beginning, limit, now_);
}

void modern_program::failed(::mcp::call_number call, core::error why)
{
    calls_->fail(call, why);
}

void modern_program::ended(core::error why)
{
    end(answers_ ? core::upstream_error(errc::upstream_reset, why.detail) : why);
}

core::result<std::shared_ptr<table::text_queue>>
modern_programs::request(const std::shared_ptr<const model::agent_entry>& agent, const ::mcp::client_message& request)
{
    if (stopped_) {
        return core::gateway_error(core::errc::draining);
    }
    auto& serving = programs_[agent->record.id];
    if (serving == nullptr) {
        modern_services services{
            services_.loop.get_executor(),
            [this](const model::agent_entry& now) {
                const ::mcp::start_place turns{&services_.turns, now.record.mcp->overlap};
                return std::make_unique<programs::program>(turns, services_.reach(now));
            },
            [this, id = agent->record.id](std::unique_ptr<programs::program> used) {
                sessions_.retire(std::move(used), id, {});
            },
            /*one_client=*/false,
            programs::note_to(services_.log, agent->record.id)
        };
        serving = std::make_unique<modern_program>(std::move(services), agent);
    }
    return serving->request(request, services_.clock());
}

void modern_programs::set_agent(const std::string& id, const std::shared_ptr<const model::agent_entry>& agent)
{
    const auto found = programs_.find(id);
    if (found == programs_.end()) {
        return;
    }
    if (agent != nullptr && model::same_callers_sessions(found->second->agent().record, agent->record)) {
        return found->second->set_agent(agent);
    }
    found->second->end(core::upstream_error(core::errc::upstream_reset, "the agent has changed"));
    programs_.erase(found);
}

void modern_programs::sweep(core::steady_time now)
{
    for (const auto& [id, each] : programs_) {
        each->sweep(now);
    }
}

void modern_programs::stop()
{
    stopped_ = true;
    programs_.clear();
}

}  // namespace gateway::mcp::eras
