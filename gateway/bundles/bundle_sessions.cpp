#include "gateway/bundles/bundle_sessions.hpp"

#include "core/json/json.hpp"
#include "gateway/model/version.hpp"
#include "mcp/protocol/message.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "net/loop/thrown.hpp"
#include "net/sse/sse_events.hpp"

#include <boost/asio/co_spawn.hpp>

#include <algorithm>
#include <optional>
#include <vector>

namespace gateway::bundles {
namespace {

using core::errc;

constexpr core::duration longest_telling =
    std::chrono::seconds{2};  // of one message, when a session with a member begins
constexpr core::duration sweep_every = std::chrono::seconds{30};
constexpr core::duration sweep_pause{50};  // while there are more
constexpr std::size_t most_swept = 32;     // each ends the sessions of its members

std::string request_text(std::uint64_t id, std::string_view method, std::string_view params)
{
    auto text = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")";
    text.append(method).append(R"(","params":)").append(params) += '}';
    return text;
}

std::string initialize_text(const model::bundle_session& in)
{
    auto params = std::string{R"({"protocolVersion":")"}.append(in.version) + R"(","capabilities":)";
    params += ::mcp::capabilities_text(in.declared, in.further) + R"(,"clientInfo":{"name":)";
    core::append_json_string(params, "cardea/" + in.bundle);
    core::append_json_string(params += R"(,"version":)", model::version());
    return request_text(0, "initialize", params + "}}");
}

std::string subscribe_params(std::string_view uri)
{
    std::string params = R"({"uri":)";
    core::append_json_string(params, uri);
    return params + '}';
}

// The message of an answer, which may be a stream of events.
std::string message_of(model::inner_reply& reply)
{
    if (!reply.head.has_type("text/event-stream")) {
        return std::move(reply.body);
    }
    net::sse_reader events{reply.body.size() + 1};
    events.feed(reply.body);
    std::string last;
    while (auto event = events.next()) {
        if (!::mcp::members_of(event->data).find("id").empty() &&
            ::mcp::members_of(event->data).find("method").empty()) {
            last = std::move(event->data);
        }
    }
    return last;
}

// The code that an error of ours names in its data; `otherwise` for any other.
core::error error_of(std::string_view message, unsigned status)
{
    const auto failure = ::mcp::members_of(::mcp::members_of(message).object("error"));
    const auto said = ::mcp::members_of(failure.object("data")).text("code");
    const auto rows = core::error_rows();
    const auto row = std::ranges::find(rows, said, &core::error_row::name);
    auto detail = "initialize of a member: " + std::to_string(status) + ' ' + failure.text("message");
    return core::upstream_error(row == rows.end() ? errc::upstream_status : row->code, std::move(detail));
}

// For messages of which no answer matters, which are counted until it has come.
net::task<> drop_answer(net::task<core::result<model::inner_reply>> asked)
{
    static_cast<void>(co_await std::move(asked));
}

// The fields of a message of a client of the legacy era to a member.
std::vector<std::pair<std::string, std::string>>
legacy_fields(const member_session& member, std::string_view version, bool has_body)
{
    std::vector<std::pair<std::string, std::string>> fields;
    fields.emplace_back("Accept", has_body ? "application/json, text/event-stream" : "text/event-stream");
    if (has_body) {
        fields.emplace_back("Content-Type", "application/json");
    }
    if (member.begun || !member.version.empty()) {
        fields.emplace_back("MCP-Protocol-Version", member.version.empty() ? std::string{version} : member.version);
    }
    if (!member.id.empty()) {
        fields.emplace_back("Mcp-Session-Id", member.id);
    }
    return fields;
}

}  // namespace

std::string member_target(std::string_view agent)
{
    return std::string{"/agents/"}.append(agent) + "/mcp";
}

model::inner_request
legacy_request(const model::bundle_session& in, const member_session& member, std::shared_ptr<const std::string> body)
{
    model::inner_request request;
    request.caller = in.caller;
    request.target = member_target(member.agent);
    request.fields = legacy_fields(member, in.version, body != nullptr);
    request.body = std::move(body);
    return request;
}

bundle_sessions::bundle_sessions(
    net::loop& control,
    model::inner_calls& calls,
    const core::logger& log,
    std::function<void(const ::mcp::session_digest& id, bool ended)> over
)
    : loop_{control},
      calls_{calls},
      log_{log},
      over_{std::move(over)}
{
    loop_.timers().add(*this);
    set_due(loop_.now() + sweep_every);
}

const bundle_sessions::session* bundle_sessions::find(const ::mcp::session_digest& id) const
{
    const auto found = sessions_.find(id);
    return found == sessions_.end() ? nullptr : &found->second;
}

// Begins it here, if another process or this one, before it forgot, has given the id out.
core::result<bundle_sessions::session*> bundle_sessions::open(const model::bundle_session& in)
{
    if (stopped_) {
        return core::gateway_error(errc::draining);
    }
    if (ended_.contains(in.id)) {
        return core::caller_error(errc::session_not_found, "the client has ended it");
    }
    auto found = sessions_.find(in.id);
    if (found == sessions_.end()) {
        auto place = core::all_shares().take(core::place_shares::of_object(this), in.whose, core::half_of(most));
        if (!place) {
            return core::gateway_error(errc::overloaded, "sessions with bundles, of this principal");
        }
        if (sessions_.size() >= most && !drop_oldest()) {
            return core::gateway_error(errc::overloaded, "sessions with bundles");
        }
        found = sessions_.try_emplace(in.id).first;
        found->second.place = std::move(*place);
        found->second.turn = by_use_.insert(by_use_.end(), in.id);
    }
    by_use_.splice(by_use_.end(), by_use_, found->second.turn);
    auto caller = in.caller != nullptr ? in.caller : found->second.in.caller;
    found->second.in = in;
    found->second.in.caller = std::move(caller);
    found->second.used = loop_.now();
    return &found->second;
}

net::task<core::result<model::member_place>> bundle_sessions::enter(model::member_call call)
{
    auto opened = open(call.in);
    if (!opened) {
        co_return std::move(opened).error();
    }
    auto& in = **opened;
    auto& member = in.members[call.member];
    if (member == nullptr) {
        member = std::make_shared<member_session>();
        member->agent = call.member;
    }
    if (member->begun) {
        co_return model::member_place{member->id, member->version, in.calls};
    }
    auto beginning = begin(call.in.id, member);
    auto begun = co_await std::move(beginning);
    if (!begun) {
        co_return std::move(begun).error();
    }
    const auto* const now = find(call.in.id);
    const auto there = now == nullptr ? nullptr : now->member(call.member);
    if (there == nullptr || !there->begun) {
        co_return core::caller_error(errc::session_not_found, "it has ended meanwhile");
    }
    co_return model::member_place{there->id, there->version, now->calls};
}

// All who ask at once share one attempt, also one that fails.
net::task<core::result<>> bundle_sessions::begin(::mcp::session_digest id, std::shared_ptr<member_session> member)
{
    if (member->beginning) {
        auto waits = member->waiting.wait();
        co_await std::move(waits);
        co_return member->outcome;
    }
    const auto* const before = find(id);
    if (before == nullptr) {
        co_return core::caller_error(errc::session_not_found);
    }
    const auto in = before->in;
    member->beginning = true;
    auto opening = initialize(in, member);
    member->outcome = co_await std::move(opening);
    const auto* const now = find(id);
    if (member->outcome && now != nullptr) {
        auto telling = tell_state(now->in, member, now->level);
        co_await std::move(telling);
    }
    member->beginning = false;
    member->begun = member->outcome.has_value();
    if (member->begun && find(id) == nullptr) {
        end_member(in, *member);
        member->begun = false;
        member->outcome = core::caller_error(errc::session_not_found, "it has ended meanwhile");
    } else if (member->begun && told_) {
        told_(id, member.get());
    }
    member->waiting.wake();
    co_return member->outcome;
}

net::task<core::result<>> bundle_sessions::initialize(model::bundle_session in, std::shared_ptr<member_session> member)
{
    member->id.clear();
    member->version.clear();
    auto request = legacy_request(in, *member, std::make_shared<const std::string>(initialize_text(in)));
    request.head_timeout = std::chrono::minutes{2};  // the gateway ends it, after the time of its agent
    auto asked = calls_.ask(std::move(request));
    auto reply = co_await std::move(asked);
    if (!reply) {
        co_return std::move(reply).error();
    }
    const auto text = message_of(*reply);
    const auto result = ::mcp::members_of(::mcp::members_of(text).object("result"));
    member->version = result.text("protocolVersion");
    const auto known = ::mcp::versions(::mcp::era::legacy);
    if (reply->head.status != 200 || std::ranges::find(known, member->version) == known.end()) {
        member->version.clear();
        co_return error_of(text, reply->head.status);
    }
    member->id = reply->head.field("mcp-session-id");
    co_return core::result<>{};
}

net::task<>
bundle_sessions::tell_state(model::bundle_session in, std::shared_ptr<member_session> member, std::string level)
{
    std::vector<std::string> messages{::mcp::initialized_notification()};
    if (!level.empty()) {
        messages.push_back(request_text(1, "logging/setLevel", R"({"level":)" + level + '}'));
    }
    for (const auto& [own, asked] : member->subscriptions) {
        messages.push_back(request_text(messages.size() + 1, "resources/subscribe", subscribe_params(own)));
    }
    for (auto& each : messages) {
        auto request = legacy_request(in, *member, std::make_shared<const std::string>(std::move(each)));
        request.head_timeout = longest_telling;
        auto asked = calls_.ask(std::move(request));
        // A member that does not take one of these serves without it; one that does not answer is not told the rest.
        const auto reply = co_await std::move(asked);
        if (!reply && reply.error().code == errc::upstream_timeout) {
            co_return;
        }
    }
}

void bundle_sessions::note_listener(const ::mcp::session_digest& id, std::weak_ptr<const void> listener)
{
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) {
        found->second.listener = std::move(listener);
    }
}

void bundle_sessions::tell(model::bundle_message message)
{
    using enum model::bundle_act;
    if (message.act == end) {
        return this->end(message.in.id);
    }
    const bool known = sessions_.contains(message.in.id);
    if (!known && (message.act == lost || message.act == touch)) {
        return;
    }
    auto opened = open(message.in);
    if (!opened) {
        return;
    }
    auto& in = **opened;
    const auto member = in.member(message.member);
    switch (message.act) {
        case cancel:
            return this->cancel(in, message.text, message.member);
        case set_level:
            in.level = message.text;
            return post(in, request_text(2, "logging/setLevel", R"({"level":)" + in.level + '}'));
        case broadcast:
            return post(in, std::move(message.text));
        case subscribe:
            if (member != nullptr && member->subscriptions.size() < most_subscriptions) {
                member->subscriptions.insert_or_assign(std::move(message.text), std::move(message.asked));
            }
            return;
        case unsubscribe:
            if (member != nullptr) {
                member->subscriptions.erase(message.text);
            }
            return;
        case lost:
            if (member != nullptr && member->id == message.text) {
                member->begun = false;
            }
            return;
        case touch:
        case end:
            return;
    }
}

// Of members that have no such call nobody minds (MCP 2025-11-25, basic/utilities/cancellation).
void bundle_sessions::cancel(session& in, std::string_view request_id, std::string_view agent)
{
    auto text = std::string{R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":)"};
    post(in, text.append(request_id) + "}}", agent);
}

void bundle_sessions::post(session& in, std::string text, std::string_view agent)
{
    const auto body = std::make_shared<const std::string>(std::move(text));
    for (const auto& [id, each] : in.members) {
        if (each->begun && (agent.empty() || agent == id)) {
            post(in, *each, body);
        }
    }
}

// Nobody waits for the answer. A client that sends more than its members take loses some, which is logged once.
void bundle_sessions::post(session& in, const member_session& member, shared_body body)
{
    if (*in.posts >= most_posts || *posts_ >= most_posts_of_all) {
        if (!std::exchange(in.told_of_loss, true)) {
            log_.write(
                core::log_level::warn,
                "bundle_message_dropped",
                {{"bundle", in.in.bundle}, {"agent", member.agent}, {"session", ::mcp::tag_of(in.in.id)}}
            );
        }
        return;
    }
    send(legacy_request(in.in, member, std::move(body)), {in.posts, posts_});
}

// Each of `counted` has one more until the answer has come.
void bundle_sessions::send(model::inner_request request, std::vector<std::shared_ptr<std::size_t>> counted)
{
    std::ranges::for_each(counted, [](const auto& each) { ++*each; });
    net::asio::co_spawn(
        loop_.get_executor(),
        drop_answer(calls_.ask(std::move(request))),
        [&log = log_, counted = std::move(counted)](const std::exception_ptr& bug) {
            std::ranges::for_each(counted, [](const auto& each) { --*each; });
            net::log_thrown(bug, log, "bundles");
        }
    );
}

void bundle_sessions::end_member(const model::bundle_session& in, const member_session& member)
{
    if (!member.begun || member.id.empty()) {
        return;
    }
    auto request = legacy_request(in, member, nullptr);
    request.method = "DELETE";
    send(std::move(request), {posts_});
}

void bundle_sessions::end(const ::mcp::session_digest& id)
{
    if (ended_.insert(id).second) {
        ended_in_order_.push_back(id);
        if (ended_in_order_.size() > most_over) {
            ended_.erase(ended_in_order_.front());
            ended_in_order_.pop_front();
        }
    }
    over_(id, /*ended=*/true);
    drop(id);
    if (told_) {
        told_(id, nullptr);  // also of a session that has called no member
    }
}

// The one that was used least lately, of a few in which nothing is under way. False: there is none.
bool bundle_sessions::drop_oldest()
{
    constexpr std::size_t most_looked_at = 64;
    std::size_t looked_at = 0;
    for (const auto& id : by_use_) {
        if (sessions_.find(id)->second.is_idle()) {
            drop(::mcp::session_digest{id});
            return true;
        }
        if (++looked_at == most_looked_at) {
            break;
        }
    }
    return false;
}

// It goes on later, if its client comes back, with other sessions of its members.
void bundle_sessions::drop(const ::mcp::session_digest& id)
{
    const auto gone = sessions_.extract(id);
    if (gone.empty()) {
        return;
    }
    by_use_.erase(gone.mapped().turn);
    over_(id, /*ended=*/false);
    for (const auto& [agent, each] : gone.mapped().members) {
        end_member(gone.mapped().in, *each);
    }
    if (told_) {
        told_(id, nullptr);
    }
}

void bundle_sessions::on_due()
{
    const auto before = loop_.now() - longest_idle;
    std::vector<::mcp::session_digest> idle;
    for (const auto& id : by_use_) {
        const auto& each = sessions_.find(id)->second;
        if (each.used >= before || idle.size() == most_swept) {
            break;
        }
        if (each.is_idle()) {
            idle.push_back(id);
        }
    }
    std::ranges::for_each(idle, [this](const auto& each) { drop(each); });
    set_due(loop_.now() + (idle.size() == most_swept ? sweep_pause : sweep_every));
}

// Nothing is sent any more: the workers, who would send it, end too. Programs end by themselves.
void bundle_sessions::stop()
{
    stopped_ = true;
    set_due(net::never);
    sessions_.clear();
    by_use_.clear();
}

}  // namespace gateway::bundles
