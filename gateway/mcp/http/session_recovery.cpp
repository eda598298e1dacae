#include "gateway/mcp/http/session_recovery.hpp"

#include "core/ascii.hpp"
#include "core/json/json.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/server_facts.hpp"

#include <algorithm>
#include <utility>

namespace gateway::mcp::http {
namespace {

using core::errc;

std::string request_text(std::uint64_t id, std::string_view method, std::string_view params)
{
    auto text = R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")";
    text.append(method).append(R"(","params":)").append(params) += '}';
    return text;
}

std::string initialize_params(const session_recovery::terms& of)
{
    auto text = std::string{R"({"protocolVersion":")"}.append(of.version) + R"(","capabilities":)";
    text += ::mcp::capabilities_text(of.declared, of.further) + R"(,"clientInfo":{"name":)";
    core::append_json_string(text, of.client.name);
    text += R"(,"version":)";
    core::append_json_string(text, of.client.version);
    return text + "}}";
}

}  // namespace

bool recovery_turns::push(const attempt& added)
{
    const auto& agent = added->call.agent->record.id;
    auto& its = agents_[agent];
    auto share = core::all_shares().take(
        core::place_shares::of_object(&turns_, agent),
        added->call.whose,
        core::half_of(most_waiting)
    );
    if (!share || its.waiting.size() >= most_waiting) {
        return false;
    }
    added->place = std::move(*share);
    if (its.waiting.empty()) {
        turns_.push_back(agent);
    }
    its.waiting.push_back(added);
    return true;
}

recovery_turns::attempt recovery_turns::next()
{
    if (running_ >= most_running) {
        return nullptr;
    }
    std::list<attempt>::iterator first;
    const auto turn = std::ranges::find_if(turns_, [&](const std::string& agent) {
        auto& its = agents_.find(agent)->second;
        if (its.running.size() >= most_of_agent) {
            return false;
        }
        first = std::ranges::find_if(its.waiting, [this](const attempt& each) { return may_begin(*each); });
        return first != its.waiting.end();
    });
    if (turn == turns_.end()) {
        return nullptr;
    }
    auto& its = agents_.find(*turn)->second;
    its.running.splice(its.running.end(), its.waiting, first);
    if (its.waiting.empty()) {
        turns_.erase(turn);
    } else {
        turns_.splice(turns_.end(), turns_, turn);
    }
    ++running_;
    return its.running.back();
}

// With its shares, if its principal has less than half of what is under way.
bool recovery_turns::may_begin(session_attempt& waiting) const
{
    auto& all = core::all_shares();
    const auto whose = waiting.call.whose;
    const auto of_agent = core::place_shares::of_object(this, waiting.call.agent->record.id);
    auto place = all.take(of_agent, whose, core::half_of(most_of_agent));
    auto of_all = all.take(core::place_shares::of_object(this), whose, core::half_of(most_running));
    if (!place || !of_all) {
        return false;
    }
    waiting.place = std::move(*place);
    waiting.of_all = std::move(*of_all);
    return true;
}

void recovery_turns::remove(const attempt& ended)
{
    ended->place.give_back();
    ended->of_all.give_back();
    const auto found = agents_.find(ended->call.agent->record.id);
    if (found == agents_.end()) {
        return;
    }
    auto& its = found->second;
    running_ -= its.running.remove(ended);
    if (its.waiting.remove(ended) > 0 && its.waiting.empty()) {
        turns_.remove(found->first);
    }
    if (its.running.empty() && its.waiting.empty()) {
        agents_.erase(found);
    }
}

std::vector<recovery_turns::attempt> recovery_turns::take(const std::string& agent)
{
    const auto found = agents_.find(agent);
    if (found == agents_.end()) {
        return {};
    }
    auto its = std::move(found->second);
    agents_.erase(found);
    turns_.remove(agent);
    running_ -= its.running.size();
    std::vector<attempt> all{its.running.begin(), its.running.end()};
    all.insert(all.end(), its.waiting.begin(), its.waiting.end());
    return all;
}

std::vector<recovery_turns::attempt> recovery_turns::take_all()
{
    std::vector<attempt> all;
    while (!agents_.empty()) {
        const auto agent = agents_.begin()->first;
        auto its = take(agent);
        all.insert(all.end(), its.begin(), its.end());
    }
    return all;
}

session_recovery::session_recovery(
    net::loop& on,
    net::exchange_client& client,
    std::shared_ptr<const ::mcp::http_settings> settings,
    terms of,
    function done
)
    : settings_{std::move(settings)},
      wire_{on, client, *settings_},
      terms_{std::move(of)},
      done_{std::move(done)},
      deadline_{on.io()}
{
}

void session_recovery::begin()
{
    const auto id = ++last_id_;
    send({request_text(id, "initialize", initialize_params(terms_)), id, "initialize"});
}

void session_recovery::send(::mcp::outgoing message)
{
    ::mcp::http_post_owner& owner = *this;
    const bool first = message.method == "initialize";
    post_ = std::make_unique<::mcp::http_post>(wire_, owner, std::move(message), first);
    post_->begin();
}

// Only the answer to `initialize` is read; it comes before settled().
void session_recovery::take(std::string_view text)
{
    const auto read = ::mcp::read_message(text, {.bytes = ::mcp::longest_handshake});
    if (spoken_.empty() && read && read->answered() == last_id_) {
        const auto result = ::mcp::members_of(read->kind == ::mcp::message_kind::result ? read->result : "{}");
        spoken_ = result.text("protocolVersion");
        announced_ = ::mcp::announced_lists(result.object("capabilities"));
        era_refused_ = spoken_.empty() ? ::mcp::says_modern_only(text) : ::mcp::era_of(spoken_) != ::mcp::era::legacy;
    }
}

void session_recovery::settled(::mcp::http_post& post)
{
    if (post.method() != "initialize") {
        return next();
    }
    const bool fits = terms_.agreed ? spoken_ == terms_.version : ::mcp::era_of(spoken_) == ::mcp::era::legacy;
    if (!fits) {
        era_refused_ = era_refused_ || post.refused_initialize();
        // The client has agreed to something else, and hears of it when it begins again.
        return end(core::upstream_error(errc::session_not_found, "the server speaks another version now"));
    }
    wire_.speaks = ::mcp::dialect{spoken_, terms_.client};
    limit_telling();
    send({::mcp::initialized_notification(), 0, "notifications/initialized"});
}

void session_recovery::limit_telling()
{
    deadline_.expires_after(terms_.longest_telling);
    deadline_.async_wait([this, alive = std::weak_ptr{alive_}](net::error_code cancelled) {
        if (!cancelled && !alive.expired()) {
            end(begun());
        }
    });
}

void session_recovery::next()
{
    if (told_ == terms_.requests.size()) {
        return end(begun());
    }
    const auto& [method, params] = terms_.requests[told_++];
    const auto id = ++last_id_;
    send({request_text(id, method, params), id, method});
}

// A server that rejects a repeated request does without; one that does not answer is not asked for the rest.
void session_recovery::over(::mcp::http_post& post, std::optional<core::error> why, std::optional<::mcp::era> /*says*/)
{
    if (!why) {
        return;
    }
    if (post.method() == "initialize") {
        era_refused_ = post.refused_initialize();
        return end(std::move(*why));
    }
    if (why->code == errc::upstream_timeout) {
        told_ = terms_.requests.size();
    }
    next();
}

void session_recovery::forgotten()
{
    end(core::upstream_error(errc::session_not_found, "the server has lost the new session too"));
}

void session_recovery::end(core::result<::mcp::upstream_session> outcome)
{
    alive_.reset();
    const auto done = std::move(done_);
    done(std::move(outcome));
}

}  // namespace gateway::mcp::http
