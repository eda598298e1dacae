#include "gateway/reload/reload.hpp"

#include "config/exposure.hpp"
#include "config/values.hpp"
#include "gateway/management/gateway_methods.hpp"
#include "gateway/reload/changed_files.hpp"
#include "gateway/telemetry/metric_family.hpp"
#include "net/loop/thrown.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <utility>

namespace gateway::reload {
namespace {

constexpr std::string_view author = "configuration";
constexpr std::size_t most_problems_logged = 20;
constexpr std::size_t most_agents_logged = 1000;  // how many there are in all says the line behind them

std::string_view name(reload_trigger by) noexcept
{
    switch (by) {
        case reload_trigger::request:
            return "request";
        case reload_trigger::signal:
            return "signal";
        case reload_trigger::file:
            return "file";
    }
    return "";
}

std::string joined(const std::vector<std::string_view>& all)
{
    std::string text;
    for (const auto each : all) {
        text += (text.empty() ? "" : ",") + std::string{each};
    }
    return text;
}

}  // namespace

core::json to_json(const reload_report& report)
{
    auto changed = core::json::array();
    for (const auto& each : report.changes.changed) {
        changed.push_back({{"id", each.id}, {"keys", each.keys}});
    }
    auto warnings = core::json::array();
    for (const auto& each : report.warnings) {
        warnings.push_back(shown(each));
    }
    return {
        {"agents",
         {{"added", report.changes.added},
          {"changed", std::move(changed)},
          {"removed", report.changes.removed},
          {"unchanged", report.changes.unchanged}}},
        {"settings", report.changes.settings},
        {"warnings", std::move(warnings)},
        {"needs_restart", report.changes.needs_restart}
    };
}

void log_warnings(const std::vector<config_warning>& warnings, const core::logger& log)
{
    for (const auto& each : warnings) {
        log.write(core::log_level::warn, each.event, {{"reason", each.text}});
    }
}

reloader::reloader(
    net::loop& control,
    configuration_source from,
    management::registry& agents,
    config::settings& settings,
    const core::logger& log
)
    : loop_{control},
      from_{std::move(from)},
      registry_{agents},
      settings_{settings},
      log_{log},
      watch_{control.get_executor(), [this] { on_change(); }},
      settle_{control.get_executor()}
{
    counts_.last_success = std::chrono::system_clock::now();
    counts_.last = counts_.last_success;
}

void reloader::start(observers told)
{
    told_ = std::move(told);
    watch(directories_of(from_.files));
}

void reloader::stop()
{
    stopped_ = true;
    settle_.cancel();
    watch_.close();
}

void reloader::watch(const std::set<std::string>& directories)
{
    if (stopped_ || !settings_.reload.watch) {
        watch_.close();
        return;
    }
    const auto any_new = watch_.set(directories);
    if (!any_new) {
        log_.write(core::log_level::warn, "config_watch_failed", {{"reason", any_new.error().detail}});
    } else if (*any_new) {
        on_change();  // it may have changed after it was read and before it was watched
    }
}

// The first change of several begins the time: who writes without an end does not put it off.
void reloader::on_change()
{
    if (stopped_ || std::exchange(settling_, true)) {
        return;
    }
    settle_.expires_after(settle_time);
    settle_.async_wait([this](net::error_code cancelled) {
        settling_ = false;
        if (!cancelled && !stopped_) {
            begin(reload_trigger::file);
        }
    });
}

void reloader::begin(reload_trigger by)
{
    net::asio::co_spawn(loop_.get_executor(), reload(by), [this](const std::exception_ptr& bug, const reload_report&) {
        net::log_thrown(bug, log_, "reload");
    });
}

net::task<reload_report> reloader::reload(reload_trigger by)
{
    net::task_signal free;
    while (busy_) {
        auto waits = free.wait();
        waiting_.push_back(&free);
        co_await std::move(waits);
    }
    reload_report report;
    if (stopped_) {
        report.draining = true;
        release();
        co_return report;
    }
    busy_ = true;
    if (told_.reading) {
        told_.reading(true);
    }
    std::exception_ptr bug;
    try {
        report = co_await carry_out(by);
    } catch (...) {
        bug = std::current_exception();
    }
    busy_ = false;
    ++carried_out_;
    if (told_.reading) {
        told_.reading(false);
    }
    release();
    if (bug) {
        std::rethrow_exception(bug);
    }
    co_return report;
}

// Not inside this call: whoever goes on may be long at it.
void reloader::release()
{
    if (!waiting_.empty()) {
        auto* const next = waiting_.front();
        waiting_.erase(waiting_.begin());
        net::asio::post(loop_.get_executor(), [next] { next->set(); });
    }
}

// On the thread of its own. Nothing that is looked at here changes while a reload is under way.
reloader::reading_result reloader::read(reload_trigger by) const
{
    reading_result out;
    if (!from_.read || (by == reload_trigger::file && !reload::outdated(from_.files))) {
        out.outdated = false;
        return out;
    }
    out.now = from_.read();
    out.directories = directories_of(out.now.files);
    // `access` applies at once, `listen` and `tls` only to the next process.
    const auto& access = out.now.settings.access;
    for (const auto& problem :
         {config::open_without_credentials(settings_.listen, access), config::unseen_certificates(settings_.tls, access)
         }) {
        if (problem && out.now.problems.empty()) {
            out.now.problems.push_back(
                "access: " + config::to_text(settings_.listen) + ", which this process listens on, " +
                std::string{*problem}
            );
        }
    }
    auto asked_of_admin = static_cast<const config::process_settings&>(out.now.settings);
    asked_of_admin.admin = settings_.admin;
    if (const auto problem = config::open_admin(asked_of_admin); problem && out.now.problems.empty()) {
        out.now.problems.push_back(
            "admin_access: " + config::to_text(settings_.admin) + ", which this process listens on, " +
            std::string{*problem}
        );
    }
    if (out.now.problems.empty()) {
        out.changes = config::compare(settings_, out.now.settings);
        const auto& agents = out.now.settings.agents;
        out.files_changed = add_changed_files(out.changes, agents, from_.tls_files, out.now.tls_files);
        out.there = added_or_changed(out.changes, agents);
    }
    return out;
}

net::task<reload_report> reloader::carry_out(reload_trigger by)
{
    std::function<reading_result()> work = [this, by] { return read(by); };
    auto found = co_await thread_.ask(std::move(work));
    reload_report report;
    if (!found.outdated) {
        co_return report;
    }
    report.problems = std::move(found.now.problems);
    if (report.problems.empty()) {
        if (told_.begins) {
            told_.begins(found.now.settings, found.changes.settings);
        }
        auto done = co_await registry_.declare(std::move(found.there), found.changes.removed, found.files_changed);
        if (!done) {
            report.problems.push_back(done.error().detail);
            if (told_.ended) {
                told_.ended(found.changes.settings);
            }
        }
    }
    if (audit_ != nullptr) {
        audit_->configuration_reloaded(
            {.trigger = name(by), .sha256 = found.now.sha256, .problems = report.problems.size()}
        );
    }
    counts_.refused_last = !report.problems.empty();
    counts_.last = std::chrono::system_clock::now();
    counts_.trigger = name(by);
    counts_.problems.assign(
        report.problems.begin(),
        report.problems.begin() + static_cast<std::ptrdiff_t>(std::min(report.problems.size(), most_problems_logged))
    );
    if (counts_.refused_last) {
        reloads_.count("refused");
        write_refusal(by, report.problems);
    } else {
        reloads_.count("ok");
        counts_.last_success = std::chrono::system_clock::now();
        config::apply(found.now.settings, settings_);
        std::swap(settings_.agents, found.now.settings.agents);
        from_.tls_files = std::move(found.now.tls_files);
        report.changes = std::move(found.changes);
        counts_.restart_needed = !report.changes.needs_restart.empty();
        counts_.needs_restart.assign(report.changes.needs_restart.begin(), report.changes.needs_restart.end());
        from_.text = std::move(found.now.text);
        report.warnings = std::move(found.now.warnings);
        write_success(by, report.changes);
        log_warnings(report.warnings, log_);
        if (told_.ended) {
            told_.ended(report.changes.settings);
        }
    }
    from_.files = std::move(found.now.files);
    watch(found.directories);
    // The rest of both, agents above all, may be much: it ends on the other thread.
    std::function<bool()> discard = [rest = std::make_shared<reading_result>(std::move(found))]() mutable {
        rest.reset();
        return true;
    };
    co_await thread_.ask(std::move(discard));
    co_return report;
}

net::task<std::shared_ptr<const std::string>> reloader::dump()
{
    const auto wanted = carried_out_;
    while (dumps_) {
        net::task_signal done;
        auto waits = done.wait();
        wait_for_dump_.push_back(&done);
        co_await std::move(waits);
        if (dumped_ != nullptr && dumped_of_ == wanted) {
            co_return dumped_;
        }
    }
    dumps_ = true;
    const auto of = carried_out_;
    std::shared_ptr<const std::string> text;
    std::exception_ptr bug;
    try {
        text = co_await make_dump();
    } catch (...) {
        bug = std::current_exception();
    }
    dumps_ = false;
    dumped_ = text;
    dumped_of_ = of;
    for (auto* const each : std::exchange(wait_for_dump_, {})) {
        each->set();
    }
    dumped_.reset();
    if (bug) {
        std::rethrow_exception(bug);
    }
    co_return text;
}

net::task<std::shared_ptr<const std::string>> reloader::make_dump()
{
    if (!from_.dump) {
        co_return std::make_shared<const std::string>(management::settings_text(core::json::object(), 0));
    }
    const auto omitted = settings_.agents.size() <= most_dumped ? 0 : settings_.agents.size();
    std::vector<core::agent> away;
    if (omitted > 0) {
        away.swap(settings_.agents);
    }
    auto copied = std::make_shared<const config::settings>(settings_);
    if (omitted > 0) {
        away.swap(settings_.agents);
    }
    std::function<std::shared_ptr<const std::string>()> work =
        [omitted, copied = std::move(copied), text = from_.text, dump = from_.dump] {
            return std::make_shared<const std::string>(management::settings_text(dump(*copied, text), omitted));
        };
    co_return co_await thread_.ask(std::move(work));
}

void reloader::write_refusal(reload_trigger by, const std::vector<std::string>& problems) const
{
    std::string reason;
    for (std::size_t i = 0; i < std::min(problems.size(), most_problems_logged); ++i) {
        reason += (i == 0 ? "" : "\n") + problems[i];
    }
    log_.write(
        core::log_level::error,
        "config_rejected",
        {{"trigger", name(by)}, {"problems", problems.size()}, {"reason", reason}}
    );
}

void reloader::write_success(reload_trigger by, const config::changes& changes) const
{
    std::size_t left = most_agents_logged;
    const auto line = [&](std::string_view id, std::string_view action, const std::string& keys) {
        if (left == 0) {
            return;
        }
        --left;
        log_.write(
            core::log_level::info,
            "agent_changed",
            {{"agent", id}, {"action", action}, {"keys", keys}, {"by", author}}
        );
    };
    for (const auto& id : changes.added) {
        line(id, store::name(store::action::created), "");
    }
    for (const auto& each : changes.changed) {
        line(each.id, store::name(store::action::updated), joined(each.keys));
    }
    for (const auto& id : changes.removed) {
        line(id, store::name(store::action::deleted), "");
    }
    log_.write(
        core::log_level::info,
        "config_reloaded",
        {{"trigger", name(by)},
         {"added", changes.added.size()},
         {"changed", changes.changed.size()},
         {"removed", changes.removed.size()},
         {"unchanged", changes.unchanged},
         {"settings", joined(changes.settings)}}
    );
    if (!changes.needs_restart.empty()) {
        log_.write(core::log_level::warn, "config_needs_restart", {{"settings", joined(changes.needs_restart)}});
    }
}

void reloader::collect(telemetry::metrics& into) const
{
    using telemetry::metric;
    reloads_.collect(into);
    into.add(metric("cardea_config_restart_needed"), counts_.restart_needed ? 1.0 : 0.0);
    into.add(metric("cardea_config_last_reload_successful"), counts_.refused_last ? 0.0 : 1.0);
    into.add(
        metric("cardea_config_last_success_timestamp_seconds"),
        telemetry::seconds(counts_.last_success.time_since_epoch())
    );
}

}  // namespace gateway::reload
