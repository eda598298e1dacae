// Where the names of members end in a JSON text, found without reading the rest of it: for whoever looks for a few names that most
// texts do not have. Pure.
#pragma once

#include "core/json/json_bytes.hpp"

#include <bit>
#include <cstddef>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace core {

// Whether `each` says so of one of the places where `byte` stands in `text`, which it is given from the front.
template <class Each>
bool any_place(std::string_view text, char byte, Each each)
{
    std::size_t at = 0;
#if defined(__SSE2__)
    const auto wanted = _mm_set1_epi8(byte);
    for (; text.size() - at >= 16; at += 16) {
        const auto block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
        auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, wanted)));
        for (; found != 0; found &= found - 1) {
            if (each(at + static_cast<std::size_t>(std::countr_zero(found)))) {
                return true;
            }
        }
    }
#endif
    for (; at < text.size(); ++at) {
        if (text[at] == byte && each(at)) {
            return true;
        }
    }
    return false;
}

// Whether `each` says so of the end of one of the names of members in a text that is JSON: where the quote behind it stands. A quote
// and a colon within a text look like one too.
template <class Each>
bool any_name_end(std::string_view text, Each each)
{
    return any_place(text, ':', [&](std::size_t end) {
        while (end > 0 && is(text[end - 1], byte_class::space)) {
            --end;
        }
        return end > 0 && text[end - 1] == '"' && each(end - 1);
    });
}

}  // namespace core
