#include "a2a/protobuf/wire_writer.hpp"

#include <algorithm>
#include <cstring>

namespace a2a::protobuf {

void wire_writer::finish()
{
    std::ranges::sort(late_, std::ranges::greater{}, &late_length::at);
    sink_.finish();
    const auto old_size = out_.size();
    out_.resize(old_size + added_);
    char* const text = out_.data();
    std::size_t from = old_size;  // of what has not been moved
    std::size_t to = out_.size();
    for (const auto& each : late_) {
        const auto moved = from - each.at - 1;
        to -= moved;
        std::memmove(text + to, text + each.at + 1, moved);
        from = each.at;
        to -= size_of(each.length);
        std::size_t at = to;
        for (auto rest = each.length; at < to + size_of(each.length); rest >>= 7U) {
            text[at++] = static_cast<char>(rest >= 0x80 ? rest | 0x80U : rest);
        }
    }
    late_.clear();
    added_ = 0;
}

}  // namespace a2a::protobuf
