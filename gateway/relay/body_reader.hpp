// Reads the body of an agent's answer out of what has come on the connection: the one place that knows how its framing
// says where it ends. Pure, incremental, no allocation.
#pragma once

#include "core/error.hpp"
#include "net/http1/chunked.hpp"
#include "net/http1/head.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace gateway::relay {

class body_reader {
public:
    // For an answer without a body.
    body_reader() = default;

    // `length`: bytes of a body with framing::length.
    body_reader(net::http1::framing how, std::uint64_t length) noexcept;

    struct piece {
        std::size_t used = 0;   // bytes of the input that are done with
        std::string_view data;  // of the body, a view into the input; may be empty
    };

    // The first piece of the body in `received`, until done(). Fails with upstream_protocol; read no more then.
    core::result<piece> take(std::string_view received);

    // The agent's connection has ended, and everything that came before was taken: done(), or upstream_reset.
    core::result<> end(const net::error_code& why);

    bool done() const noexcept { return done_; }

    // Bytes that the current chunk has announced and that have not come.
    std::uint64_t announced() const noexcept { return chunks_.chunk_left(); }

private:
    net::http1::chunked_decoder chunks_;
    std::uint64_t remaining_ = 0;  // of a body with a length
    net::http1::framing framing_ = net::http1::framing::none;
    bool done_ = true;
};

}  // namespace gateway::relay
