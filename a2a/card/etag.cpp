#include "a2a/card/etag.hpp"

#include "jose/digest.hpp"

namespace a2a {

std::string strong_etag(std::string_view bytes)
{
    return '"' + jose::sha256_hex(bytes).substr(0, 32) + '"';
}

}  // namespace a2a
