#include "gateway/management/containment_record.hpp"

#include "gateway/management/json_records.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace gateway::management {
namespace {

using core::json;

// The beginnings of names of documents.
constexpr std::string_view agent_prefix = "agent";
constexpr std::string_view principal_prefix = "principal";

json names_of(const std::vector<core::principal_name>& all)
{
    auto list = json::array();
    for (const auto& each : all) {
        list.push_back({{"provider", each.provider}, {"principal", each.principal}});
    }
    return list;
}

std::int64_t milliseconds_of(core::wall_time at)
{
    return std::chrono::floor<std::chrono::milliseconds>(at.time_since_epoch()).count();
}

// A document as it is read: what is missing or of another kind makes it none.
class document_reader {
public:
    explicit document_reader(const json& from)
        : from_{from}
    {
        good_ = from.is_object();
    }

    bool good() const noexcept { return good_; }

    std::string text(std::string_view key)
    {
        const auto* found = core::string_member(from_, key);
        good_ = good_ && found != nullptr;
        return found == nullptr ? std::string{} : *found;
    }

    core::wall_time time(std::string_view key)
    {
        return optional_time(key, /*required=*/true).value_or(core::wall_time{});
    }
    std::optional<core::wall_time> optional_time(std::string_view key, bool required = false)
    {
        constexpr std::int64_t latest = 253'402'300'799'999;  // of the year 9999
        const auto* found = core::member(from_, key);
        if (found == nullptr) {
            good_ = good_ && !required;
            return std::nullopt;
        }
        const bool fits = found->is_number_integer() && *found >= 0 && *found <= latest;
        good_ = good_ && fits;
        return core::wall_time{std::chrono::milliseconds{fits ? found->get<std::int64_t>() : 0}};
    }

    std::vector<core::principal_name> names(std::string_view key)
    {
        std::vector<core::principal_name> all;
        const auto* found = core::member(from_, key);
        good_ = good_ && found != nullptr && found->is_array();
        for (std::size_t i = 0; good_ && i < found->size(); ++i) {
            document_reader each{(*found)[i]};
            all.push_back({each.text("provider"), each.text("principal")});
            good_ = good_ && each.good();
        }
        return all;
    }

private:
    const json& from_;
    bool good_ = false;
};

}  // namespace

store::kept_document document_of(const contained_subject& subject, const containment_record& record)
{
    const auto& order = record.order;
    json text = subject.is_agent()
                    ? json{{"agent", subject.agent}}
                    : json{{"provider", subject.principal.provider}, {"principal", subject.principal.principal}};
    text["since"] = milliseconds_of(order.since);
    if (order.until) {
        text["until"] = milliseconds_of(*order.until);
    }
    text["reason"] = order.reason;
    text["by"] = order.by;
    text["notice"] = order.notice;
    if (subject.is_agent()) {
        text["acts_as"] = names_of(record.acts_as);
        text["registrants"] = names_of(record.registrants);
    }
    std::string name{subject.is_agent() ? agent_prefix : principal_prefix};
    name += ' ';
    name += subject.is_agent() ? subject.agent : subject.principal.provider + ' ' + subject.principal.principal;
    return {std::string{store::containment_document}, std::move(name), {}, core::to_text(text)};
}

std::optional<std::pair<contained_subject, containment_record>> containment_in(const store::kept_document& document)
{
    const auto parsed = core::parse_json(document.text);
    if (!parsed) {
        return std::nullopt;
    }
    document_reader from{*parsed};
    contained_subject subject;
    containment_record record;
    const bool agent = core::member(*parsed, "agent") != nullptr;
    if (agent) {
        subject.agent = from.text("agent");
        record.acts_as = from.names("acts_as");
        record.registrants = from.names("registrants");
    } else {
        subject.principal = {from.text("provider"), from.text("principal")};
    }
    auto& order = record.order;
    order.since = from.time("since");
    order.until = from.optional_time("until");
    order.reason = from.text("reason");
    order.by = from.text("by");
    order.notice = from.text("notice");
    const bool whose = agent ? !subject.agent.empty() : !subject.principal.provider.empty();
    if (!from.good() || !whose || document_of(subject, record).name != document.name) {
        return std::nullopt;
    }
    return std::pair{std::move(subject), std::move(record)};
}

contained_subject subject_named(std::string_view document)
{
    const auto kind = document.substr(0, document.find(' '));
    const auto name = document.substr(std::min(kind.size() + 1, document.size()));
    if (kind == agent_prefix) {
        return {std::string{name}, {}};
    }
    const auto provider = name.substr(0, name.find(' '));  // which has no blank
    return {{}, {std::string{provider}, std::string{name.substr(std::min(provider.size() + 1, name.size()))}}};
}

json shown_containment(const containment_order& order)
{
    json out{{"since", shown_time(order.since)}};
    if (order.until) {
        out["until"] = shown_time(*order.until);
    }
    out["reason"] = order.reason;
    out["by"] = order.by;
    if (!order.notice.empty()) {
        out["notice"] = order.notice;
    }
    return out;
}

}  // namespace gateway::management
