#include "gateway/cards/served_card.hpp"

#include "a2a/extension_header.hpp"
#include "core/utf8.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/audit_trail.hpp"
#include "jose/digest.hpp"
#include "mcp/calls/name_filter.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

namespace gateway::cards {
namespace {

std::string joined(const std::vector<std::string>& names)
{
    std::string all;
    for (const auto& each : names) {
        all.append(all.empty() ? "" : ",").append(each);
    }
    return all;
}

void cut(std::string& text)
{
    constexpr std::size_t longest = 4096;  // operators and the directory show less
    if (text.size() > longest) {
        text = core::cut_utf8(text, longest);
    }
}

std::vector<told_loss> told(const std::vector<card_loss>& losses, const core::redaction& secrets)
{
    constexpr std::size_t named = 20;  // a card may have thousands of members that no version knows
    std::vector<told_loss> out;
    for (const auto& [shape, paths] : losses) {
        std::string text;
        for (std::size_t i = 0; i < std::min(named, paths.size()); ++i) {
            text += (i == 0 ? "" : ", ") + model::shown_words(secrets, paths[i]);
        }
        out.push_back({shape, paths.size(), std::move(text)});
    }
    return out;
}

std::vector<told_refusal> told(const std::vector<card_refusal>& refusals, const core::redaction& secrets)
{
    std::vector<told_refusal> out;
    out.reserve(refusals.size());
    for (const auto& [shape, why] : refusals) {
        out.push_back({shape, why.code, model::shown_words(secrets, why.detail)});
    }
    return out;
}

// Null: none is required.
std::shared_ptr<const model::extension_uris> required_extensions(const core::json& card)
{
    constexpr std::size_t longest = ::a2a::extension_list::longest / 2;
    const auto* capabilities = core::member(card, "capabilities");
    const auto* all = capabilities == nullptr ? nullptr : core::member(*capabilities, "extensions");
    if (all == nullptr || !all->is_array()) {
        return nullptr;
    }
    model::extension_uris uris;
    std::size_t bytes = 0;
    for (const auto& each : *all) {
        const auto* uri = core::string_member(each, "uri");
        const auto* required = core::member(each, "required");
        const bool counts = uri != nullptr && !uri->empty() && required != nullptr && *required == true &&
                            !uri->starts_with(::a2a::own_extensions);
        if (counts && uris.size() < model::most_required_extensions && bytes + uri->size() <= longest) {
            bytes += uri->size();
            uris.push_back(*uri);
        }
    }
    return uris.empty() ? nullptr : std::make_shared<const model::extension_uris>(std::move(uris));
}

// In the words of either generation.
bool says_extended(const core::json& card)
{
    const auto* capabilities = core::member(card, "capabilities");
    const auto* flag = capabilities == nullptr ? nullptr : core::member(*capabilities, "extendedAgentCard");
    const auto* old = core::member(card, "supportsAuthenticatedExtendedCard");
    return (flag != nullptr && *flag == true) || (old != nullptr && *old == true);
}

}  // namespace

served_card describe(const ::a2a::card& card, const core::redaction& secrets)
{
    served_card served;
    served.facts = ::a2a::facts(card);
    served.words = model::words_of(card.document);
    served.problems = card.problems;
    served.required = required_extensions(card.document);
    served.extended = says_extended(card.document);
    auto& facts = served.facts;
    served.log.name = model::shown_words(secrets, facts.name);
    served.log.version = model::shown_words(secrets, facts.version);
    served.log.protocol_version = model::shown_words(secrets, facts.protocol_version);
    served.log.capabilities = joined(facts.capabilities);
    served.log.security_schemes = model::shown_words(secrets, joined(facts.security_schemes));
    for (const auto& scheme : facts.security_schemes | std::views::take(model::audit_trail::longest_list)) {
        served.log.scheme_names.push_back(model::shown_words(secrets, scheme));
    }
    facts.security_schemes.clear();
    cut(facts.name);
    cut(facts.description);
    cut(facts.version);
    cut(facts.protocol_version);
    return served;
}

core::result<served_card> describe(
    const ::mcp::server_lists& lists,
    const core::redaction& secrets,
    const rendered_card& rendered,
    core::json_limits limits
)
{
    auto card = ::a2a::parse_card(rendered.bytes->body, limits);
    if (!card) {
        return std::move(card).error();
    }
    if (lists.server.version.empty()) {
        card->problems.push_back({"version", "empty: 0.0.0 is served", ::a2a::problem_severity::warning});
    }
    auto served = describe(*card, secrets);
    // Their paths name members as the server calls them.
    for (auto& each : served.problems) {
        each.path = model::shown_words(secrets, each.path);
    }
    return served;
}

void add_bytes(served_card& card, rendered_card rendered, core::card_shape shape, const core::redaction& secrets)
{
    card.shape = shape;
    card.bytes = std::move(rendered.bytes);
    card.signed_by = std::move(rendered.signed_by);
    card.log.sha256 = jose::sha256_hex(card.bytes->body);
    card.losses = told(rendered.losses, secrets);
    card.refusals = told(rendered.refusals, secrets);
}

void add_tools(
    served_card& card,
    const ::mcp::server_lists& listed,
    const ::mcp::server_lists& exposed,
    const core::mcp_filter& tools,
    const core::redaction& secrets
)
{
    constexpr std::size_t named = 8;
    auto names = std::make_shared<model::tool_names>();
    for (const auto& tool : exposed[::mcp::list_kind::tools]) {
        if (names->size() < model::most_tool_names && tool.key.size() <= model::longest_tool_name) {
            names->push_back(tool.key);
        }
    }
    std::ranges::sort(*names);
    card.tools = std::move(names);
    card.era = listed.server.speaks;
    card.mcp_version = listed.server.protocol_version;
    const ::mcp::name_filter filter{tools};
    if (filter.passes_all() && listed.held.empty()) {
        return;
    }
    const auto& all = listed[::mcp::list_kind::tools];
    auto& hidden = card.hidden.emplace();
    hidden.count = all.size() - exposed[::mcp::list_kind::tools].size() + listed.held.size();
    for (const auto& each : listed.held | std::views::take(hidden_tools::most_told)) {
        const auto why = each.known ? ::mcp::hiding::changed : ::mcp::hiding::added;
        hidden.first.push_back({model::shown_words(secrets, each.name), why});
    }
    std::size_t displaced = 0;
    for (const auto& tool : all) {
        const auto why = filter.why_hidden(tool.key);
        if (!why) {
            continue;
        }
        auto name = model::shown_words(secrets, tool.key);
        if (why == ::mcp::hiding::displaced && displaced < named) {
            hidden.displaced += (displaced++ == 0 ? "" : ", ") + name;
        }
        if (hidden.first.size() < hidden_tools::most_told) {
            hidden.first.push_back({std::move(name), *why});
        }
    }
}

}  // namespace gateway::cards
