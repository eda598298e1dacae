#include "gateway/card_variants.hpp"

#include "a2a/card_repair.hpp"
#include "a2a/card_shape.hpp"
#include "a2a/card_signature.hpp"
#include "a2a/etag.hpp"

#include <utility>

namespace gateway {
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
    const auto all = shape_ == card_shape::automatic ? 3U : 1U;
    if (made_.size() == all) {
        return false;
    }
    core::result<card_body> next = core::gateway_error(core::errc::internal);
    if (all == 1) {
        next = body_of(std::move(rewritten_), shape_);
    } else if (made_.empty()) {
        next = body_of(rewritten_, card_shape::v1);
    } else if (made_.size() == 1) {
        next = signed_for_all_ ? made_.front() : own_body();
    } else {
        next = body_of(std::move(rewritten_), card_shape::v03);
    }
    if (!next) {
        return std::move(next).error();
    }
    made_.push_back(std::move(*next));
    return made_.size() < all;
}

card_variants variant_maker::take() &&
{
    auto bytes = shape_ == card_shape::automatic
                     ? make_card_bytes(std::move(made_[1]), {std::move(made_[0]), std::move(made_[2])})
                     : make_card_bytes(std::move(made_[0]));
    return {std::move(bytes), std::move(losses_), {}, std::move(signed_by_)};
}

core::result<card_body> variant_maker::body_of(core::json rewritten, card_shape shape)
{
    auto made = a2a::shape_card(std::move(rewritten), shape, at_);
    if (!made) {
        return std::move(made).error();
    }
    if (!made->lost.empty()) {
        losses_.push_back({shape, std::move(made->lost)});
    }
    if (shape == card_shape::v1 && how_.by != nullptr) {
        signed_by_ = how_.by->kid();
        return signed_body(std::move(made->document), how_);
    }
    return body_with_strong_etag(a2a::render(made->document));
}

// In the shape that it has.
core::result<card_body> variant_maker::own_body() const
{
    if (auto checked = a2a::check_addresses(rewritten_, at_); !checked) {
        return std::move(checked).error();
    }
    return body_with_strong_etag(a2a::render(rewritten_));
}

core::result<card_body> signed_body(core::json document, const signing& how)
{
    auto lean = a2a::signable_card(std::move(document));
    const auto tag = "W/" + a2a::strong_etag(a2a::render(lean) + how.by->kid());
    if (auto done = how.by->sign(lean, how.public_base); !done) {
        return std::move(done).error();
    }
    return card_body{a2a::render(lean), tag};
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

core::result<std::string>
make_body(core::json rewritten, card_shape shape, const a2a::public_address& at, const signing& how)
{
    if (shape == card_shape::automatic) {
        if (auto checked = a2a::check_addresses(rewritten, at); !checked) {
            return std::move(checked).error();
        }
        return a2a::render(rewritten);
    }
    auto made = make_variants(std::move(rewritten), shape, at, how);
    if (!made) {
        return std::move(made).error();
    }
    return made->bytes->body;
}

}  // namespace gateway
