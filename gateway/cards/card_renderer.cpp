#include "gateway/cards/card_renderer.hpp"

#include "a2a/card/card.hpp"
#include "a2a/card/card_repair.hpp"
#include "a2a/card/card_shape.hpp"
#include "a2a/card/card_signature.hpp"

#include <utility>

namespace gateway::cards {
namespace {

using core::card_shape;

}  // namespace

core::result<model::card_body> signed_body(core::json document, const signing& signature)
{
    const auto lean = ::a2a::signable_card(std::move(document));
    auto text = ::a2a::render(lean);
    auto tag = "W/" + ::a2a::strong_etag(text + signature.by->kid());
    const auto signatures = signature.by->signatures_of(lean, signature.public_base);
    if (!signatures) {
        return signatures.error();
    }
    // A card has a name, so that a comma is right, and this one has no signatures yet.
    text.back() = ',';
    text.append(R"("signatures":)").append(core::to_text(*signatures)).append("}");
    return model::card_body{std::move(text), std::move(tag)};
}

card_renderer::card_renderer(core::json rewritten, ::a2a::public_address at, card_shape shape, signing signature)
    : source_{std::in_place_type<core::json>, std::move(rewritten)},
      at_{std::move(at)},
      shape_{shape},
      signature_{std::move(signature)}
{
}

card_renderer::card_renderer(const ::mcp::server_lists& lists, ::mcp::card_request asked, signing signature)
    : source_{std::in_place_type<::mcp::card_writer>, lists, asked},
      at_{asked.at},
      shape_{asked.shape},
      signature_{std::move(signature)}
{
}

bool card_renderer::is_signed(card_shape shape) const noexcept
{
    return shape == card_shape::v1 && signature_.by != nullptr;
}

core::result<bool> card_renderer::step()
{
    const auto done = wanted_.empty() ? prepare() : unfinished_ ? finish() : write();
    if (!done) {
        return done.error();
    }
    return unfinished_ || bodies_.size() < wanted_.size();
}

core::result<> card_renderer::prepare()
{
    const auto* const document = std::get_if<core::json>(&source_);
    if (document == nullptr) {
        if (auto prepared = std::get<::mcp::card_writer>(source_).prepare(); !prepared) {
            return prepared;
        }
    }
    if (shape_ != card_shape::automatic) {
        wanted_ = {shape_};
    } else if (is_signed(card_shape::v1) && document && ::a2a::generation_of(*document) == ::a2a::card_generation::v1) {
        // Who names no version is served the card of 1.0 with its signature too: a hybrid has none.
        wanted_ = {card_shape::v1, card_shape::v03};
    } else if (at_.bridged && document != nullptr) {
        // SDKs of both generations fetch cards without naming a version.
        wanted_ = {card_shape::hybrid, card_shape::v1, card_shape::v03};
    } else {
        wanted_ = {card_shape::automatic, card_shape::v1, card_shape::v03};
    }
    return {};
}

core::result<card_renderer::written_shape> card_renderer::written(card_shape shape, bool last)
{
    if (auto* const lists = std::get_if<::mcp::card_writer>(&source_)) {
        auto card = lists->write(shape);
        if (!card) {
            return std::move(card).error();
        }
        return written_shape{std::move(card->document), std::move(card->text), {}};
    }
    auto& document = std::get<core::json>(source_);
    if (shape == card_shape::automatic) {
        if (auto checked = ::a2a::check_addresses(document, at_); !checked) {
            return std::move(checked).error();
        }
        return written_shape{{}, ::a2a::render(document), {}};
    }
    auto card = ::a2a::shape_card(last ? std::move(document) : document, shape, at_);
    if (!card) {
        return std::move(card).error();
    }
    return written_shape{std::move(card->document), {}, std::move(card->lost)};
}

core::result<> card_renderer::write()
{
    const auto shape = wanted_[bodies_.size()];
    auto card = written(shape, bodies_.size() + 1 == wanted_.size());
    if (!card) {
        auto why = std::move(card).error();
        if (bodies_.empty() || why.code != core::errc::card_too_large) {
            return why;
        }
        card_.refusals.push_back({shape, why});
        bodies_.emplace_back(std::move(why));
        return {};
    }
    if (!card->lost.empty()) {
        card_.losses.push_back({shape, std::move(card->lost)});
    }
    if (is_signed(shape) || card->text.empty()) {
        unfinished_ = std::move(card->document);
    } else {
        bodies_.emplace_back(model::body_with_strong_etag(std::move(card->text)));
    }
    return {};
}

core::result<> card_renderer::finish()
{
    auto document = std::move(*unfinished_);  // NOLINT(bugprone-unchecked-optional-access): step() has looked
    unfinished_.reset();
    if (!is_signed(wanted_[bodies_.size()])) {
        bodies_.emplace_back(model::body_with_strong_etag(::a2a::render(document)));
        return {};
    }
    auto body = signed_body(std::move(document), signature_);
    if (!body) {
        return std::move(body).error();
    }
    card_.signed_by = signature_.by->kid();
    bodies_.push_back(std::move(body));
    return {};
}

rendered_card card_renderer::take() &&
{
    if (wanted_.size() == 1) {
        card_.bytes = model::make_card_bytes(std::move(*bodies_.front()));
        return std::move(card_);
    }
    auto own = wanted_.size() == 2 ? *bodies_.front() : std::move(*bodies_.front());
    model::version_bodies versions{std::move(*(bodies_.end() - 2)), std::move(bodies_.back())};
    card_.bytes = model::make_card_bytes(std::move(own), std::move(versions));
    return std::move(card_);
}

}  // namespace gateway::cards
