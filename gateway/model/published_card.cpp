#include "gateway/model/published_card.hpp"

#include "a2a/card/card.hpp"
#include "net/http1/head_writer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace gateway::model {

namespace {

std::shared_ptr<card_bytes> make_bytes(card_body body, bool by_version)
{
    auto bytes = std::make_shared<card_bytes>();
    bytes->etag = std::move(body.etag);
    net::http1::head_writer head{bytes->fields};
    head.field("Content-Type", "application/json");
    head.field("Content-Length", body.text.size());
    net::http1::head_writer validators{bytes->validators};
    validators.field("ETag", bytes->etag);
    if (by_version) {
        validators.field("Vary", "A2A-Version");
    }
    bytes->body = std::move(body.text);
    bytes->by_version = by_version;
    return bytes;
}

// Null: `own` is what these callers get too.
std::shared_ptr<const card_bytes> make_version(core::result<card_body> body, const std::string& own)
{
    if (!body) {
        auto bytes = std::make_shared<card_bytes>();
        bytes->by_version = true;
        bytes->refused = std::move(body).error();
        return bytes;
    }
    return body->etag == own ? nullptr : make_bytes(std::move(*body), true);
}

bool same_version(const card_bytes* a, const card_bytes* b) noexcept
{
    if (a == nullptr || b == nullptr) {
        return a == b;
    }
    return a->etag == b->etag && a->refused.has_value() == b->refused.has_value();
}

}  // namespace

card_body body_with_strong_etag(std::string text)
{
    auto etag = ::a2a::strong_etag(text);
    return {std::move(text), std::move(etag)};
}

std::shared_ptr<const card_bytes> make_card_bytes(card_body body)
{
    return make_bytes(std::move(body), false);
}

std::shared_ptr<const card_bytes> make_card_bytes(card_body body, version_bodies others)
{
    auto bytes = make_bytes(std::move(body), true);
    bytes->v1 = make_version(std::move(others.v1), bytes->etag);
    bytes->v03 = make_version(std::move(others.v03), bytes->etag);
    return bytes;
}

bool same_bytes(const card_bytes& a, const card_bytes& b) noexcept
{
    return a.etag == b.etag && same_version(a.v1.get(), b.v1.get()) && same_version(a.v03.get(), b.v03.get());
}

const card_bytes& for_version(const card_bytes& all, std::string_view a2a_version) noexcept
{
    const auto major = a2a_version.substr(0, a2a_version.find('.'));
    const auto* chosen = major == "1" ? all.v1.get() : major == "0" ? all.v03.get() : nullptr;
    return chosen == nullptr ? all : *chosen;
}

bool has_it(const kept_by_caller& kept, std::string_view etag, std::string_view modified) noexcept
{
    if (kept.none_match != nullptr) {
        return none_match_hits(*kept.none_match, etag);
    }
    return kept.modified_since != nullptr && !modified.empty() && *kept.modified_since == modified;
}

bool none_match_hits(std::string_view field_value, std::string_view etag) noexcept
{
    constexpr std::string_view weak = "W/";
    if (etag.starts_with(weak)) {
        etag.remove_prefix(weak.size());
    }
    const auto skip = [&](std::string_view bytes) {
        while (!field_value.empty() && bytes.find(field_value.front()) != std::string_view::npos) {
            field_value.remove_prefix(1);
        }
    };
    skip(" \t");
    if (field_value == "*") {
        return true;
    }
    for (;;) {
        skip(" \t,");
        if (field_value.starts_with(weak)) {
            field_value.remove_prefix(weak.size());
        }
        if (!field_value.starts_with('"')) {
            return false;
        }
        const auto end = field_value.find('"', 1);
        if (end == std::string_view::npos) {
            return false;
        }
        if (field_value.substr(0, end + 1) == etag) {
            return true;
        }
        field_value.remove_prefix(end + 1);
    }
}

card_standing standing_of(const published_card& card, core::steady_time now) noexcept
{
    if (now < card.fresh_until) {
        return card_standing::fresh;
    }
    if (now >= card.stale_until) {
        return card_standing::expired;
    }
    return now < card.refresh_at ? card_standing::stale : card_standing::refreshing;
}

long max_age(const published_card& card, core::steady_time now)
{
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(card.fresh_until - now).count();
    return static_cast<long>(std::max<std::int64_t>(left, 0));
}

}  // namespace gateway::model
