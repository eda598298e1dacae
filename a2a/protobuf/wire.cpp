#include "a2a/protobuf/wire.hpp"

#include "core/utf8.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace a2a::protobuf {
namespace {

// Each of the 64 levels of a Struct has three messages on the wire.
constexpr unsigned deepest = 3 * 64 + 16;

using pieces = std::span<const std::string_view>;

// Calls `each` with the fields of all pieces, as if they were one message. Returns why they are not, or nothing.
template <class Each>
std::string_view for_each_field(pieces of, Each&& each)
{
    for (const auto piece : of) {
        wire_reader in{piece};
        wire_field field;
        while (!in.done()) {
            if (!in.next(field)) {
                return in.why();
            }
            each(field);
        }
    }
    return {};
}

const field_row* known(const message_type& type, const wire_field& field) noexcept
{
    const auto* const row = type.find(field.number);
    return row != nullptr && row->wire() == field.type ? row : nullptr;
}

class canonical_maker {
public:
    canonical_maker(std::string& out, std::size_t size)
        : writer_{out, size}
    {
    }

    // The fields are read once for each row that is there, so that no list of them has to be kept.
    void message(const message_type& type, pieces of, unsigned depth)
    {
        if (depth == 0) {
            why_ = "is nested too deep";
            return;
        }
        std::array<std::size_t, message_type::most_numbers> from{
        };  // by row: the first field that no other of its oneof has ended
        std::uint32_t seen = 0;
        std::size_t count = 0;
        const auto why = for_each_field(of, [&](const wire_field& field) {
            ++count;
            const auto* const row = known(type, field);
            if (row == nullptr) {
                writer_.sink().put(field.raw);
                return;
            }
            const auto bit = 1U << type.index_of(*row);
            for (auto others = row->alone & ~bit; others != 0; others &= others - 1) {
                from[static_cast<std::size_t>(std::countr_zero(others))] = count;
            }
            seen = (seen & ~row->alone) | bit;
        });
        why_ = why_.empty() ? why : why_;
        for (; seen != 0 && why_.empty(); seen &= seen - 1) {
            const auto i = static_cast<std::size_t>(std::countr_zero(seen));
            field(type, type.fields[i], of, {from[i], depth - 1});
        }
    }

    std::string_view finish()
    {
        writer_.finish();
        return why_;
    }

private:
    struct bounds {
        std::size_t from = 0;  // the first field that counts
        unsigned depth = 0;
    };

    void field(const message_type& type, const field_row& row, pieces of, bounds within)
    {
        std::size_t count = 0;
        std::string_view last;
        std::vector<std::string_view> parts;
        for_each_field(of, [&](const wire_field& each) {
            if (++count <= within.from || known(type, each) != &row || !why_.empty()) {
                return;
            }
            if (row.kind != field_kind::message && row.alone == 0) {
                writer_.sink().put(each.raw);
            } else if (row.kind != field_kind::message) {
                last = each.raw;
            } else if (row.alone == 0) {
                nested(row, {&each.bytes, 1}, within.depth);
            } else {
                parts.push_back(each.bytes);
            }
        });
        if (!last.empty()) {
            writer_.sink().put(last);
        }
        if (!parts.empty()) {
            nested(row, parts, within.depth);
        }
    }

    void nested(const field_row& row, pieces of, unsigned depth)
    {
        const auto begun = writer_.open(row.number);
        message(*row.message, of, depth);
        writer_.close(begun);
    }

    wire_writer writer_;
    std::string_view why_;
};

}  // namespace

bool trouble::refuse(std::string_view why, int code)
{
    if (!any_) {
        any_ = true;
        found_.code = from_agent_ && code != rpc_code::invalid_request ? rpc_code::invalid_agent_response : code;
        found_.why = why;
    }
    return false;
}

bool trouble::within(std::string_view member)
{
    const bool joined = found_.member.empty() || found_.member.starts_with('[');
    found_.member.insert(0, joined ? "" : ".").insert(0, member);
    return false;
}

bool trouble::within(std::string_view member, std::size_t position)
{
    const bool joined = found_.member.empty() || found_.member.starts_with('[');
    found_.member.insert(0, joined ? "]" : "].").insert(0, std::to_string(position)).insert(0, "[").insert(0, member);
    return false;
}

bool trouble::within_key(std::string_view key)
{
    return within(core::cut_utf8(key, longest_key));
}

refusal trouble::take()
{
    found_.member.resize(core::cut_utf8(found_.member, longest_path).size());
    return std::move(found_);
}

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

std::string_view append_canonical(std::string& out, const message_type& type, std::string_view bytes)
{
    canonical_maker make{out, bytes.size()};
    make.message(type, {&bytes, 1}, deepest);
    return make.finish();
}

}  // namespace a2a::protobuf
