// The body of a message whose head was parsed: where it ends, and what of the received bytes is its data. Pure.
#pragma once

#include "core/error.hpp"
#include "net/http1/chunked.hpp"
#include "net/http1/head.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace net::http1 {

class body_reader {
public:
    // For an answer without a body.
    body_reader() = default;

    // `length`: bytes of a body with framing::length.
    body_reader(framing how, std::uint64_t length) noexcept;

    struct piece {
        std::size_t used = 0;   // bytes of the input that are done with
        std::string_view data;  // of the body, a view into the input; may be empty
    };

    // The first piece of the body in `received`, until done(). Fails with upstream_protocol; read no more then.
    core::result<piece> take(std::string_view received);

    // The connection has ended, and everything that came before was taken: done(), or upstream_reset. `in_order`: by the peer, which has
    // not broken it; `why`: a detail.
    core::result<> end(bool in_order, std::string why);

    bool done() const noexcept { return done_; }

    // Bytes that the current chunk has announced and that have not come.
    std::uint64_t announced() const noexcept { return chunks_.chunk_left(); }

private:
    chunked_decoder chunks_;
    std::uint64_t remaining_ = 0;  // of a body with a length
    framing framing_ = framing::none;
    bool done_ = true;
};

}  // namespace net::http1
