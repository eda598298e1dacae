#include "net/http1/body_reader.hpp"

#include <algorithm>
#include <utility>

namespace net::http1 {

using core::errc;

body_reader::body_reader(framing how, std::uint64_t length) noexcept
    : remaining_{length},
      framing_{how},
      done_{how == framing::none || (how == framing::length && length == 0)}
{
}

core::result<body_reader::piece> body_reader::take(std::string_view received)
{
    if (framing_ == framing::chunked) {
        auto step = chunks_.decode(received);
        if (!step) {
            return core::upstream_error(errc::upstream_protocol, "chunk: " + std::move(step).error().detail);
        }
        done_ = step->finished;
        return piece{step->consumed, step->data};
    }
    if (framing_ == framing::length) {
        received = received.substr(0, static_cast<std::size_t>(std::min<std::uint64_t>(received.size(), remaining_)));
        remaining_ -= received.size();
        done_ = remaining_ == 0;
    }
    return piece{received.size(), received};
}

core::result<> body_reader::end(bool in_order, std::string why)
{
    if (framing_ != framing::until_close || !in_order) {
        return core::upstream_error(errc::upstream_reset, std::move(why));
    }
    done_ = true;
    return {};
}

}  // namespace net::http1
