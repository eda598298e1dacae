// What the measured agent says, as whole HTTP/1.1 answers with the header fields of an agent on Node.js and Express.
// A size that is too small for its JSON is a std::invalid_argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace bench {

// `before` + dots + `after`, `size` bytes in all.
std::string padded(std::string_view before, std::string_view after, std::size_t size);

// Status 200 with this body.
std::string whole_answer(std::string_view body);

// A JSON-RPC answer whose body has `body` bytes.
std::string call_answer(std::size_t body);

// The card, 4 KiB, of an agent on this port of 127.0.0.1.
std::string card_answer(std::uint16_t port);

// The head of a chunked stream of server-sent events.
std::string event_stream_head();

// An event of 200 bytes as one chunk.
std::string event_chunk();

}  // namespace bench
