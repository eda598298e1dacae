#include "gateway/model/audit_trail.hpp"

#include "core/json/json_writer.hpp"
#include "core/log.hpp"
#include "core/utf8.hpp"
#include "gateway/model/terminal_text.hpp"

#include <algorithm>
#include <chrono>

namespace gateway::model {
namespace {

class audit_line {
public:
    explicit audit_line(std::string_view event)
    {
        core::append_timestamp(text_, std::chrono::system_clock::now());
        text_ += '"';
        to_.member("event", event);
    }

    void add(std::string_view name, std::string_view value) { to_.member(name, cut(value)); }
    void add_some(std::string_view name, std::string_view value) { to_.member_if_any(name, cut(value)); }
    void add(std::string_view name, std::uint64_t value) { to_.member(name, value); }
    void add(std::string_view name, const cut_counts& cut)
    {
        to_.name(name);
        to_.open('{');
        to_.member("calls", cut.calls);
        to_.member("streams", cut.streams);
        to_.member("sessions", cut.sessions);
        to_.close('}');
    }
    void add_flag(std::string_view name, bool value) { to_.member(name, value); }
    void add(std::string_view name, const std::vector<std::string>& list)
    {
        to_.name(name);
        to_.open('[');
        for (std::size_t i = 0; i < std::min(list.size(), audit_trail::longest_list); ++i) {
            to_.value(cut(list[i]));
        }
        to_.close(']');
    }

    std::string take() { return printable(text_ + '}'); }

private:
    static std::string_view cut(std::string_view value) { return core::cut_utf8(value, audit_trail::longest_text); }

    std::string text_ = R"({"ts":")";
    core::json_writer to_{text_};
};

bool has(const std::vector<std::string>& names, std::string_view name)
{
    return std::ranges::find(names, name) != names.end();
}

}  // namespace

void audit_trail::card_published(const audited_card& card) const
{
    if (!on()) {
        return;
    }
    audit_line line{"agent_card_published"};
    line.add("agent", card.agent);
    line.add("name", card.name);
    line.add("version", card.version);
    line.add("protocol_version", card.protocol_version);
    line.add("url", card.url);
    line.add("skill_count", card.skills);
    line.add("card_size_bytes", card.bytes);
    line.add("card_sha256", card.sha256);
    line.add("capabilities", card.capabilities);
    line.add("security_schemes", card.security_schemes);
    line.add_flag("streaming", has(card.capabilities, "streaming"));
    line.add_flag("push_notifications", has(card.capabilities, "pushNotifications"));
    line.add_flag("signed", card.has_signature);
    sink_->write(line.take());
}

void audit_trail::agent_changed(const audited_change& change) const
{
    if (!on()) {
        return;
    }
    audit_line line{change.before.empty() ? "agent_created" : change.after.empty() ? "agent_deleted" : "agent_updated"};
    line.add("agent", change.agent);
    line.add("by", change.by);
    line.add_some("before_sha256", change.before);
    line.add_some("after_sha256", change.after);
    sink_->write(line.take());
}

void audit_trail::access_denied(const denied_requests& requests) const
{
    if (!on()) {
        return;
    }
    audit_line line{"access_denied"};
    line.add("reason", name(requests.reason));
    line.add_some("agent", requests.agent);
    line.add_some("principal", requests.principal);
    line.add_some("provider", requests.provider);
    line.add_some("rule", requests.rule);
    line.add_some("method", requests.method);
    line.add_some("tool", requests.tool);
    line.add_some("address", requests.address);
    line.add("count", requests.count);
    sink_->write(line.take());
}

void audit_trail::key_first_used(const used_key& key) const
{
    if (!on()) {
        return;
    }
    audit_line line{"key_first_used"};
    line.add("provider", key.provider);
    line.add("key", key.key);
    sink_->write(line.take());
}

void audit_trail::configuration_reloaded(const audited_reload& reload) const
{
    if (!on()) {
        return;
    }
    audit_line line{"configuration_reloaded"};
    line.add("outcome", reload.problems == 0 ? std::string_view{"ok"} : std::string_view{"refused"});
    line.add("trigger", reload.trigger);
    line.add("problems", reload.problems);
    line.add_some("sha256", reload.sha256);
    sink_->write(line.take());
}

void audit_trail::containment_changed(const audited_containment& change) const
{
    if (!on()) {
        return;
    }
    const bool agent = !change.agent.empty();
    audit_line line{
        change.contains ? (agent ? "agent_contained" : "principal_contained")
                        : (agent ? "agent_released" : "principal_released")
    };
    line.add_some("agent", change.agent);
    line.add_some("provider", change.provider);
    line.add_some("principal", change.principal);
    line.add("by", change.by);
    line.add("reason", change.reason);
    line.add_some("until", change.until);
    if (change.cut) {
        line.add("cut", *change.cut);
    }
    sink_->write(line.take());
}

void audit_trail::pin_changed(const audited_pins& change) const
{
    if (!on()) {
        return;
    }
    audit_line line{"pin_changed"};
    line.add("agent", change.agent);
    line.add("members", change.members);
    line.add_some("before_sha256", change.before);
    line.add("after_sha256", change.after);
    line.add("held", change.held);
    sink_->write(line.take());
}

void audit_trail::pin_approved(std::string_view agent, std::string_view by, const std::vector<std::string>& items) const
{
    if (!on()) {
        return;
    }
    audit_line line{"pin_approved"};
    line.add("agent", agent);
    line.add("by", by);
    line.add("items", items);
    sink_->write(line.take());
}

void audit_trail::session_restarted(std::string_view agent, std::string_view by) const
{
    if (!on()) {
        return;
    }
    audit_line line{"session_restarted"};
    line.add("agent", agent);
    line.add("by", by);
    sink_->write(line.take());
}

}  // namespace gateway::model
