#include "gateway/telemetry/worker_metrics.hpp"

#include "gateway/telemetry/mcp_counters.hpp"

#include <algorithm>
#include <utility>

namespace gateway::telemetry {

void key_uses::note(const model::used_key& key, core::wall_time now)
{
    const auto [place, is_new] = latest_.try_emplace(key, now);
    place->second = std::max(place->second, now);
    if (is_new && latest_.size() > most) {
        const auto later = [](const auto& a, const auto& b) { return a.second < b.second; };
        latest_.erase(std::ranges::min_element(latest_, later));
    }
}

void key_uses::merge(const key_uses& other)
{
    for (const auto& [key, time] : other.latest_) {
        note(key, time);
    }
}

namespace {

constexpr std::array<std::string_view, http_counters::methods>
    method_labels{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other", "none"};

constexpr std::size_t other_method = 7;
constexpr std::size_t no_method = 8;

constexpr std::array<std::string_view, http_counters::statuses> status_labels{
    "100", "101", "102", "103", "200", "201", "202", "203", "204", "205", "206", "207", "208", "226", "300", "301",
    "302", "303", "304", "305", "307", "308", "400", "401", "402", "403", "404", "405", "406", "407", "408", "409",
    "410", "411", "412", "413", "414", "415", "416", "417", "418", "421", "422", "423", "424", "425", "426", "428",
    "429", "431", "451", "499", "500", "501", "502", "503", "504", "505", "506", "507", "508", "510", "511", "other"
};

constexpr std::uint8_t other_status = http_counters::statuses - 1;
constexpr unsigned first_status = 100;
constexpr unsigned last_status = 599;

consteval auto index_statuses()
{
    std::array<std::uint8_t, last_status - first_status + 1> index{};
    index.fill(other_status);
    for (std::uint8_t i = 0; i < other_status; ++i) {
        const auto label = status_labels[i];
        const auto status = static_cast<unsigned>((label[0] - '0') * 100 + (label[1] - '0') * 10 + (label[2] - '0'));
        index[status - first_status] = i;
    }
    return index;
}

constexpr auto status_index = index_statuses();

std::size_t index_of_status(unsigned status) noexcept
{
    return status < first_status || status > last_status ? other_status : status_index[status - first_status];
}

std::size_t index_of_method(std::string_view method) noexcept
{
    if (method.empty()) {
        return no_method;
    }
    for (std::size_t i = 0; i < other_method; ++i) {
        if (method_labels[i] == method) {
            return i;
        }
    }
    return other_method;
}

std::size_t index_of(model::route where, std::size_t method, std::size_t status) noexcept
{
    return (static_cast<std::size_t>(where) * http_counters::methods + method) * http_counters::statuses + status;
}

}  // namespace

std::string_view name(tls_handshake how) noexcept
{
    switch (how) {
        case tls_handshake::complete:
            return "complete";
        case tls_handshake::resumed:
            return "resumed";
        case tls_handshake::failed:
            return "failed";
    }
    return "failed";
}

std::string_view name(shed_reason why) noexcept
{
    switch (why) {
        case shed_reason::overload:
            return "overload";
        case shed_reason::queue_full:
            return "queue_full";
        case shed_reason::queue_share:
            return "queue_share";
        case shed_reason::queue_timeout:
            return "queue_timeout";
        case shed_reason::streams:
            return "streams";
        case shed_reason::stream_share:
            return "stream_share";
    }
    return "overload";
}

std::string_view name(call_outcome o) noexcept
{
    switch (o) {
        case call_outcome::ok:
            return "ok";
        case call_outcome::caller_error:
            return "caller_error";
        case call_outcome::upstream_error:
            return "upstream_error";
        case call_outcome::gateway_error:
            return "gateway_error";
    }
    return "gateway_error";
}

call_outcome outcome_of(const model::request_record& record) noexcept
{
    const auto status = model::counted_status(record);
    if (record.code) {
        switch (record.from) {
            case core::side::caller:
                return call_outcome::caller_error;
            case core::side::upstream:
                return call_outcome::upstream_error;
            case core::side::gateway:
                return call_outcome::gateway_error;
        }
    }
    if (record.stream == model::stream_end::upstream || record.stream == model::stream_end::idle || status >= 500) {
        return call_outcome::upstream_error;
    }
    if (status >= 400) {
        return call_outcome::caller_error;
    }
    return status >= first_status ? call_outcome::ok : call_outcome::gateway_error;
}

void histogram::observe(std::chrono::nanoseconds value) noexcept
{
    const auto bound = std::ranges::lower_bound(histogram_bounds, value);
    if (bound != histogram_bounds.end()) {
        ++buckets[static_cast<std::size_t>(bound - histogram_bounds.begin())];
    }
    ++count;
    sum += value;
}

void histogram::merge(const histogram& other) noexcept
{
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        buckets[i] += other.buckets[i];
    }
    count += other.count;
    sum += other.sum;
}

void http_counters::add(model::route where, std::string_view method, unsigned status) noexcept
{
    ++values_[index_of(where, index_of_method(method), index_of_status(status))];
}

void http_counters::merge(const http_counters& other) noexcept
{
    for (std::size_t i = 0; i < values_.size(); ++i) {
        values_[i] += other.values_[i];
    }
}

void http_counters::visit(
    const std::function<void(model::route, std::string_view method, std::string_view status, std::uint64_t)>& take
) const
{
    for (std::size_t i = 0; i < values_.size(); ++i) {
        if (values_[i] > 0) {
            const auto where = static_cast<model::route>(i / (methods * statuses));
            take(where, method_labels[i / statuses % methods], status_labels[i % statuses], values_[i]);
        }
    }
}

void loop_totals::merge(const loop_totals& other)
{
    http.merge(other.http);
    handshakes.merge(other.handshakes);
    http2.callers.merge(other.http2.callers);
    http2.agents.merge(other.http2.agents);
    for (const auto& [provider, counters] : other.access) {
        access[provider].merge(counters);
    }
    keys.merge(other.keys);
    denied.merge(other.denied);
    retries.merge(other.retries);
    forwarded.merge(other.forwarded);
    sessions_ended.merge(other.sessions_ended);
    limited.merge(other.limited);
    for (const auto& [key, n] : other.bundles) {
        bundles[key] += n;
    }
    for (const auto& [key, n] : other.searches) {
        searches[key] += n;
    }
    request_bytes.merge(other.request_bytes);
    response_bytes.merge(other.response_bytes);
    for (std::size_t i = 0; i < durations.size(); ++i) {
        durations[i].merge(other.durations[i]);
    }
    shed.merge(other.shed);
    queue.merge(other.queue);
    in_flight += other.in_flight;
    agents += other.agents;
}

void worker_metrics::count(const model::request_record& record, agent_counters* known)
{
    totals_.http.add(record.where, record.http_method, record.status);
    totals_.request_bytes.add(record.where, record.bytes_in);
    totals_.response_bytes.add(record.where, record.bytes_out);
    if (!record.stream && !::mcp::stays_open(record.mcp_method.value_or(::mcp::client_method::other))) {
        totals_.durations[static_cast<std::size_t>(record.where)].observe(record.total);
    }
    count_access(record);
    for (std::size_t i = 0; record.sent.attempts > 1 && i < model::retry_reasons; ++i) {
        totals_.retries.add(static_cast<model::retry_reason>(i), record.sent.retries[i]);
    }
    if (record.denied) {
        totals_.denied.add(*record.denied);
    }
    if (record.over) {
        totals_.limited.add(*record.over);
    }
    if (record.forwarded) {
        totals_.forwarded.add(*record.forwarded);
    }
    if (record.session_ended) {
        totals_.sessions_ended.add(*record.session_ended);
    }
    if (!record.replica.empty()) {
        return;  // the call counts where its session is
    }
    if (record.where == model::route::bundle && record.mcp_method && !record.bundle.empty()) {
        ++totals_.bundles[{std::string{record.bundle}, method_label(*record.mcp_method), outcome_of(record)}];
    }
    if (record.agent.empty()) {
        return;
    }
    auto& counters = known != nullptr ? *known : find_or_add(record.agent);
    counters.count(record);
    if (counters.forgotten_ && !counters.streaming()) {
        erase(agents_.find(record.agent));
    }
}

// The providers are those of the configuration, so that there are few.
void worker_metrics::count_access(const model::request_record& record)
{
    if (!record.access) {
        return;
    }
    const auto provider = record.provider.empty() ? std::string_view{"none"} : record.provider;
    auto found = totals_.access.find(provider);
    if (found == totals_.access.end()) {
        found = totals_.access.emplace(provider, access_counters{}).first;
    }
    found->second.add(*record.access);
}

void worker_metrics::stream_started(std::string_view agent_id)
{
    find_or_add(agent_id).stream_started();
}

void worker_metrics::count_task_state(std::string_view agent_id, ::a2a::task_state state)
{
    find_or_add(agent_id).count_task_state(state);
}

agent_counters& worker_metrics::agent(std::string_view id)
{
    remember(id);
    return find_or_add(id);
}

void worker_metrics::remember(std::string_view id)
{
    const auto found = agents_.find(id);
    if (found != agents_.end() && std::exchange(found->second.forgotten_, false)) {
        lingering_.erase(found->first);
    }
}

agent_counters& worker_metrics::find_or_add(std::string_view id)
{
    const auto found = agents_.find(id);
    if (found != agents_.end()) {
        return found->second;
    }
    ++totals_.agents;
    return agents_.try_emplace(std::string{id}).first->second;
}

const agent_counters* worker_metrics::find(std::string_view id) const
{
    const auto found = agents_.find(id);
    return found == agents_.end() ? nullptr : &found->second;
}

void worker_metrics::linger(std::string_view id, agent_counters& counters)
{
    counters.forgotten_ = true;
    lingering_.emplace(id);
}

worker_metrics::agent_map::iterator worker_metrics::erase(agent_map::iterator position)
{
    if (position->second.forgotten_) {
        lingering_.erase(position->first);
    }
    --totals_.agents;
    return agents_.erase(position);
}

void worker_metrics::forget(std::string_view id)
{
    const auto found = agents_.find(id);
    if (found == agents_.end()) {
        return;
    }
    if (found->second.streaming()) {
        linger(id, found->second);
    } else {
        erase(found);
    }
}

void worker_metrics::forget_unless(const std::function<bool(std::string_view id)>& exists)
{
    for (auto at = agents_.begin(); at != agents_.end();) {
        if (exists(at->first)) {
            remember(at->first);
            ++at;
        } else if (at->second.streaming()) {
            linger(at->first, at->second);
            ++at;
        } else {
            at = erase(at);
        }
    }
}

}  // namespace gateway::telemetry
