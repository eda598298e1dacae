#include "gateway/cards/card_variants.hpp"

#include "a2a/card/card_repair.hpp"
#include "a2a/card/card_shape.hpp"
#include "a2a/card/card_signature.hpp"
#include "a2a/card/etag.hpp"

#include <array>
#include <utility>

namespace gateway::cards {
using core::card_shape;

variant_maker::variant_maker(core::json rewritten, card_shape shape, a2a::public_address at, signing how)
    : rewritten_{std::move(rewritten)},
      shape_{shape},
      at_{std::move(at)},
      how_{std::move(how)}
{
    // Who names no version is served a card of 1.0 with a signature too, if the agent writes one.
    signed_for_all_ = how_.by != nullptr && a2a::generation_of(rewritten_) == a2a::card_generation::v1;
}

core::result<bool> variant_maker::step()
{
    if (!shaped_ && made_.size() == all()) {
        return false;
    }
    if (const auto done = shaped_ ? finish_one() : begin_one(); !done) {
        return done.error();
    }
    return shaped_.has_value() || made_.size() < all();
}

card_shape variant_maker::next_shape() const noexcept
{
    constexpr std::array in_turn{card_shape::v1, card_shape::automatic, card_shape::v03};
    return shape_ == card_shape::automatic ? in_turn[made_.size()] : shape_;
}

core::result<> variant_maker::begin_one()
{
    const auto shape = next_shape();
    if (shape == card_shape::automatic) {
        auto body = signed_for_all_ ? made_.front() : own_body(rewritten_, at_);
        if (!body) {
            return std::move(body).error();
        }
        made_.push_back(std::move(*body));
        return {};
    }
    const bool last = made_.size() + 1 == all();
    auto made = a2a::shape_card(last ? std::move(rewritten_) : rewritten_, shape, at_);
    if (!made) {
        return std::move(made).error();
    }
    if (!made->lost.empty()) {
        losses_.push_back({shape, std::move(made->lost)});
    }
    shaped_ = std::move(made->document);
    return {};
}

core::result<> variant_maker::finish_one()
{
    auto document = std::move(*shaped_);  // NOLINT(bugprone-unchecked-optional-access): step() has looked
    shaped_.reset();
    if (next_shape() != card_shape::v1 || how_.by == nullptr) {
        made_.push_back(model::body_with_strong_etag(a2a::render(document)));
        return {};
    }
    signed_by_ = how_.by->kid();
    auto body = signed_body(std::move(document), how_);
    if (!body) {
        return std::move(body).error();
    }
    made_.push_back(std::move(*body));
    return {};
}

card_variants variant_maker::take() &&
{
    auto bytes = shape_ == card_shape::automatic
                     ? model::make_card_bytes(std::move(made_[1]), {std::move(made_[0]), std::move(made_[2])})
                     : model::make_card_bytes(std::move(made_[0]));
    return {std::move(bytes), std::move(losses_), {}, std::move(signed_by_)};
}

core::result<model::card_body> own_body(const core::json& rewritten, const a2a::public_address& at)
{
    if (auto checked = a2a::check_addresses(rewritten, at); !checked) {
        return std::move(checked).error();
    }
    return model::body_with_strong_etag(a2a::render(rewritten));
}

core::result<model::card_body> signed_body(core::json document, const signing& how)
{
    const auto lean = a2a::signable_card(std::move(document));
    auto text = a2a::render(lean);
    auto tag = "W/" + a2a::strong_etag(text + how.by->kid());
    const auto signatures = how.by->signatures_of(lean, how.public_base);
    if (!signatures) {
        return signatures.error();
    }
    // A card has a name, so that a comma is right, and this one has no signatures yet.
    text.back() = ',';
    text.append(R"("signatures":)").append(core::to_text(*signatures)).append("}");
    return model::card_body{std::move(text), std::move(tag)};
}

core::result<card_variants>
make_variants(core::json rewritten, card_shape shape, const a2a::public_address& at, const signing& how)
{
    variant_maker maker{std::move(rewritten), shape, at, how};
    for (bool more = true; more;) {
        const auto stepped = maker.step();
        if (!stepped) {
            return stepped.error();
        }
        more = *stepped;
    }
    return std::move(maker).take();
}

}  // namespace gateway::cards
