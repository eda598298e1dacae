// Cards that agents hand out in answers to calls: nothing of them is kept.
#include "config/signatures.hpp"
#include "gateway/card_plane.hpp"

#include <utility>

namespace gateway {

net::task<core::result<std::string>>
card_plane::serve_extended(std::shared_ptr<const agent_entry> agent, std::string document, a2a::card_dialect dialect)
{
    const auto& record = agent->record;
    const auto parsed = a2a::parse_card(document, {.bytes = settings_.max_size, .depth = 64});
    if (!parsed) {
        co_return parsed.error();
    }
    auto verified = co_await source_.verify(record, std::move(document));
    if (!verified) {
        co_return std::move(verified).error();
    }
    const a2a::public_address at{public_address(public_base_, record.id)};
    const a2a::upstream_address upstream{.url = record.url, .card_url = record.card_url};
    const auto rewritten = a2a::rewrite_extended_card(*parsed, at, upstream, dialect);
    if (!rewritten) {
        co_return rewritten.error();
    }
    const bool signs = dialect == a2a::card_dialect::v1 && config::signature_rules_of(record, settings_).sign;
    const signing how{signs ? signer_.get() : nullptr, public_base_};
    // What is signed is a card of 1.0 and nothing else.
    const auto shape = how.by != nullptr ? core::card_shape::v1 : rewritten->shape;
    co_return make_body(rewritten->document, shape, at, how);
}

net::task<core::result<edited_answer>> card_plane::edit_answer(answered_card what)
{
    core::jsonrpc_answer place{core::answer_kind::result, {}, what.text, {}};
    if (what.where.in_result) {
        auto found = a2a::find_answered_card(what.text);
        if (!found) {
            co_return std::move(found).error();
        }
        place = *found;
    }
    if (place.kind != core::answer_kind::result) {
        co_return edited_answer{std::move(what.text), false};
    }
    std::string document{place.result};
    auto card = co_await serve_extended(what.agent, std::move(document), what.where.dialect);
    if (!card) {
        co_return std::move(card).error();
    }
    std::string text;
    text.reserve(place.before.size() + card->size() + place.after.size());
    text.append(place.before).append(*card).append(place.after);
    co_return edited_answer{std::move(text), true};
}

}  // namespace gateway
