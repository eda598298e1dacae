// What the files of jose share to call OpenSSL; no concern of others.
#pragma once

#include <string_view>

namespace jose {

// A deleter that calls one of OpenSSL's.
template <auto Free>
struct freed_by {
    void operator()(auto* object) const noexcept { Free(object); }
};

inline const unsigned char* bytes_of(std::string_view text) noexcept
{
    return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace jose
