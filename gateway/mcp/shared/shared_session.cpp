#include "gateway/mcp/shared/shared_session.hpp"

#include "gateway/mcp/shared/shared_calls.hpp"
#include "gateway/mcp/shared/shared_sessions.hpp"
#include "mcp/protocol/raw_json.hpp"
#include "mcp/protocol/version.hpp"
#include "mcp/translation/list_subscription.hpp"
#include "mcp/translation/modern_messages.hpp"

#include <numeric>
#include <utility>

namespace gateway::mcp::shared {
namespace {

std::string extensions_of(std::string_view raw)
{
    const auto all = ::mcp::members_of(raw);
    std::string kept = "{";
    for (const auto& each : all.members()) {
        if (each.name != "io.modelcontextprotocol/tasks") {
            ::mcp::append_member(kept, each.name, each.value);
        }
    }
    ::mcp::close(kept, '}');
    return kept;
}

// Without tasks of either era.
std::string capabilities_of(const ::mcp::server_facts& server)
{
    const auto all = ::mcp::members_of(server.capabilities);
    std::string kept = "{";
    for (const auto& each : all.members()) {
        if (each.name == "extensions") {
            ::mcp::append_member(kept, each.name, extensions_of(each.value));
        } else if (each.name != "tasks") {
            ::mcp::append_member(kept, each.name, each.value);
        }
    }
    ::mcp::close(kept, '}');
    return kept;
}

}  // namespace

std::string_view common_version(std::string_view asked, std::string_view spoken) noexcept
{
    const bool older = asked < spoken;  // they are dates
    return ::mcp::era_of(asked) == ::mcp::era::legacy && older ? asked : spoken;
}

std::string initialize_answer(std::string_view id, std::string_view version, const ::mcp::server_facts& server)
{
    std::string result = "{";
    ::mcp::append_text_member(result, "protocolVersion", version);
    ::mcp::append_member(result, "capabilities", capabilities_of(server));
    ::mcp::append_member(result, "serverInfo", server.info);
    if (!server.instructions.empty()) {
        ::mcp::append_text_member(result, "instructions", server.instructions);
    }
    ::mcp::close(result, '}');
    return ::mcp::answer_text(id, "result", result);
}

std::string discover_answer(std::string_view id, const ::mcp::server_facts& server)
{
    std::string versions = "[";
    for (const auto each : ::mcp::modern_versions) {
        versions.append(1, '"').append(each).append("\",");
    }
    ::mcp::close(versions, ']');
    std::string meta = "{";
    ::mcp::append_member(meta, "io.modelcontextprotocol/serverInfo", server.info);
    ::mcp::close(meta, '}');
    std::string result = "{";
    ::mcp::append_member(result, "supportedVersions", versions);
    ::mcp::append_member(result, "capabilities", capabilities_of(server));
    if (!server.instructions.empty()) {
        ::mcp::append_text_member(result, "instructions", server.instructions);
    }
    ::mcp::append_member(result, "_meta", meta);
    ::mcp::close(result, '}');
    return ::mcp::modern_answer(::mcp::client_method::discover, ::mcp::answer_text(id, "result", result));
}

std::optional<std::string> answer_here(const ::mcp::client_message& request)
{
    if (request.method == "ping" || request.method == "logging/setLevel") {
        return ::mcp::empty_answer(request.id);
    }
    if (request.method.starts_with("tasks/")) {
        return ::mcp::error_answer(request.id, ::mcp::method_not_found, "A shared session has no tasks");
    }
    return std::nullopt;
}

using core::errc;

shared_session::shared_session(
    table::session_table& in,
    table::session_name name,
    const shared_sessions& owner,
    shared_calls& calls,
    std::string version
)
    : table::caller_session{in, std::move(name)},
      owner_{owner},
      calls_{calls},
      version_{std::move(version)},
      number_{calls.join(*this)},
      unasked_{executor()}
{
}

core::result<std::shared_ptr<table::text_queue>> shared_session::request(const ::mcp::client_message& request)
{
    if (auto here = answer_here(request)) {
        return table::answered(executor(), std::move(*here));
    }
    const auto server = owner_.server_of(agent().record.id, ::mcp::era::legacy);
    const bool other_era = !server && server.error().code == errc::version_unsupported;
    if (!server && !other_era) {
        return server.error();
    }
    // The client begins again, and is translated if it has to be.
    if (other_era || (*server)->protocol_version < version_) {
        auto why = core::caller_error(errc::session_not_found);
        end(model::session_end::lost, why);
        return why;
    }
    if (request.method == "resources/unsubscribe") {
        updated_.erase(::mcp::members_of(request.params).text("uri"));
    }
    auto own = request;
    own.client = number_;
    own.principal = name().principal;
    return calls_.request(own, /*cancels_if_left=*/false);
}

core::result<> shared_session::tell(const ::mcp::client_message& message)
{
    if (message.method == "notifications/cancelled") {
        auto own = message;
        own.client = number_;
        calls_.cancel(own);
    }
    return {};
}

bool shared_session::busy() const
{
    return calls_.is_busy(number_);
}

bool shared_session::subscribes() const noexcept
{
    return calls_.subscribes(number_);
}

void shared_session::close(const core::error& error)
{
    calls_.leave(number_, error);
    unasked_.close();
}

std::shared_ptr<table::text_queue> shared_session::listen()
{
    auto listener = unasked_.listen();
    catch_up();
    return listener;
}

void shared_session::list_changed(const ::mcp::list_set& lists)
{
    changed_ |= lists;
    catch_up();
}

void shared_session::sweep(core::steady_time /*now*/)
{
    told_.clear();
    catch_up();
}

// More than there is room for would push out what the client has not read.
void shared_session::catch_up()
{
    auto changes = ::mcp::changed_texts({}, changed_);
    const auto add_size = [](std::size_t sum, const std::string& each) { return sum + each.size(); };
    const auto bytes = std::accumulate(changes.begin(), changes.end(), std::size_t{0}, add_size);
    if (!unasked_.has_room(bytes, changes.size())) {
        return;
    }
    changed_.reset();
    for (auto& each : changes) {
        tell(std::move(each));
    }
    while (!updated_.empty()) {
        auto text = ::mcp::resource_updated(*updated_.begin());
        if (!unasked_.has_room(text.size())) {
            return;
        }
        tell(std::move(text));
        updated_.erase(updated_.begin());
    }
}

void shared_session::updated(const std::string& uri, std::string_view text)
{
    if (unasked_.listened_to() && !told_.contains(uri)) {
        auto told = text.size() <= longest_text ? std::string{text} : ::mcp::resource_updated(uri);
        if (unasked_.has_room(told.size())) {
            told_.insert(uri);
            return tell(std::move(told));
        }
    }
    if (updated_.size() < most_updated) {
        updated_.insert(uri);
    }
}

// Somebody listens.
void shared_session::tell(std::string text)
{
    unasked_.push(std::move(text), table::text_kind::notification, core::steady_time{});
}

}  // namespace gateway::mcp::shared
