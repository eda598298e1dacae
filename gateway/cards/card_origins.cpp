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

net::task<core::result<std::shared_ptr<const model::card_bytes>>> card_origins::move(model::rebased_card asked)
{
    while (under_way_->contains(asked.origin)) {
        co_await editor_.turns().next(asked.agent->record.id);
    }
    if (auto known = find(asked)) {
        co_return known;
    }
    const auto alone = begin(asked.origin);
    auto made = co_await make(asked);
    if (made) {
        keep(asked, *made);
    }
    co_return made;
}

// Until what is returned ends, whoever asks for the card there waits.
std::shared_ptr<const void> card_origins::begin(const std::string& origin)
{
    under_way_->insert(origin);
    return {nullptr, [all = under_way_, origin](const void*) { all->erase(origin); }};
}

net::task<core::result<std::shared_ptr<const model::card_bytes>>> card_origins::make(const model::rebased_card& asked)
{
    const auto& all = *asked.bytes;
    auto own = co_await moved_body(asked, all);
    if (!own) {
        co_return std::move(own).error();
    }
    if (!all.by_version) {
        co_return model::make_card_bytes(std::move(*own));
    }
    auto v1 = co_await moved_version(asked, all.v1.get(), own->etag);
    auto v03 = co_await moved_version(asked, all.v03.get(), own->etag);
    for (const auto* each : {&v1, &v03}) {
        if (!*each && each->error().code == errc::internal) {
            co_return each->error();
        }
    }
    model::version_bodies versions{std::move(v1), std::move(v03)};
    co_return model::make_card_bytes(std::move(*own), std::move(versions));
}

// `bytes` is null if these callers get the same as others.
net::task<core::result<model::card_body>> card_origins::moved_version(
    const model::rebased_card& asked,
    const model::card_bytes* bytes,
    const std::string& own_etag
)
{
    if (bytes == nullptr) {
        co_return model::card_body{{}, own_etag};
    }
    if (bytes->refused) {
        co_return *bytes->refused;
    }
    co_return co_await moved_body(asked, *bytes);
}

// Each step on a long card is a piece of work.
net::task<core::result<model::card_body>>
card_origins::moved_body(const model::rebased_card& asked, const model::card_bytes& bytes)
{
    const auto& agent = asked.agent->record.id;
    const auto size = bytes.body.size();
    co_await editor_.turns().next_if_long(agent, size);
    auto text = ::a2a::move_card(bytes.body, model::public_address(public_base_, agent), asked.origin);
    if (!text) {
        co_return std::move(text).error();
    }
    constexpr std::string_view of_signed = "W/";  // model::card_bytes::etag
    if (signer_ == nullptr || !bytes.etag.starts_with(of_signed)) {
        co_return model::body_with_strong_etag(std::move(*text));
    }
    co_await editor_.turns().next_if_long(agent, size);
    auto card = core::parse_json(*text, {.bytes = text->size()});
    if (!card) {
        co_return core::gateway_error(errc::internal, "a card that is served cannot be read");
    }
    card->erase("signatures");
    co_await editor_.turns().next_if_long(agent, size);
    const signing signature{signer_.get(), public_base_};
    co_return signed_body(std::move(*card), signature);
}

std::shared_ptr<const model::card_bytes> card_origins::find(const model::rebased_card& asked)
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

void card_origins::keep(const model::rebased_card& asked, std::shared_ptr<const model::card_bytes> card)
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

// Text of an extended card, which is signed if the editor has signed it.
net::task<core::result<std::string>>
card_origins::moved_text(std::string_view card, const std::string& agent, const std::string& origin)
{
    const auto size = card.size();
    co_await editor_.turns().next_if_long(agent, size);
    auto text = ::a2a::move_card(card, model::public_address(public_base_, agent), origin);
    if (!text || signer_ == nullptr) {
        co_return text;
    }
    co_await editor_.turns().next_if_long(agent, size);
    auto document = core::parse_json(*text, {.bytes = text->size()});
    if (!document || !is_signed(*document)) {
        co_return text;
    }
    document->erase("signatures");
    co_await editor_.turns().next_if_long(agent, size);
    const signing signature{signer_.get(), public_base_};
    auto body = signed_body(std::move(*document), signature);
    if (!body) {
        co_return std::move(body).error();
    }
    co_return std::move(body->text);
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
        auto found = ::a2a::find_answered_card(edited->text);
        if (!found) {
            co_return std::move(found).error();
        }
        place = *found;
    }
    auto card = co_await moved_text(place.result, agent, origin);
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
    co_return co_await moved_text(*card, agent, origin);
}

}  // namespace gateway::cards
