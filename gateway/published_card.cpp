#include "gateway/published_card.hpp"

#include "a2a/etag.hpp"
#include "net/http1/head_writer.hpp"

#include <utility>

namespace gateway {

std::shared_ptr<const card_bytes> make_card_bytes(std::string body)
{
    auto made = std::make_shared<card_bytes>();
    made->etag = a2a::strong_etag(body);
    net::http1::head_writer head{made->fields};
    head.field("Content-Type", "application/json");
    head.field("Content-Length", body.size());
    head.field("ETag", made->etag);
    made->body = std::move(body);
    return made;
}

bool none_match_hits(std::string_view field_value, std::string_view etag) noexcept
{
    const auto skip = [&](std::string_view what) {
        while (!field_value.empty() && what.find(field_value.front()) != std::string_view::npos) {
            field_value.remove_prefix(1);
        }
    };
    skip(" \t");
    if (field_value == "*") {
        return true;
    }
    for (;;) {
        skip(" \t,");
        if (field_value.starts_with("W/")) {
            field_value.remove_prefix(2);
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

}  // namespace gateway
