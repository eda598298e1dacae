#include "gateway/management/containment_methods.hpp"

#include "config/access_values.hpp"
#include "config/json_value.hpp"
#include "config/problem.hpp"
#include "config/schema.hpp"
#include "config/values.hpp"
#include "core/ascii.hpp"
#include "gateway/management/json_records.hpp"
#include "gateway/management/read_methods.hpp"
#include "gateway/model/agent_filter.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace gateway::management {

using core::errc;
using core::json;

// A request as it was read, with the problems of its parameters.
struct containment_methods::asked {
    contained_subject subject;
    containment_order order;
    bool dry_run = false;
    std::vector<config::problem> problems;

    void refuse(std::string key, std::string wording)
    {
        problems.push_back({{}, 1, 1, std::move(key), std::move(wording)});
    }

    json shown() const
    {
        if (subject.is_agent()) {
            return {{"id", subject.agent}};
        }
        return {{"provider", subject.principal.provider}, {"principal", subject.principal.principal}};
    }
};

namespace {

constexpr std::size_t longest_text = 256;
constexpr std::chrono::seconds shortest{1};
constexpr std::chrono::days longest{365};

std::optional<unsigned> two_digits(std::string_view text)
{
    if (text.size() < 2 || !core::is_digit(text[0]) || !core::is_digit(text[1])) {
        return std::nullopt;
    }
    return static_cast<unsigned>((text[0] - '0') * 10 + (text[1] - '0'));
}

// RFC 3339, also with a fraction of a second, which is dropped, and with an offset.
std::optional<core::wall_time> rfc3339_time(std::string_view text)
{
    constexpr std::size_t whole = 19;  // 2027-01-31T12:00:00
    if (text.size() <= whole) {
        return std::nullopt;
    }
    auto base = std::string{text.substr(0, whole)} + 'Z';
    base[10] = base[10] == 't' ? 'T' : base[10];
    auto rest = text.substr(whole);
    if (rest.front() == '.') {
        const auto end = rest.find_first_not_of("0123456789", 1);
        if (end == std::string_view::npos || end == 1) {
            return std::nullopt;
        }
        rest.remove_prefix(end);
    }
    const auto time = config::parse_time(base);
    if (!time) {
        return std::nullopt;
    }
    if (rest == "Z" || rest == "z") {
        return *time;
    }
    const bool form = rest.size() == 6 && (rest[0] == '+' || rest[0] == '-') && rest[3] == ':';
    const auto hours = form ? two_digits(rest.substr(1)) : std::nullopt;
    const auto minutes = form ? two_digits(rest.substr(4)) : std::nullopt;
    if (!hours || !minutes || *hours > 23 || *minutes > 59) {
        return std::nullopt;
    }
    const auto offset = std::chrono::hours{*hours} + std::chrono::minutes{*minutes};
    return rest[0] == '+' ? *time - offset : *time + offset;
}

// The end that a text names. Fails with what is wrong with it.
core::result<core::wall_time> end_of(std::string_view text, core::wall_time now)
{
    const auto refuse = [](const char* why) { return core::caller_error(errc::invalid_params, why); };
    if (const auto lasts = config::parse_duration(text)) {
        if (*lasts < shortest || *lasts > longest) {
            return refuse("is not between 1s and 365d");
        }
        return store::whole_milliseconds(now + *lasts);
    }
    const auto time = rfc3339_time(text);
    if (!time) {
        return refuse("expected a time such as 2027-01-31T12:00:00Z, or a duration such as 2h");
    }
    if (*time <= now) {
        return refuse("is in the past");
    }
    return *time;
}

bool has_control(std::string_view text)
{
    return std::ranges::any_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

const json* given(const json& params, std::string_view key)
{
    const auto* value = core::member(params, key);
    return value == nullptr || value->is_null() ? nullptr : value;
}

// The principal behind which a page begins, as `next` names it.
std::optional<core::principal_name> name_in(const std::string& cursor)
{
    const auto blank = cursor.find(' ');
    if (cursor.empty()) {
        return std::nullopt;
    }
    return blank == std::string::npos ? core::principal_name{cursor, {}}
                                      : core::principal_name{cursor.substr(0, blank), cursor.substr(blank + 1)};
}

}  // namespace

containment_methods::asked containment_methods::read(
    const core::rpc_request& request,
    const rpc_caller& caller,
    bool of_agent,
    bool contains
) const
{
    asked out;
    const auto& params = request.params;
    std::vector<std::string_view> known{"dryRun"};
    if (contains) {
        known.insert(known.end(), {"reason", "until", "notice"});
    }
    for (const auto* key : {"id", "agentId", "name", "provider", "principal"}) {
        if (of_agent == (std::string_view{key}[0] != 'p')) {
            known.emplace_back(key);
        }
    }
    for (const auto& [key, value] : params.items()) {
        if (params.is_object() && std::ranges::find(known, key) == known.end()) {
            out.refuse(config::shown_key(key), config::unknown_key(key, known));
        }
    }
    const auto text = [&](const char* key, bool required, std::size_t most) {
        const auto* value = given(params, key);
        const auto* found = value == nullptr ? nullptr : core::string_member(params, key);
        const bool fits = found != nullptr && !found->empty() && found->size() <= most && !has_control(*found);
        if (value == nullptr ? required : !fits) {
            const auto* const what = value == nullptr ? "is missing; " : "";
            out.refuse(key, what + ("expected 1 to " + std::to_string(most) + " bytes of text without line breaks"));
        }
        return fits ? *found : std::string{};
    };
    constexpr std::size_t longest_name = 4096;
    if (of_agent) {
        out.subject.agent = agent_parameter(params);
        if (out.subject.agent.empty()) {
            out.refuse("id", "is missing; expected the agent's id");
        }
    } else {
        out.subject.principal = {text("provider", true, longest_text), text("principal", true, longest_name)};
    }
    const auto now = store::whole_milliseconds(table_->clock());
    out.order =
        {now, std::nullopt, text("reason", contains, longest_text), caller.who, text("notice", false, longest_text)};
    if (const auto until = text("until", false, longest_text); !until.empty()) {
        if (const auto end = end_of(until, now)) {
            out.order.until = *end;
        } else {
            out.refuse("until", end.error().detail);
        }
    }
    if (const auto* wish = given(params, "dryRun")) {
        out.dry_run = wish->is_boolean() && wish->get<bool>();
        if (!wish->is_boolean()) {
            out.refuse("dryRun", "is not a boolean; expected true or false");
        }
    }
    return out;
}

void containment_methods::check_provider(asked& what) const
{
    const auto& name = what.subject.principal.provider;
    const auto& providers = settings_.access.providers;
    const bool has_token = name == core::registration_owner && !settings_.registration.token.empty();
    if (what.problems.empty() && !has_token &&
        std::ranges::find(providers, name, &core::access_provider::name) == providers.end()) {
        what.refuse("provider", "is not the name of a provider; expected one of access.providers");
    }
}

// An operator who contains the own principal could not undo it.
void containment_methods::check_self(asked& what, const rpc_caller& caller) const
{
    if (caller.self.provider.empty() || !what.problems.empty()) {
        return;
    }
    const auto& subject = what.subject;
    if (!subject.is_agent() && subject.principal == caller.self) {
        what.refuse("principal", "is the one that asks; expected another");
    }
    const auto all = subject.is_agent() ? table_->principals_of(subject.agent) : std::vector<core::principal_name>{};
    if (std::ranges::find(all, caller.self) != all.end()) {
        what.refuse("id", "acts as the principal that asks, or was registered by it; let another operator contain it");
    }
}

net::task<rpc_result> containment_methods::contain(core::rpc_request request, asked what, threads::turns& turns)
{
    if (!what.problems.empty()) {
        co_return refuse_params(request, what.problems);
    }
    auto doing =
        what.dry_run ? table_->try_to_contain(what.subject, what.order) : table_->contain(what.subject, what.order);
    const auto done = co_await std::move(doing);
    if (!done) {
        what.refuse(what.subject.is_agent() ? "id" : "principal", done.error().detail);
        co_return refuse_params(request, what.problems);
    }
    auto result = what.shown();
    const auto& now = done->now;
    result["contained"] = now ? shown_containment(*now) : json{};
    result["cut"] = {{"calls", done->cut.calls}, {"streams", done->cut.streams}, {"sessions", done->cut.sessions}};
    result["durable"] = done->durable;
    if (what.subject.is_agent()) {
        if (const auto others = co_await others_at(what.subject.agent, turns); !others.empty()) {
            result["also_at"] = others;
        }
    } else if (has_no(what.subject.principal)) {
        result["warning"] = "The provider has no principal of this id now. It is contained if it comes.";
    }
    if (what.dry_run) {
        result["dryRun"] = true;
    }
    co_return core::make_result(request.id, result);
}

// The agent with which a principal stays contained, if there is one.
void containment_methods::add_agent(json& released, const asked& what) const
{
    if (what.subject.is_agent()) {
        return;
    }
    for (const auto& each : table_->principals(std::nullopt)) {
        if (each.name == what.subject.principal && !each.agent.empty()) {
            released["contained"] = shown_containment(*each.order);
            released["agent"] = each.agent;
        }
    }
}

net::task<rpc_result> containment_methods::release(core::rpc_request request, asked what, std::string by)
{
    if (!what.problems.empty()) {
        co_return refuse_params(request, what.problems);
    }
    auto result = what.shown();
    result["contained"] = nullptr;
    result["durable"] = registry_.durable();
    if (what.dry_run) {
        result["dryRun"] = true;
        add_agent(result, what);
        co_return core::make_result(request.id, result);
    }
    auto doing = table_->release(what.subject, std::move(by));
    const auto done = co_await std::move(doing);
    if (!done) {
        auto data = what.shown();
        data["retryable"] = core::retryable(done.error().code);
        co_return core::make_error(request.id, done.error().code, data);
    }
    if (const auto& now = done->now) {
        result["contained"] = shown_containment(*now);
    }
    add_agent(result, what);
    co_return core::make_result(request.id, result);
}

net::task<rpc_result>
containment_methods::contain_agent(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    auto what = read(request, caller, /*of_agent=*/true, /*contains=*/true);
    const auto& id = what.subject.agent;
    if (what.problems.empty() && registry_.find(id) == nullptr && table_->find(what.subject) == nullptr) {
        co_return core::make_error(request.id, errc::agent_not_found, {{"agent", id}, {"retryable", false}});
    }
    check_self(what, caller);
    co_return co_await contain(std::move(request), std::move(what), turns_.of(caller.may_write));
}

net::task<rpc_result>
containment_methods::release_agent(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    auto what = read(request, caller, /*of_agent=*/true, /*contains=*/false);
    const auto& id = what.subject.agent;
    if (what.problems.empty() && registry_.find(id) == nullptr && table_->find(what.subject) == nullptr) {
        co_return core::make_error(request.id, errc::agent_not_found, {{"agent", id}, {"retryable", false}});
    }
    co_return co_await release(std::move(request), std::move(what), caller.who);
}

net::task<rpc_result>
containment_methods::contain_principal(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    auto what = read(request, caller, /*of_agent=*/false, /*contains=*/true);
    check_provider(what);
    check_self(what, caller);
    co_return co_await contain(std::move(request), std::move(what), turns_.of(caller.may_write));
}

net::task<rpc_result>
containment_methods::release_principal(core::rpc_request request, const rpc_caller& caller, answer_builder& /*answer*/)
{
    auto what = read(request, caller, /*of_agent=*/false, /*contains=*/false);
    if (table_->find(what.subject) == nullptr) {
        check_provider(what);  // that of a contained one may be gone
    }
    co_return co_await release(std::move(request), std::move(what), caller.who);
}

net::task<rpc_result>
containment_methods::principals(core::rpc_request request, const rpc_caller& caller, answer_builder& answer) const
{
    std::vector<config::problem> problems;
    const auto filter = model::read_filter(request.params, problems);
    if (!problems.empty()) {
        co_return refuse_params(request, problems);
    }
    co_await turns_.of(caller.may_write).wait();
    record_page page{request.id, filter.limit, answer.room(), "principals"};
    for (const auto& each : table_->principals(name_in(filter.after))) {
        json record{
            {"provider", each.name.provider},
            {"principal", each.name.principal},
            {"contained", shown_containment(*each.order)}
        };
        if (!each.agent.empty()) {
            record["agent"] = each.agent;
        }
        if (!page.add(each.name.provider + ' ' + each.name.principal, core::to_text(record))) {
            co_return page.finish(/*more=*/true);
        }
        if (!answer.hold(page.capacity())) {
            break;
        }
    }
    co_return page.finish(/*more=*/false);
}

}  // namespace gateway::management
