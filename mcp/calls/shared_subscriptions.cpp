#include "mcp/calls/shared_subscriptions.hpp"

#include <utility>

namespace mcp {
namespace {

using core::errc;

constexpr unsigned most_parents = 64;  // of a resource that was updated

}  // namespace

core::result<shared_subscriptions::outcome>
shared_subscriptions::subscribe(const subscriber& who, std::string_view uri, ticket request)
{
    if (uri.empty() || uri.size() > longest_uri) {
        return core::caller_error(errc::invalid_params, "a subscription without a URI, or with one that is too long");
    }
    if (!has_room(who, uri)) {
        return core::gateway_error(errc::overloaded, "too many resources are subscribed to");
    }
    return put(who, uri, request, true);
}

bool shared_subscriptions::has_room(const subscriber& who, std::string_view uri) const
{
    const auto of_client = clients_.find(who.number);
    if (of_client != clients_.end() && of_client->second.in.contains(uri)) {
        return true;
    }
    const auto count = of_client == clients_.end() ? 0 : of_client->second.in.size();
    const auto of_principal = who.principal.empty() ? of_principals_.end() : of_principals_.find(who.principal);
    const auto of_all_its = of_principal == of_principals_.end() ? 0 : of_principal->second;
    return count < most_of_one && of_all_its < most_of_principal && held_ < most;
}

shared_subscriptions::outcome
shared_subscriptions::unsubscribe(const subscriber& who, std::string_view uri, ticket request)
{
    if (!resources_.contains(uri)) {
        return {.ask = {}, .done = {request}, .carried = {}};
    }
    return put(who, uri, request, false);
}

shared_subscriptions::outcome
shared_subscriptions::put(const subscriber& who, std::string_view uri, ticket request, bool subscribes)
{
    const auto at = resources_.try_emplace(std::string{uri}).first;
    at->second.requests.push_back({who.number, request, subscribes});
    clients_.try_emplace(who.number, named{std::string{who.principal}});
    name(at, who.number);
    outcome out;
    advance(at, out);
    return out;
}

// Until the server has to be asked, or nothing is left to do.
void shared_subscriptions::advance(resources::iterator at, outcome& out)
{
    auto& of = at->second;
    while (of.under_way == asked::nothing && !of.requests.empty()) {
        if (carry_out_here(at, out)) {
            continue;
        }
        const bool subscribes = of.requests.front().subscribes;
        of.under_way = subscribes ? asked::subscribe : asked::unsubscribe;
        of.carries = true;
        out.ask = {subscribes, at->first};
    }
    if (of.under_way != asked::nothing || !of.clients.empty()) {
        return;
    }
    if (of.stands) {
        of.under_way = asked::unsubscribe;
        of.carries = false;
        out.ask = {false, at->first};
        return;
    }
    lapsed_.erase(at->first);
    resources_.erase(at);
}

// The first request, if the server need not hear of it.
bool shared_subscriptions::carry_out_here(resources::iterator at, outcome& out)
{
    auto& of = at->second;
    const auto first = of.requests.front();
    const bool last = of.clients.size() == 1 && of.clients.contains(first.client);
    const bool of_nobody = first.client == 0;
    const bool here = of_nobody || (first.subscribes ? of.stands : !last || !of.stands);
    if (!here) {
        return false;
    }
    of.requests.pop_front();
    if (of_nobody) {
        return true;
    }
    first.subscribes ? subscribe(at, first.client) : unsubscribe(at, first.client);
    forget(at, first.client);
    out.done.push_back(first.request);
    return true;
}

shared_subscriptions::outcome shared_subscriptions::answered(std::string_view uri, bool success)
{
    outcome out;
    const auto at = resources_.find(uri);
    if (at == resources_.end() || at->second.under_way == asked::nothing) {
        return out;
    }
    auto& of = at->second;
    const bool subscribed = std::exchange(of.under_way, asked::nothing) == asked::subscribe;
    of.stands = subscribed && success;
    if (of.carries) {
        end_first(at, success, out);
    } else if (subscribed && !success) {
        for (const auto client : std::set{of.clients}) {
            unsubscribe(at, client);
        }
    }
    if (!of.stands && !of.clients.empty()) {
        lapsed_.insert(at->first);
    }
    advance(at, out);
    return out;
}

void shared_subscriptions::end_first(resources::iterator at, bool success, outcome& out)
{
    auto& of = at->second;
    const auto first = of.requests.front();
    of.requests.pop_front();
    if (first.client == 0) {
        return;
    }
    if (!first.subscribes) {
        unsubscribe(at, first.client);
    } else if (success) {
        subscribe(at, first.client);
    }
    forget(at, first.client);
    out.carried = first.request;
}

std::vector<shared_subscriptions::outcome> shared_subscriptions::leave(client_number client)
{
    std::vector<outcome> all;
    const auto of_client = clients_.find(client);
    if (of_client == clients_.end()) {
        return all;
    }
    std::vector<std::string> uris;
    for (const auto& [uri, count] : of_client->second.in) {
        uris.emplace_back(uri);
    }
    for (const auto& uri : uris) {
        const auto at = resources_.find(uri);
        for (auto& each : at->second.requests) {
            if (each.client == client) {
                forget(at, client);
                each.client = 0;
            }
        }
        unsubscribe(at, client);
        outcome out;
        advance(at, out);
        all.push_back(std::move(out));
    }
    return all;
}

std::vector<shared_subscriptions::ticket> shared_subscriptions::lose()
{
    std::vector<ticket> failed;
    for (auto at = resources_.begin(); at != resources_.end();) {
        auto& of = at->second;
        for (const auto& each : std::exchange(of.requests, {})) {
            if (each.client != 0) {
                forget(at, each.client);
                failed.push_back(each.request);
            }
        }
        of.under_way = asked::nothing;
        of.stands = false;
        if (of.clients.empty()) {
            at = resources_.erase(at);
        } else {
            lapsed_.insert(at->first);
            ++at;
        }
    }
    return failed;
}

std::optional<shared_subscriptions::question> shared_subscriptions::restore()
{
    while (!lapsed_.empty()) {
        const auto uri = lapsed_.extract(lapsed_.begin()).value();
        const auto at = resources_.find(uri);
        if (at == resources_.end() || at->second.stands || at->second.under_way != asked::nothing) {
            continue;
        }
        at->second.under_way = asked::subscribe;
        at->second.carries = false;
        return question{true, uri};
    }
    return std::nullopt;
}

void shared_subscriptions::keep_lapsed(const std::string& uri)
{
    const auto at = resources_.find(uri);
    if (at != resources_.end()) {
        at->second.under_way = asked::nothing;
        lapsed_.insert(uri);
    }
}

void shared_subscriptions::each_subscriber(
    std::string_view updated,
    const std::function<void(client_number client, const std::string& uri)>& tell
) const
{
    std::set<client_number> told;
    const auto tell_those_of = [&](std::string_view uri) {
        const auto found = resources_.find(uri);
        if (found == resources_.end()) {
            return;
        }
        for (const auto client : found->second.clients) {
            if (told.insert(client).second) {
                tell(client, found->first);
            }
        }
    };
    tell_those_of(updated);
    unsigned parents = 0;
    for (auto at = updated.find_last_of("/?#"); at != updated.npos && at > 0 && parents < most_parents; ++parents) {
        tell_those_of(updated.substr(0, at + 1));
        tell_those_of(updated.substr(0, at));
        at = updated.find_last_of("/?#", at - 1);
    }
}

void shared_subscriptions::subscribe(resources::iterator to, client_number client)
{
    if (to->second.clients.insert(client).second) {
        name(to, client);
    }
}

void shared_subscriptions::unsubscribe(resources::iterator from, client_number client)
{
    if (from->second.clients.erase(client) > 0) {
        forget(from, client);
    }
}

void shared_subscriptions::name(resources::iterator in, client_number client)
{
    auto& named = clients_.find(client)->second;
    if (++named.in[in->first] == 1) {
        ++held_;
        ++of_principals_[named.principal];
    }
}

void shared_subscriptions::forget(resources::iterator in, client_number client)
{
    const auto of_client = clients_.find(client);
    auto& named = of_client->second;
    const auto found = named.in.find(in->first);
    if (--found->second > 0) {
        return;
    }
    --held_;
    const auto of_principal = of_principals_.find(named.principal);
    if (--of_principal->second == 0) {
        of_principals_.erase(of_principal);
    }
    named.in.erase(found);
    if (named.in.empty()) {
        clients_.erase(of_client);
    }
}

}  // namespace mcp
