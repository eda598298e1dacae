// The strings of a message that say where it goes and what it names, found without decoding the rest; of a request while its bytes pass. A field that is
// not to be repeated and stands twice is refused, on the way to a string or as the string: readers do not agree which one counts. Refusals
// have the code parse_error (not a message on the wire) or invalid_params. Pure; one thread.
#pragma once

#include "a2a/protobuf/codec.hpp"
#include "a2a/protobuf/message_type.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace a2a::protobuf {

// The place of a field in a message, tag and length included: without it, the message is the bytes before `begin` and those from `end` on.
struct field_place {
    std::size_t begin = 0;
    std::size_t end = 0;  // equals `begin`: the field is absent
};

// The field `tenant` of a request of 1.0.
struct tenant_field {
    std::string value;  // empty: absent, or an empty text
    field_place place;
};

// Replaces the tenant in the beginning of a message, where it stands there; empty: removes it. Changes nothing if the type has none.
void replace_tenant(const message_type& type, std::string& bytes, field_place old, std::string_view tenant);

// Appends what an answer shows of its task, as ProtoJSON: the wrapper, ids, the state, and whether an artifact has come. Nothing else is
// read: it may be what to_json() refuses. Of fields that stand twice the last one counts, as for every reader. False: not a message on the
// wire, and nothing is appended.
bool append_shown(const message_type& type, std::string_view bytes, std::string& json);

// Reads a request in any pieces, with the same outcome.
class request_scan {
public:
    // A text that it looks for is refused if it has more bytes.
    static constexpr std::uint64_t longest_text = 64 * 1024;

    enum class told : std::uint8_t { task, context, push_url };

    // True: go on. The value holds until it returns; one in the first bytes of a request is a part of them.
    using visitor = std::function<bool(told what, std::string_view value)>;

    // The type outlives the scan.
    explicit request_scan(const message_type& type) noexcept { levels_[0].type = &type; }

    // The next bytes. Calls `each` for the `taskId` and `contextId` of the message in them, for every element of its `referenceTaskIds`,
    // which are tasks too, and for the `taskId` and `url` of the push configuration. After false nothing more is read. Nothing is to be
    // fed after a refusal.
    translation<> feed(std::string_view bytes, const visitor& each);

    // From now on a tenant, and a task or context that the message belongs to, is refused: where it goes is settled.
    void settle() noexcept { settled_ = true; }

    // The message may end here.
    bool whole() const noexcept { return depth_ == 0 && at_part_ == part::tag && shift_ == 0; }

    // It shows what has come of it so far.
    const tenant_field& tenant() const noexcept { return tenant_; }

private:
    enum class part : std::uint8_t { tag, varint, length, bytes, text, nothing };

    struct level {
        const message_type* type = nullptr;
        const field_row* row = nullptr;  // whose value it is; null: of the whole request
        std::uint64_t end = UINT64_MAX;
        std::uint32_t seen = 0;  // rows that have come
    };

    bool refuse(std::string_view why, int code);
    bool malformed(std::string_view why) { return refuse(why, rpc_code::parse_error); }
    level& here() noexcept { return levels_[depth_]; }
    bool read_varint(std::string_view& bytes, const visitor& each);
    bool begin_field(std::uint64_t tag);
    bool begin_value(std::uint64_t length, const visitor& each);
    bool take_bytes(std::string_view& bytes, const visitor& each);
    bool take_text(std::string_view piece, const visitor& each);
    bool descends() const noexcept;
    bool is_wanted() const noexcept;

    std::array<level, 3> levels_{};  // as deep as there is anything to be found
    std::size_t depth_ = 0;
    std::uint64_t at_ = 0;            // bytes that were read
    std::uint64_t begin_ = 0;         // of the field at hand
    std::uint64_t value_ = 0;         // of the varint at hand
    std::uint64_t left_ = 0;          // of the bytes at hand
    const field_row* row_ = nullptr;  // of the field at hand, if that is one to descend into or to tell of
    std::string text_;                // of it, if it comes in pieces
    tenant_field tenant_;
    refusal refused_;  // once a function has returned false
    unsigned shift_ = 0;
    part at_part_ = part::tag;
    bool settled_ = false;
};

}  // namespace a2a::protobuf
