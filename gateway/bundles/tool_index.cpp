#include "gateway/bundles/tool_index.hpp"

#include "mcp/bundle/tool_search.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

namespace gateway::bundles {
namespace {

// A word of the name says more than one of the title, that more than one of the description, and that more than one of the parameters.
constexpr std::array<double, ::mcp::tool_texts> weights{5, 2, 3, 1, 0.5};

constexpr std::size_t most_nearest = 3;
constexpr std::size_t longest_likened = 256;  // bytes of a name: others are like none

bool is_in(const visible_tools& visible, std::size_t place)
{
    return place < visible.size() && visible[place];
}

search_answer refused(std::string_view why, ::mcp::era speaks)
{
    return {.result = ::mcp::refused_result(why, speaks), .outcome = search_outcome::refused};
}

std::string unknown_agent(std::span<const ::mcp::searched_member> members)
{
    std::string why = "agent: expected one of";
    for (const auto& member : members) {
        why.append(&member == &members.front() ? " " : ", ").append(member.name);
    }
    return members.empty() ? "agent: there is none" : why;
}

}  // namespace

std::string_view outcome_name(search_outcome outcome) noexcept
{
    switch (outcome) {
        case search_outcome::found:
            return "found";
        case search_outcome::nothing:
            return "nothing";
        case search_outcome::unknown_name:
            return "unknown_name";
        case search_outcome::refused:
            return "refused";
        case search_outcome::failed:
            return "failed";
    }
    return "failed";
}

tool_index::tool_index(tools_to_search tools)
    : tools_{std::move(tools)}
{
}

core::result<> tool_index::prepare() const
{
    if (texts_ != nullptr) {
        return {};
    }
    auto texts = store::text_index::make(weights);
    if (!texts) {
        return std::move(texts).error();
    }
    std::vector<entry> entries;
    for (const auto& tool : tools_.tools) {
        const auto place = static_cast<std::int64_t>(entries.size());
        entries.push_back({::mcp::plain_words(tool.name), ::mcp::plain_words(tool.own_name)});
        const auto words = ::mcp::indexed_tool(tool.own_name, tools_.members.at(tool.member).name, tool.definition);
        if (auto done = (*texts)->add(place, words); !done) {
            return done;
        }
    }
    if (auto done = (*texts)->finish(); !done) {
        return done;
    }
    entries_ = std::move(entries);
    texts_ = std::move(*texts);
    return {};
}

std::size_t tool_index::bytes() const
{
    auto sum = texts_->bytes() + tools_.tools.size() * (sizeof(searchable_tool) + sizeof(entry));
    for (const auto& entry : entries_) {
        sum += entry.plain.capacity() + entry.own_plain.capacity();
    }
    return sum;
}

search_answer tool_index::answer(const search_question& question) const
{
    switch (question.tool) {
        case ::mcp::search_tool::find:
            return find(question);
        case ::mcp::search_tool::describe:
            return describe(question);
        case ::mcp::search_tool::call:
            return call(question);
    }
    return {};
}

std::vector<::mcp::searched_member> tool_index::members_seen(const visible_tools& visible) const
{
    auto members = tools_.members;
    for (auto& member : members) {
        member.tools = 0;
    }
    for (std::size_t place = 0; place < tools_.tools.size(); ++place) {
        members[tools_.tools[place].member].tools += is_in(visible, place) ? 1U : 0U;
    }
    std::erase_if(members, [](const auto& member) { return member.tools == 0; });
    return members;
}

::mcp::found_tool tool_index::at(std::size_t place) const
{
    return {.name = tools_.tools[place].name, .definition = tools_.tools[place].definition};
}

core::result<std::vector<std::size_t>>
tool_index::ranked(const ::mcp::find_request& request, const visible_tools& visible) const
{
    const auto fits = [&](std::size_t place) {
        return is_in(visible, place) &&
               (request.agent.empty() || tools_.members[tools_.tools[place].member].name == request.agent);
    };
    std::vector<std::size_t> places;
    const auto plain = ::mcp::plain_words(request.query);
    for (std::size_t place = 0; !plain.empty() && place < entries_.size() && places.size() < request.limit; ++place) {
        if (fits(place) && (entries_[place].plain == plain || entries_[place].own_plain == plain)) {
            places.push_back(place);
        }
    }
    const auto equal = places.size();
    const auto take = [&](std::int64_t number) {
        const auto place = static_cast<std::size_t>(number);
        const auto behind = places.begin() + static_cast<std::ptrdiff_t>(equal);
        if (places.size() < request.limit && fits(place) && std::find(places.begin(), behind, place) == behind) {
            places.push_back(place);
        }
        return places.size() < request.limit;
    };
    if (auto done = texts_->find(::mcp::asked_things(request.query), take); !done) {
        return std::move(done).error();
    }
    return places;
}

search_answer tool_index::find(const search_question& question) const
{
    const auto request = ::mcp::read_find(question.arguments);
    if (!request) {
        return refused(request.error().detail, question.speaks);
    }
    const auto members = members_seen(question.visible);
    const auto is_asked = [&](const auto& member) { return member.name == request->agent; };
    if (!request->agent.empty() && std::ranges::none_of(members, is_asked)) {
        return refused(unknown_agent(members), question.speaks);
    }
    const auto prepared = prepare();
    const auto places = prepared ? ranked(*request, question.visible) : prepared.error();
    if (!places) {
        return {.result = ::mcp::refused_result("The search has failed.", question.speaks)};
    }
    std::vector<::mcp::found_tool> tools;
    for (const auto place : *places) {
        tools.push_back(at(place));
    }
    return {
        .result = ::mcp::find_result(tools, members, question.speaks),
        .outcome = tools.empty() ? search_outcome::nothing : search_outcome::found
    };
}

std::vector<std::string_view> tool_index::nearest(std::string_view name, const visible_tools& visible) const
{
    if (name.size() > longest_likened) {
        return {};
    }
    std::vector<std::pair<double, std::size_t>> all;  // ascending: the most alike first, then the order of the list
    for (std::size_t place = 0; place < tools_.tools.size(); ++place) {
        if (is_in(visible, place)) {
            const auto& tool = tools_.tools[place];
            all.emplace_back(-std::max(::mcp::likeness(name, tool.name), ::mcp::likeness(name, tool.own_name)), place);
        }
    }
    const auto kept = std::min(most_nearest, all.size());
    std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(kept));
    std::vector<std::string_view> names;
    names.reserve(kept);
    for (std::size_t i = 0; i < kept; ++i) {
        names.push_back(tools_.tools[all[i].second].name);
    }
    return names;
}

search_answer tool_index::describe(const search_question& question) const
{
    const auto names = ::mcp::read_describe(question.arguments);
    if (!names) {
        return refused(names.error().detail, question.speaks);
    }
    std::vector<::mcp::found_tool> tools;
    for (const auto& name : *names) {
        const auto found = std::ranges::find(tools_.tools, std::string_view{name}, &searchable_tool::name);
        const auto place = static_cast<std::size_t>(found - tools_.tools.begin());
        if (!is_in(question.visible, place)) {
            return {
                .result = ::mcp::unknown_result(name, nearest(name, question.visible), question.speaks),
                .outcome = search_outcome::unknown_name
            };
        }
        tools.push_back(at(place));
    }
    return {.result = ::mcp::describe_result(tools, question.speaks), .outcome = search_outcome::found};
}

search_answer tool_index::call(const search_question& question) const
{
    const auto request = ::mcp::read_call(question.arguments);
    if (!request) {
        return refused(request.error().detail, question.speaks);
    }
    return {
        .result = ::mcp::unknown_result(request->name, nearest(request->name, question.visible), question.speaks),
        .outcome = search_outcome::unknown_name
    };
}

void tool_searches::prepare(tool_index_pointer index)
{
    thread_.post([index = std::move(index)] { static_cast<void>(index->prepare()); });  // a question says if it fails
}

net::task<core::result<search_answer>> tool_searches::ask(tool_index_pointer index, search_question question)
{
    if (waiting_.fetch_add(1) >= most_waiting) {
        waiting_.fetch_sub(1);
        co_return core::gateway_error(core::errc::overloaded, "tool search");
    }
    // It counts until it runs, also if nobody waits for it any more.
    std::function<search_answer()> work = [this, index = std::move(index), question = std::move(question)] {
        waiting_.fetch_sub(1);
        return index->answer(question);
    };
    co_return co_await thread_.ask<search_answer>(std::move(work));
}

}  // namespace gateway::bundles
