#include "gateway/cards/card_origins.hpp"

#include "a2a/card/card_origin.hpp"
#include "a2a/card/extended_card.hpp"
#include "core/json/json.hpp"
#include "gateway/cards/card_renderer.hpp"
#include "gateway/model/snapshot.hpp"

#include <iterator>
#include <string_view>
#include <utility>

namespace gateway::cards {
namespace {

using core::errc;

bool is_signed(const core::json& card)
{
    return core::member(card, "signatures") != nullptr;
}

std::size_t size_of(const model::card_bytes& card)
{
    auto bytes = card.body.size();
    for (const auto* version : {card.v1.get(), card.v03.get()}) {
        bytes += version == nullptr ? 0 : version->body.size();
    }
    return bytes;
}

}  // namespace

card_origins::card_origins(card_editor& editor, std::size_t most)
    : editor_{editor},
      most_{most}
{
}

void card_origins::start(std::shared_ptr<const card_signer> signer, std::string public_base)
{
    signer_ = std::move(signer);
    public_base_ = std::move(public_base);
}

net::task<core::result<std::shared_ptr<const model::card_bytes>>> card_origins::move(model::moved_card asked)
{
    if (auto known = find(asked)) {
        co_return known;
    }
    auto made = make(asked);
    if (made) {
        keep(asked, *made);
    }
    co_return made;
}

core::result<std::shared_ptr<const model::card_bytes>> card_origins::make(const model::moved_card& asked) const
{
    const auto& all = *asked.bytes;
    auto own = moved_body(asked, all);
    if (!own) {
        return std::move(own).error();
    }
    if (!all.by_version) {
        return model::make_card_bytes(std::move(*own));
    }
    const auto version = [&](const model::card_bytes* bytes) -> core::result<model::card_body> {
        if (bytes == nullptr) {
            return model::card_body{{}, own->etag};  // the same as the others get
        }
        return bytes->refused ? core::result<model::card_body>{*bytes->refused} : moved_body(asked, *bytes);
    };
    auto v1 = version(all.v1.get());
    auto v03 = version(all.v03.get());
    for (const auto* each : {&v1, &v03}) {
        if (!*each && each->error().code == errc::internal) {
            return each->error();
        }
    }
    return model::make_card_bytes(std::move(*own), model::version_bodies{std::move(v1), std::move(v03)});
}

core::result<model::card_body> card_origins::moved_body(const model::moved_card& asked, const model::card_bytes& bytes)
    const
{
    const auto from = model::public_address(public_base_, asked.agent->record.id);
    auto text = a2a::move_card(bytes.body, from, asked.origin);
    if (!text) {
        return std::move(text).error();
    }
    constexpr std::string_view of_signed = "W/";  // model::card_bytes::etag
    if (signer_ == nullptr || !bytes.etag.starts_with(of_signed)) {
        return model::body_with_strong_etag(std::move(*text));
    }
    auto card = core::parse_json(*text, {.bytes = text->size()});
    if (!card) {
        return core::gateway_error(errc::internal, "a card that is served cannot be read");
    }
    card->erase("signatures");
    return signed_body(std::move(*card), {signer_.get(), public_base_});
}

std::shared_ptr<const model::card_bytes> card_origins::find(const model::moved_card& asked)
{
    const auto found = by_origin_.find(asked.origin);
    if (found == by_origin_.end()) {
        return nullptr;
    }
    if (found->second->of.lock() != asked.bytes) {
        drop(found->second);
        return nullptr;
    }
    kept_.splice(kept_.begin(), kept_, found->second);
    return found->second->card;
}

void card_origins::keep(const model::moved_card& asked, std::shared_ptr<const model::card_bytes> card)
{
    const auto bytes = size_of(*card);
    if (bytes > most_) {
        return;
    }
    while (bytes_ + bytes > most_) {
        drop(std::prev(kept_.end()));
    }
    kept_.push_front({asked.origin, asked.bytes, std::move(card), bytes});
    by_origin_.emplace(asked.origin, kept_.begin());
    bytes_ += bytes;
}

void card_origins::drop(order::iterator which)
{
    bytes_ -= which->bytes;
    by_origin_.erase(which->origin);
    kept_.erase(which);
}

// Of an extended card, which is signed if the editor has signed it.
core::result<std::string>
card_origins::moved_text(std::string_view card, const std::string& agent, const std::string& origin) const
{
    auto text = a2a::move_card(card, model::public_address(public_base_, agent), origin);
    if (!text || signer_ == nullptr) {
        return text;
    }
    auto document = core::parse_json(*text, {.bytes = text->size()});
    if (!document || !is_signed(*document)) {
        return text;
    }
    document->erase("signatures");
    auto body = signed_body(std::move(*document), {signer_.get(), public_base_});
    if (!body) {
        return std::move(body).error();
    }
    return std::move(body->text);
}

net::task<core::result<model::edited_answer>> card_origins::edit(model::answered_card answer)
{
    const auto origin = answer.origin;
    const auto agent = answer.agent->record.id;
    const bool in_result = answer.where.in_result;
    auto edited = co_await editor_.edit(std::move(answer));
    if (!edited || !edited->edited || origin.empty()) {
        co_return edited;
    }
    core::jsonrpc_answer place{core::answer_kind::result, {}, edited->text, {}};
    if (in_result) {
        auto found = a2a::find_answered_card(edited->text);
        if (!found) {
            co_return std::move(found).error();
        }
        place = *found;
    }
    auto card = moved_text(place.result, agent, origin);
    if (!card) {
        co_return std::move(card).error();
    }
    std::string text;
    text.reserve(place.before.size() + card->size() + place.after.size());
    text.append(place.before).append(*card).append(place.after);
    co_return model::edited_answer{std::move(text), true};
}

net::task<core::result<std::string>> card_origins::extend(model::extended_request asked)
{
    const auto origin = asked.origin;
    const auto agent = asked.agent->record.id;
    auto card = co_await editor_.extend(std::move(asked));
    if (!card || origin.empty()) {
        co_return card;
    }
    co_return moved_text(*card, agent, origin);
}

}  // namespace gateway::cards
