#include "gateway/cards/card_editor.hpp"

#include "a2a/card/card_access.hpp"
#include "a2a/card/card_edits.hpp"
#include "a2a/card/card_lint.hpp"
#include "a2a/card/card_repair.hpp"
#include "a2a/card/card_shape.hpp"
#include "a2a/extension_header.hpp"
#include "config/signatures.hpp"
#include "core/json/json_patch.hpp"
#include "core/place_shares.hpp"
#include "gateway/cards/card_explanation.hpp"
#include "gateway/cards/managed_card.hpp"
#include "gateway/model/agent_record.hpp"
#include "gateway/model/snapshot.hpp"
#include "gateway/model/tls_files.hpp"
#include "mcp/bridge/agent_tools.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace gateway::cards {

bool is_bridged(const core::agent& agent) noexcept
{
    return agent.bridge;
}

::a2a::public_address public_address_of(const core::agent& agent, std::string_view public_base, bool authenticates)
{
    ::a2a::public_address at{.base = model::public_address(public_base, agent.id), .bridged = is_bridged(agent)};
    switch (core::extended_card_of(agent, authenticates)) {
        case core::extended_card_access::managed:
            at.extended_card = ::a2a::extended_card_flag::yes;
            break;
        case core::extended_card_access::off:
            at.extended_card = ::a2a::extended_card_flag::no;
            break;
        default:
            break;
    }
    return at;
}

::a2a::upstream_address upstream_address_of(const core::agent& agent, bool reaches_grpc)
{
    return {.url = agent.url, .card_url = agent.card_url, .reachable = reaches_grpc || !agent.dialects.empty()};
}

using core::errc;

namespace {

bool is_extended_here(const core::agent& agent)
{
    return agent.extended_card == core::extended_card_access::managed;
}

void declare_own(core::json& card, const core::agent& agent)
{
    if (is_bridged(agent)) {
        ::a2a::declare_gateway_facts(card, agent.id);
    }
}

// The problems that `cardea card lint` finds in the card at its URL.
core::json
lint_records(const core::agent& agent, const core::json& card, ::a2a::lint_report report, const std::string& url)
{
    if (auto address = model::call_address_of(agent, card, url); address.problem) {
        const auto notes =
            std::ranges::find(report.problems, ::a2a::problem_severity::note, &::a2a::card_problem::severity);
        report.problems.insert(notes, std::move(*address.problem));
    }
    auto all = core::json::array();
    for (const auto& each : report.problems) {
        core::json record{
            {"severity", ::a2a::name(each.severity)},
            {"path", each.path},
            {"message", each.what},
            {"section", nullptr}
        };
        if (report.generation) {
            record["section"] = ::a2a::specification_section(each.path, *report.generation);
        }
        all.push_back(std::move(record));
    }
    return all;
}

std::string explanation(std::string raw, std::string_view served, const core::json& changes, const core::json& lint)
{
    raw.append(R"(,"served":)").append(served);
    raw.append(R"(,"changes":)").append(core::to_text(changes));
    raw.append(R"(,"lint":)").append(core::to_text(lint));
    return raw;
}

}  // namespace

card_editor::card_editor(net::asio::io_context& io, net::fetcher& key_sets, config::card_settings settings)
    : io_{io},
      settings_{std::move(settings)},
      turns_{io.get_executor()},
      verifier_{key_sets, turns_, settings_}
{
}

void card_editor::start(std::shared_ptr<const card_signer> signer, std::string public_base, grpc_terms grpc)
{
    signer_ = std::move(signer);
    public_base_ = std::move(public_base);
    grpc_ = std::move(grpc);
}

void card_editor::set_settings(config::card_settings now, bool authenticates)
{
    net::asio::post(io_, [this, authenticates, now = std::move(now)]() mutable {
        settings_ = std::move(now);
        authenticates_ = authenticates;
    });
}

void card_editor::set_access(access_source access)
{
    net::asio::post(io_, [this, access = std::move(access)]() mutable { access_ = std::move(access); });
}

void card_editor::stop()
{
    stopped_ = true;
    verifier_.stop();
}

template <class T>
net::task<T> card_editor::ask(net::task<T> work)
{
    // A bug: the caller still gets an answer, and the next card is made.
    try {
        co_return co_await net::asio::co_spawn(executor(), std::move(work), net::use_task);
    } catch (const std::exception& bug) {
        co_return core::gateway_error(errc::internal, std::string{"card: "} + bug.what());
    }
}

net::task<core::result<served_card>> card_editor::make(std::shared_ptr<const core::agent> agent, card_document document)
{
    return ask(make_here(std::move(agent), std::move(document)));
}

net::task<core::result<served_card>>
card_editor::make_of_lists(std::shared_ptr<const core::agent> agent, listed_card listed)
{
    return ask(make_of_lists_here(std::move(agent), std::move(listed)));
}

net::task<core::result<std::string>> card_editor::compare(std::shared_ptr<const core::agent> agent, card_pair cards)
{
    return ask(compare_here(std::move(agent), std::move(cards)));
}

net::task<core::result<std::string>> card_editor::explain(std::shared_ptr<const core::agent> agent, shown_card card)
{
    return ask(explain_here(std::move(agent), std::move(card)));
}

signing card_editor::signing_of(const core::agent& agent) const
{
    const bool signs = config::signature_rules_of(agent, settings_).sign;
    return {signs ? signer_.get() : nullptr, public_base_};
}

::a2a::public_address card_editor::address_of(const core::agent& agent, bool reaches_grpc) const
{
    auto at = public_address_of(agent, public_base_, authenticates_);
    if (at.bridged || reaches_grpc) {
        at.grpc = grpc_place_of(agent, grpc_, public_base_);
        at.grpc.own = reaches_grpc;
    }
    return at;
}

std::optional<::a2a::card_access> card_editor::access_of(const core::agent& agent) const
{
    return access_ ? std::optional{access_(agent)} : std::nullopt;
}

::mcp::card_request card_editor::card_request_of(const core::agent& agent, core::card_shape shape) const
{
    return {
        .agent_id = agent.id,
        .at = address_of(agent, false),
        .shape = shape,
        .limit = settings_.max_size,
        .patch = agent.patch,
        .access = access_of(agent)
    };
}

net::task<core::result<accepted_card>>
card_editor::accept(std::shared_ptr<const core::agent> agent, card_document document)
{
    const auto bytes = document.text.size();
    auto written = ::a2a::read_card(document.text, {.bytes = settings_.max_size, .depth = 64});
    if (!written) {
        co_return std::move(written).error();
    }
    auto rules = config::signature_rules_of(*agent, settings_);
    std::optional<signed_card> original;
    if (document.verified && rules.verify) {
        original = {agent->id, std::move(document.text), *written, std::move(document.url), model::tls_files(*agent)};
        original->addresses = document.addresses;
        original->proxy = agent->proxy;
        co_await turns_.next_if_long(agent->id, bytes);
    }
    auto card = ::a2a::repair_card(std::move(*written));
    if (!card) {
        co_return std::move(card).error();
    }
    co_await turns_.next_if_long(agent->id, bytes);
    if (!original) {
        co_return accepted_card{std::move(*card), std::nullopt};
    }
    auto verified = co_await verifier_.verify(std::move(rules), std::move(*original), document.timeout);
    if (!verified) {
        co_return std::move(verified).error();
    }
    co_await turns_.next(agent->id);
    co_return accepted_card{std::move(*card), std::move(*verified)};
}

net::task<core::result<rendered_card>> card_editor::render(std::string agent, bool in_pieces, card_renderer renderer)
{
    for (;;) {
        const auto more = renderer.step();
        if (!more) {
            co_return more.error();
        }
        if (!*more) {
            co_return std::move(renderer).take();
        }
        if (in_pieces) {
            co_await turns_.next(agent);
        }
    }
}

net::task<core::result<served_card>>
card_editor::make_here(std::shared_ptr<const core::agent> agent, card_document document)
{
    co_await turns_.next(agent->id);
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    const auto bytes = document.text.size();
    const auto url = document.url;
    const auto secrets = model::secrets_of(*agent, {document.token.reveal()});
    auto accepted = co_await accept(agent, std::move(document));
    if (!accepted) {
        co_return std::move(accepted).error();
    }
    ::a2a::apply_patch(accepted->card.document, agent->patch);
    std::shared_ptr<const model::whole_card> whole;
    if (is_extended_here(*agent)) {
        whole =
            std::make_shared<const model::whole_card>(model::whole_card{::a2a::render(accepted->card.document), {}});
    }
    ::a2a::keep_visible_skills(accepted->card.document, {agent->skills, nullptr});
    if (const auto access = access_of(*agent)) {
        ::a2a::set_access(accepted->card.document, accepted->card.generation, *access);
    }
    auto served = describe(accepted->card, secrets);
    served.whole = std::move(whole);
    if (agent->speaks == core::protocol::a2a && agent->as_tools != core::tool_form::off) {
        co_await turns_.next_if_long(agent->id, bytes);
        served.as_tools = std::make_shared<const ::mcp::agent_tools>(
            ::mcp::tools_of_card(accepted->card.document, agent->as_tools, agent->id)
        );
    }
    served.address = model::call_address_of(*agent, accepted->card.document, url);
    if (const auto& all = core::rules_of(*agent).upstreams; !all.empty()) {
        // The card describes the endpoint that it came from.
        served.address.route = model::moved_route(std::move(served.address.route), agent->url, all.front());
    }
    served.signature = std::move(accepted->signature);
    const auto shape = agent->shape.value_or(settings_.shape);
    const bool by_grpc = model::reaches_grpc(*agent, accepted->card.document, url);
    auto at = address_of(*agent, by_grpc);
    declare_own(accepted->card.document, *agent);
    auto rewritten = ::a2a::rewrite_card(std::move(accepted->card), at, upstream_address_of(*agent, by_grpc));
    if (!rewritten) {
        co_return std::move(rewritten).error();
    }
    card_renderer renderer{std::move(*rewritten), std::move(at), shape, signing_of(*agent)};
    auto rendered = co_await render(agent->id, bytes > longest_in_one_piece, std::move(renderer));
    if (!rendered) {
        co_return std::move(rendered).error();
    }
    add_bytes(served, std::move(*rendered), shape, secrets);
    co_return served;
}

net::task<core::result<served_card>>
card_editor::make_of_lists_here(std::shared_ptr<const core::agent> agent, listed_card listed)
{
    co_await turns_.next(agent->id);
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    const core::json_limits limits{.bytes = settings_.max_size, .depth = 64};
    const auto shape = agent->shape.value_or(settings_.shape);
    const auto lists = agent->mcp ? exposed_lists(listed.lists, *agent->mcp) : listed.lists;
    const auto shown = visible_lists(lists, {agent->skills, nullptr});
    auto asked = card_request_of(*agent, shape);
    card_renderer renderer{*shown, std::move(asked), signing_of(*agent)};
    auto rendered = co_await render(agent->id, true, std::move(renderer));
    if (!rendered) {
        co_return std::move(rendered).error();
    }
    co_await turns_.next(agent->id);
    const auto secrets = model::secrets_of(*agent, {listed.token.reveal()});
    auto served = describe(*shown, secrets, *rendered, limits);
    if (served) {
        if (is_extended_here(*agent)) {
            served->whole = std::make_shared<const model::whole_card>(model::whole_card{{}, lists});
        }
        add_tools(*served, *listed.lists, *lists, agent->mcp ? agent->mcp->tools : core::mcp_filter{}, secrets);
        add_bytes(*served, std::move(*rendered), shape, secrets);
    }
    co_return served;
}

net::task<core::result<std::string>>
card_editor::compare_here(std::shared_ptr<const core::agent> agent, card_pair cards)
{
    co_await turns_.next(agent->id);
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    const auto before = cards.before ? core::parse_json(cards.before->body, {.bytes = cards.before->body.size()})
                                     : core::result<core::json>{core::json{}};
    const auto bytes = cards.after->body.size();
    co_await turns_.next_if_long(agent->id, bytes);
    const auto after = core::parse_json(cards.after->body, {.bytes = bytes});
    if (!before || !after) {
        co_return core::gateway_error(errc::internal, "a card that is served cannot be read");
    }
    co_await turns_.next_if_long(agent->id, bytes);
    // RFC 6902 section 4.1: to a document that is not there, the whole is added.
    co_return cards.before ? core::json_patch(*before, *after) : core::json_patch_of_whole("add", *after);
}

net::task<core::result<std::string>>
card_editor::explain_here(std::shared_ptr<const core::agent> agent, shown_card card)
{
    if (explains_ && explanations_.size() >= most_explained) {
        co_return core::gateway_error(errc::overloaded, "explanations of cards");
    }
    if (std::exchange(explains_, true)) {
        net::task_signal turn;
        auto waits = turn.wait();
        explanations_.push_back(&turn);
        co_await std::move(waits);
    }
    core::result<std::string> text = core::gateway_error(errc::internal);
    std::exception_ptr bug;
    try {
        text = co_await explained(std::move(agent), std::move(card));
    } catch (...) {
        bug = std::current_exception();
    }
    next_explanation();
    if (bug) {
        std::rethrow_exception(bug);
    }
    co_return text;
}

// Begins the one that has waited for longest, if there is one.
void card_editor::next_explanation()
{
    if (explanations_.empty()) {
        explains_ = false;
        return;
    }
    auto* const next = explanations_.front();
    explanations_.pop_front();
    net::asio::post(io_, [next] { next->set(); });
}

net::task<core::result<std::string>> card_editor::explained(std::shared_ptr<const core::agent> agent, shown_card card)
{
    const auto left = card.left;
    if (left.stop_requested()) {
        co_return core::caller_error(errc::caller_gone);
    }
    co_await turns_.next(agent->id);
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    const auto bytes = card.text.size();
    const core::json_limits limits{.bytes = std::max<std::size_t>(settings_.max_size, bytes), .depth = 64};
    const auto found = model::secrets_of(*agent, {card.token.reveal()}).apply(card.text);
    const auto raw = ::a2a::read_card(found, limits);
    if (!raw) {
        co_return explanation(R"("raw":null)", card.served->body, core::json::array(), core::json::array());
    }
    auto lint = lint_records(*agent, *raw, ::a2a::lint_card(found, limits), card.url);
    co_await turns_.next_if_long(agent->id, bytes);
    if (left.stop_requested()) {
        co_return core::caller_error(errc::caller_gone);
    }
    const auto served = core::parse_json(card.served->body, {.bytes = card.served->body.size()});
    auto accepted = ::a2a::repair_card(*raw);
    if (!accepted || !served) {
        co_return accepted ? core::gateway_error(errc::internal, "a card that is served cannot be read")
                           : accepted.error();
    }
    const auto repaired = accepted->document;
    co_await turns_.next_if_long(agent->id, bytes);
    if (left.stop_requested()) {
        co_return core::caller_error(errc::caller_gone);
    }
    // These steps are those of make_here().
    ::a2a::apply_patch(accepted->document, agent->patch);
    ::a2a::keep_visible_skills(accepted->document, {agent->skills, nullptr});
    if (const auto access = access_of(*agent)) {
        ::a2a::set_access(accepted->document, accepted->generation, *access);
    }
    declare_own(accepted->document, *agent);
    const bool by_grpc = model::reaches_grpc(*agent, accepted->document, card.url);
    const auto at = address_of(*agent, by_grpc);
    const auto prepared = ::a2a::rewrite_card(std::move(*accepted), at, upstream_address_of(*agent, by_grpc));
    if (!prepared) {
        co_return prepared.error();
    }
    co_await turns_.next_if_long(agent->id, bytes);
    auto changes = explain_card({*raw, repaired, *prepared, *served});
    co_return explanation(R"("raw":)" + found, card.served->body, changes, lint);
}

net::task<core::result<std::string>>
card_editor::edit_card(std::shared_ptr<const model::agent_entry> entry, std::string text, extended_terms terms)
{
    const std::shared_ptr<const core::agent> agent{entry, &entry->record};
    terms.bytes = text.size();
    card_document document{std::move(text), agent->url, entry->token, true, settings_.timeout, entry->addresses};
    auto accepted = co_await accept(agent, std::move(document));
    if (!accepted) {
        co_return std::move(accepted).error();
    }
    ::a2a::apply_patch(accepted->card.document, agent->patch);
    auto card = std::move(accepted->card);
    if (const auto access = access_of(*agent)) {
        ::a2a::set_access(card.document, card.generation, *access);
    }
    co_return co_await render_extended(agent, std::move(card), std::move(terms));
}

// Begun in the agent's turn.
net::task<core::result<std::string>>
card_editor::render_extended(std::shared_ptr<const core::agent> agent, ::a2a::card card, extended_terms terms)
{
    static const std::vector<std::string> no_scopes;
    const auto dialect = terms.dialect;
    const auto bytes = terms.bytes;
    ::a2a::keep_visible_skills(card.document, {agent->skills, terms.caller ? &terms.caller->scopes : &no_scopes});
    const bool by_grpc = model::reaches_grpc(*agent, card.document, {});
    const auto at = address_of(*agent, by_grpc);
    declare_own(card.document, *agent);
    auto rewritten = ::a2a::rewrite_extended_card(std::move(card), at, upstream_address_of(*agent, by_grpc), dialect);
    if (!rewritten) {
        co_return rewritten.error();
    }
    co_await turns_.next_if_long(agent->id, bytes);
    // Only cards of 1.0 are signed.
    const auto signature = dialect == ::a2a::card_dialect::v1 ? signing_of(*agent) : signing{};
    const auto shape = signature.by != nullptr ? core::card_shape::v1 : rewritten->shape;
    if (shape == core::card_shape::automatic) {
        if (auto checked = ::a2a::check_addresses(rewritten->document, at); !checked) {
            co_return std::move(checked).error();
        }
        co_return ::a2a::render(rewritten->document);
    }
    card_renderer renderer{std::move(rewritten->document), at, shape, signature};
    auto rendered = co_await render(agent->id, bytes > longest_in_one_piece, std::move(renderer));
    if (!rendered) {
        co_return std::move(rendered).error();
    }
    co_return rendered->bytes->body;
}

net::task<core::result<model::edited_answer>> card_editor::edit(model::answered_card answer)
{
    co_await turns_.next(answer.agent->record.id);
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    core::jsonrpc_answer place{core::answer_kind::result, {}, answer.text, {}};
    if (answer.where.in_result) {
        auto found = ::a2a::find_answered_card(answer.text);
        if (!found) {
            co_return std::move(found).error();
        }
        place = *found;
    }
    if (place.kind != core::answer_kind::result) {
        co_return model::edited_answer{std::move(answer.text), false};
    }
    std::string document{place.result};
    extended_terms terms{.dialect = answer.where.dialect, .caller = std::move(answer.caller)};
    auto card = co_await edit_card(std::move(answer.agent), std::move(document), std::move(terms));
    if (!card) {
        co_return std::move(card).error();
    }
    std::string text;
    text.reserve(place.before.size() + card->size() + place.after.size());
    text.append(place.before).append(*card).append(place.after);
    co_return model::edited_answer{std::move(text), true};
}

net::task<core::result<std::string>> card_editor::extend(model::extended_request asked)
{
    const auto& record = asked.agent->record;
    const auto whose = asked.caller == nullptr ? 0 : core::mark_of_principal(asked.caller->provider, asked.caller->id);
    const auto places = core::place_shares::of_object(this, record.id);
    const auto share = core::all_shares().take(places, whose, core::half_of(most_extended));
    if (!share || turns_.waiting(record.id) >= most_extended) {
        co_return core::gateway_error(errc::overloaded, "extended cards, of all or of this principal");
    }
    co_await turns_.next(record.id);
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    const bool modern = asked.dialect == ::a2a::card_dialect::v1;
    const auto shape = modern ? core::card_shape::v1 : core::card_shape::v03;
    auto document = whole_document(asked, card_request_of(record, shape));
    if (!document) {
        co_return std::move(document).error();
    }
    // The length of lists is not known: the work is long.
    const auto bytes = asked.card->lists ? longest_in_one_piece + 1 : asked.card->text.size();
    co_await turns_.next_if_long(record.id, bytes);
    // Before the overlays, which may say more about it.
    if (const auto access = access_of(record); access && !asked.card->lists) {
        ::a2a::set_access(*document, ::a2a::generation_of(*document), *access);
    }
    auto card = overlaid_card(std::move(*document), asked);
    if (!card) {
        co_return std::move(card).error();
    }
    std::shared_ptr<const core::agent> agent{asked.agent, &record};
    extended_terms terms{.dialect = asked.dialect, .caller = std::move(asked.caller), .bytes = bytes};
    auto whole = std::move(*card);
    co_return co_await render_extended(std::move(agent), std::move(whole), std::move(terms));
}

}  // namespace gateway::cards
