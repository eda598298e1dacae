#include "gateway/cards/card_editor.hpp"

#include "config/signatures.hpp"
#include "core/json/json_patch.hpp"
#include "gateway/cards/card_variants.hpp"
#include "gateway/model/tls_files.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <optional>
#include <string>
#include <utility>

namespace gateway::cards {

using core::errc;

card_editor::card_editor(net::asio::io_context& io, net::fetcher& key_sets, config::card_settings settings)
    : io_{io},
      settings_{std::move(settings)},
      turns_{io.get_executor()},
      verifier_{key_sets, turns_, settings_}
{
}

void card_editor::start(std::shared_ptr<const card_signer> signer, std::string public_base)
{
    signer_ = std::move(signer);
    public_base_ = std::move(public_base);
}

void card_editor::set_settings(config::card_settings now)
{
    net::asio::post(io_, [this, now = std::move(now)]() mutable { settings_ = std::move(now); });
}

void card_editor::stop()
{
    stopped_ = true;
    verifier_.stop();
}

template <class T>
net::task<T> card_editor::ask(net::task<T> work)
{
    // A bug, or no memory for this card: whoever waits for it still has an answer, and the next card is made.
    try {
        co_return co_await net::asio::co_spawn(executor(), std::move(work), net::use_task);
    } catch (const std::exception& bug) {
        co_return core::gateway_error(errc::internal, std::string{"card: "} + bug.what());
    }
}

net::task<core::result<made_card>> card_editor::make(std::shared_ptr<const core::agent> agent, card_document what)
{
    return ask(make_here(std::move(agent), std::move(what)));
}

net::task<core::result<made_card>>
card_editor::make_of_lists(std::shared_ptr<const core::agent> agent, std::shared_ptr<const mcp::server_lists> lists)
{
    return ask(make_of_lists_here(std::move(agent), std::move(lists)));
}

net::task<core::result<std::string>> card_editor::compare(std::shared_ptr<const core::agent> agent, card_pair what)
{
    return ask(compare_here(std::move(agent), std::move(what)));
}

template <class Work>
net::task<core::result<>> card_editor::work_off(std::string agent, bool in_pieces, Work* work)
{
    for (bool more = true; more;) {
        if (in_pieces) {
            co_await turns_.next(agent);
        }
        const auto stepped = work->step();
        if (!stepped) {
            co_return stepped.error();
        }
        more = *stepped;
    }
    co_return core::result<>{};
}

net::task<core::result<made_card>> card_editor::make_here(std::shared_ptr<const core::agent> agent, card_document what)
{
    co_await turns_.next(agent->id);
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    const auto bytes = what.text.size();
    auto card = read_card(what.text, settings_);
    if (!card) {
        co_return std::move(card).error();
    }
    auto address = model::call_address_of(*agent, card->document, what.url);
    std::optional<good_signature> signature;
    auto rules = config::signature_rules_of(*agent, settings_);
    co_await turns_.next_if_long(agent->id, bytes);
    if (what.verified && rules.verify) {
        signed_card document{agent->id, std::move(what.text), std::move(what.url), model::tls_files(*agent)};
        auto verified = co_await verifier_.verify(std::move(rules), std::move(document), what.timeout);
        if (!verified) {
            co_return std::move(verified).error();
        }
        signature = std::move(*verified);
        co_await turns_.next(agent->id);
    }
    card_work work{*agent};
    if (auto begun = work.begin(std::move(*card), making()); !begun) {
        co_return std::move(begun).error();
    }
    auto done = co_await work_off(agent->id, bytes > longest_in_one_piece, &work);
    if (!done) {
        co_return std::move(done).error();
    }
    auto made = std::move(work).take();
    made.signature = std::move(signature);
    made.address = std::move(address);
    co_return made;
}

net::task<core::result<made_card>> card_editor::make_of_lists_here(
    std::shared_ptr<const core::agent> agent,
    std::shared_ptr<const mcp::server_lists> lists
)
{
    co_await turns_.next(agent->id);
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    session_card_work work{*lists, *agent, making()};
    auto done = co_await work_off(agent->id, true, &work);
    if (!done) {
        co_return std::move(done).error();
    }
    co_return std::move(work).take();
}

net::task<core::result<std::string>> card_editor::compare_here(std::shared_ptr<const core::agent> agent, card_pair what)
{
    co_await turns_.next(agent->id);
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    const auto before = what.before ? core::parse_json(what.before->body, {.bytes = what.before->body.size()})
                                    : core::result<core::json>{core::json{}};
    const auto bytes = what.after->body.size();
    co_await turns_.next_if_long(agent->id, bytes);
    const auto after = core::parse_json(what.after->body, {.bytes = bytes});
    if (!before || !after) {
        co_return core::gateway_error(errc::internal, "a card that is served cannot be read");
    }
    co_await turns_.next_if_long(agent->id, bytes);
    // RFC 6902 section 4.1: to a document that is not there, the whole is added.
    co_return what.before ? core::json_patch(*before, *after) : core::json_patch_of_whole("add", *after);
}

net::task<core::result<std::string>>
card_editor::edit_card(std::shared_ptr<const model::agent_entry> agent, std::string document, a2a::card_dialect dialect)
{
    const auto& record = agent->record;
    const auto bytes = document.size();
    auto parsed = read_card(document, settings_);
    if (!parsed) {
        co_return std::move(parsed).error();
    }
    auto rules = config::signature_rules_of(record, settings_);
    const bool signs = dialect == a2a::card_dialect::v1 && rules.sign && signer_ != nullptr;
    co_await turns_.next_if_long(record.id, bytes);
    if (rules.verify) {
        signed_card written{record.id, std::move(document), record.url, model::tls_files(record)};
        auto verified = co_await verifier_.verify(std::move(rules), std::move(written), settings_.timeout);
        if (!verified) {
            co_return std::move(verified).error();
        }
        co_await turns_.next(record.id);
    }
    const a2a::public_address at{model::public_address(public_base_, record.id)};
    const a2a::upstream_address upstream{.url = record.url, .card_url = record.card_url};
    auto rewritten = a2a::rewrite_extended_card(std::move(*parsed), at, upstream, dialect);
    if (!rewritten) {
        co_return rewritten.error();
    }
    co_await turns_.next_if_long(record.id, bytes);
    // What is signed is a card of 1.0 and nothing else.
    if (rewritten->shape == core::card_shape::automatic && !signs) {
        auto own = own_body(rewritten->document, at);
        if (!own) {
            co_return std::move(own).error();
        }
        co_return std::move(own->text);
    }
    const auto shape = signs ? core::card_shape::v1 : rewritten->shape;
    variant_maker variant{std::move(rewritten->document), shape, at, {signs ? signer_.get() : nullptr, public_base_}};
    auto done = co_await work_off(record.id, bytes > longest_in_one_piece, &variant);
    if (!done) {
        co_return std::move(done).error();
    }
    co_return std::move(variant).take().bytes->body;
}

net::task<core::result<model::edited_answer>> card_editor::edit(model::answered_card what)
{
    co_await turns_.next(what.agent->record.id);
    if (stopped_) {
        co_return core::gateway_error(errc::draining);
    }
    core::jsonrpc_answer place{core::answer_kind::result, {}, what.text, {}};
    if (what.where.in_result) {
        auto found = a2a::find_answered_card(what.text);
        if (!found) {
            co_return std::move(found).error();
        }
        place = *found;
    }
    if (place.kind != core::answer_kind::result) {
        co_return model::edited_answer{std::move(what.text), false};
    }
    std::string document{place.result};
    auto card = co_await edit_card(what.agent, std::move(document), what.where.dialect);
    if (!card) {
        co_return std::move(card).error();
    }
    std::string text;
    text.reserve(place.before.size() + card->size() + place.after.size());
    text.append(place.before).append(*card).append(place.after);
    co_return model::edited_answer{std::move(text), true};
}

}  // namespace gateway::cards
