#include "gateway/management/call_edges.hpp"

#include "core/json/json.hpp"
#include "gateway/management/json_records.hpp"
#include "gateway/management/read_methods.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

namespace gateway::management {
namespace {

using core::json;

// An edge takes a node of the list and one of the map with its bucket, and the allocator's own words for these and for the name.
constexpr std::size_t size_of_edge = sizeof(call_edges::edge) + sizeof(std::string_view) + 12 * sizeof(void*);

// No provider and no agent has a line feed in its name.
std::string name_of(std::string_view provider, std::string_view agent, std::string_view principal)
{
    std::string name;
    name.reserve(provider.size() + agent.size() + principal.size() + 2);
    name.append(provider).append(1, '\n').append(agent).append(1, '\n').append(principal);
    return name;
}

std::size_t size_of(const call_edges::edge& each) noexcept
{
    return size_of_edge + each.name.capacity();
}

constexpr std::array<std::string_view, 4> orders{"calls", "failed", "refused", "last"};

constexpr std::size_t most_limit = 1000;

std::string read_name(const json& params, std::string_view key, std::vector<config::problem>& problems)
{
    const auto* const value = core::member(params, key);
    if (value == nullptr || value->is_null()) {
        return {};
    }
    if (!value->is_string() || value->get_ref<const std::string&>().empty()) {
        problems.push_back({{}, 1, 1, std::string{key}, "is not text; expected a name"});
        return {};
    }
    return value->get<std::string>();
}

edge_wishes read_edge_wishes(const json& params, std::vector<config::problem>& problems)
{
    edge_wishes out{
        .principal = read_name(params, "principal", problems),
        .agent = read_name(params, "agent", problems)
    };
    if (const auto asked = read_name(params, "sort", problems); !asked.empty()) {
        const auto* const found = std::ranges::find(orders, asked);
        if (found == orders.end()) {
            problems.push_back({{}, 1, 1, "sort", "is not an order; expected calls, failed, refused or last"});
        } else {
            out.order = *found;
        }
    }
    const auto* const limit = core::member(params, "limit");
    if (limit != nullptr && !limit->is_null()) {
        const bool fits = limit->is_number_unsigned() && *limit >= 1 && *limit <= most_limit;
        if (fits) {
            out.limit = limit->get<std::size_t>();
        } else {
            problems.push_back({{}, 1, 1, "limit", "is not a limit; expected a whole number, 1 to 1000"});
        }
    }
    return out;
}

std::uint64_t rank_of(const call_edges::edge& each, std::string_view order) noexcept
{
    if (order == "calls") {
        return each.calls;
    }
    return order == "failed" ? each.failed : order == "refused" ? each.refused : 0;
}

using agents_by_principal = std::map<core::principal_name, std::string>;

json edge_record(const call_edges::edge& each, const agents_by_principal& agents)
{
    core::principal_name principal{std::string{each.provider()}, std::string{each.principal()}};
    const auto caller = agents.find(principal);
    json out{
        {"provider", principal.provider},
        {"principal", principal.principal},
        {"agent", each.agent()},
        {"calls", each.calls},
        {"failed", each.failed},
        {"refused", each.refused},
        {"last", shown_time(each.last)}
    };
    if (caller != agents.end()) {
        out["caller"] = caller->second;
    }
    return out;
}

}  // namespace

std::string_view call_edges::edge::provider() const noexcept
{
    const std::string_view all = name;
    return all.substr(0, all.find('\n'));
}

std::string_view call_edges::edge::agent() const noexcept
{
    const std::string_view rest = std::string_view{name}.substr(name.find('\n') + 1);
    return rest.substr(0, rest.find('\n'));
}

std::string_view call_edges::edge::principal() const noexcept
{
    return std::string_view{name}.substr(name.find('\n', name.find('\n') + 1) + 1);
}

void call_edges::add(const std::vector<model::call_note>& notes, core::wall_time now)
{
    for (const auto& note : notes) {
        for (const auto& each : note.callers) {
            add_one(name_of(each.provider, note.agent, each.principal), each.numbers, now);
        }
    }
}

void call_edges::add_one(std::string name, const model::edge_numbers& numbers, core::wall_time now)
{
    const auto known = places_.find(name);
    if (known != places_.end()) {
        edges_.splice(edges_.begin(), edges_, known->second);
    } else {
        edges_.push_front({.name = std::move(name)});
        places_.emplace(edges_.front().name, edges_.begin());
        bytes_ += size_of(edges_.front());
    }
    auto& of = edges_.front();
    of.calls += numbers.calls;
    of.failed += numbers.failed;
    of.refused += numbers.refused;
    of.last = now;
    while (edges_.size() > most || (bytes_ > most_bytes && edges_.size() > 1)) {
        forget_last();
    }
}

void call_edges::forget_last()
{
    bytes_ -= size_of(edges_.back());
    places_.erase(edges_.back().name);
    edges_.pop_back();
}

// Copies, since others change while the answer is built in turns.
edge_methods::choice edge_methods::chosen(const edge_wishes& wishes) const
{
    std::vector<const call_edges::edge*> found;
    for (const auto& each : edges_.all()) {
        const bool wanted = (wishes.agent.empty() || each.agent() == wishes.agent) &&
                            (wishes.principal.empty() || each.principal() == wishes.principal);
        if (wanted && agents_.find(each.agent()) != nullptr) {
            found.push_back(&each);
        }
    }
    const auto end = found.begin() + static_cast<std::ptrdiff_t>(std::min(wishes.limit, found.size()));
    std::ranges::partial_sort(found, end, [&](const auto* one, const auto* other) {
        return std::tuple{rank_of(*one, wishes.order), one->last, std::string_view{other->name}} >
               std::tuple{rank_of(*other, wishes.order), other->last, std::string_view{one->name}};
    });
    choice out{{}, found.size()};
    std::transform(found.begin(), end, std::back_inserter(out.edges), [](const auto* each) { return *each; });
    return out;
}

net::task<rpc_result> edge_methods::edges(core::rpc_request request, const rpc_caller& caller, answer_builder& answer)
    const
{
    std::vector<config::problem> problems;
    const auto wishes = read_edge_wishes(request.params, problems);
    if (!problems.empty()) {
        co_return refuse_params(request, problems);
    }
    agents_by_principal agents;
    agent_visitor visit = [&](const std::string& id, const registered_agent& agent) {
        for (const auto& each : agent.entry->record.acts_as) {
            agents.emplace(each, id);
        }
        return true;
    };
    auto& line = turns_.of(caller.may_write);
    std::string from_the_first;
    co_await walk_agents(agents_, line, std::move(from_the_first), std::move(visit), caller.left);
    co_await line.wait();
    const auto found = chosen(wishes);
    record_page page{request.id, wishes.limit, answer.room(), "edges"};
    for (const auto& each : found.edges) {
        if (line.over()) {
            co_await line.wait();
        }
        const bool fits = page.add({}, core::to_text(edge_record(each, agents)));
        if (caller.left.stop_requested() || !fits || !answer.hold(page.capacity())) {
            break;
        }
    }
    co_return page.finish(/*more=*/false, R"(,"total":)" + std::to_string(found.total));
}

}  // namespace gateway::management
