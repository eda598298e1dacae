#include "gateway/mcp/eras/legacy_probe.hpp"

#include "gateway/model/version.hpp"
#include "mcp/protocol/version.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp::eras {

legacy_probe::legacy_probe(const table::program_services& services)
    : services_{services},
      exchanges_{services.loop, "cardea/" + std::string{model::version()}},
      name_{"cardea", std::string{model::version()}},
      notes_{services.loop, exchanges_, name_}
{
}

net::task<bool> legacy_probe::refuses(std::shared_ptr<const model::agent_entry> agent)
{
    const auto known = verdicts_.find(agent->record.id);
    if (known != verdicts_.end() && services_.clock() < known->second.until) {
        co_return known->second.refuses;
    }
    if (stopped_ || !services_.over_http) {
        co_return true;
    }
    const auto at = begin(agent);
    if (!at->refuses) {
        net::task_signal told;
        auto waits = told.wait();
        at->waiting.push_back(&told);
        co_await std::move(waits);
    }
    co_return at->refuses.value_or(true);
}

std::shared_ptr<legacy_probe::attempt> legacy_probe::begin(const std::shared_ptr<const model::agent_entry>& agent)
{
    for (const auto& each : attempts_) {
        if (each->agent->record.id == agent->record.id) {
            return each;
        }
    }
    const auto added = std::make_shared<attempt>();
    added->agent = agent;
    added->settings = std::make_shared<const ::mcp::http_settings>(services_.over_http(*agent));
    http::session_recovery::terms terms{
        .version = ::mcp::latest(::mcp::era::legacy),
        .agreed = false,
        .declared = {},
        .client = name_,
        .requests = {}
    };
    added->opening = std::make_unique<http::session_recovery>(
        services_.loop,
        exchanges_,
        added->settings,
        std::move(terms),
        [this, of = std::weak_ptr{added}](const core::result<::mcp::upstream_session>& session) {
            if (const auto at = of.lock()) {
                ended(at, session);
            }
        }
    );
    attempts_.push_back(added);
    try {
        added->opening->begin();
    } catch (...) {
        attempts_.remove(added);  // without memory it has not begun
        throw;
    }
    return added;
}

void legacy_probe::ended(const std::shared_ptr<attempt>& at, const core::result<::mcp::upstream_session>& session)
{
    if (session || at->opening->era_refused()) {
        verdicts_[at->agent->record.id] = {.refuses = !session, .until = services_.clock() + verdict_life};
    }
    if (session && !session->id.empty()) {
        model::session_call opened;
        opened.agent = at->agent;
        opened.upstream = *session;
        opened.version = at->opening->spoken();
        notes_.end(at->settings, opened);
    }
    tell(at, !session);
}

void legacy_probe::tell(std::shared_ptr<attempt> at, bool refuses)
{
    attempts_.remove(at);
    at->refuses = refuses;
    at->opening.reset();
    for (auto* const each : std::exchange(at->waiting, {})) {
        each->set();
    }
}

void legacy_probe::forget(const std::string& agent_id)
{
    verdicts_.erase(agent_id);
    const auto asking =
        std::ranges::find_if(attempts_, [&](const auto& each) { return each->agent->record.id == agent_id; });
    if (asking != attempts_.end()) {
        tell(*asking, true);
    }
}

void legacy_probe::stop()
{
    stopped_ = true;
    notes_.stop();
    exchanges_.close();
    while (!attempts_.empty()) {
        tell(attempts_.front(), true);
    }
}

}  // namespace gateway::mcp::eras
