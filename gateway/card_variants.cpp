#include "gateway/card_variants.hpp"

#include "a2a/card_repair.hpp"
#include "a2a/card_shape.hpp"
#include "a2a/card_signature.hpp"
#include "a2a/etag.hpp"

#include <utility>

namespace gateway {
namespace {

using core::card_shape;

class variant_maker {
public:
    variant_maker(const a2a::public_address& at, const signing& how)
        : at_{at},
          how_{how}
    {
    }

    core::result<card_body> body_of(core::json rewritten, card_shape shape)
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
    core::result<card_body> own_body(const core::json& rewritten) const
    {
        if (auto checked = a2a::check_addresses(rewritten, at_); !checked) {
            return std::move(checked).error();
        }
        return body_with_strong_etag(a2a::render(rewritten));
    }

    card_variants take(std::shared_ptr<const card_bytes> bytes) &&
    {
        return {std::move(bytes), std::move(losses_), {}, std::move(signed_by_)};
    }

private:
    const a2a::public_address& at_;
    const signing& how_;
    std::vector<card_loss> losses_;
    std::string signed_by_;
};

}  // namespace

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
    variant_maker maker{at, how};
    if (shape != card_shape::automatic) {
        auto only = maker.body_of(std::move(rewritten), shape);
        if (!only) {
            return std::move(only).error();
        }
        return std::move(maker).take(make_card_bytes(std::move(*only)));
    }
    auto v1 = maker.body_of(rewritten, card_shape::v1);
    if (!v1) {
        return std::move(v1).error();
    }
    // Who names no version is served a card of 1.0 with a signature too, if the agent writes one.
    const bool signed_for_all = how.by != nullptr && a2a::generation_of(rewritten) == a2a::card_generation::v1;
    auto own = signed_for_all ? v1 : maker.own_body(rewritten);
    if (!own) {
        return std::move(own).error();
    }
    auto v03 = maker.body_of(std::move(rewritten), card_shape::v03);
    if (!v03) {
        return std::move(v03).error();
    }
    version_bodies others{std::move(*v1), std::move(*v03)};
    return std::move(maker).take(make_card_bytes(std::move(*own), std::move(others)));
}

core::result<std::string>
make_body(core::json rewritten, card_shape shape, const a2a::public_address& at, const signing& how)
{
    auto made = variant_maker{at, how}.body_of(std::move(rewritten), shape);
    if (!made) {
        return std::move(made).error();
    }
    return std::move(made->text);
}

}  // namespace gateway
