// Frames of HTTP/2 as bytes (RFC 9113 section 4, RFC 7541): written as a peer may send them, however wrong, and read back. HPACK is
// written without compression; what is read is decoded by nghttp2.
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test_support::http2 {

inline constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum type : unsigned {
    data,
    headers,
    priority,
    rst_stream,
    settings,
    push_promise,
    ping,
    goaway,
    window_update,
    continuation
};
enum flag : unsigned { end_stream = 1, ack = 1, end_headers = 4, padded = 8, has_priority = 32 };

inline std::string number(std::uint64_t value, unsigned bytes)
{
    std::string out;
    for (unsigned i = bytes; i > 0; --i) {
        out.push_back(static_cast<char>(value >> (8 * (i - 1)) & 0xff));
    }
    return out;
}

inline std::uint64_t number_in(std::string_view bytes)
{
    std::uint64_t value = 0;
    for (const char byte : bytes) {
        value = value << 8 | static_cast<unsigned char>(byte);
    }
    return value;
}

inline std::string frame(unsigned type, unsigned flags, std::uint32_t stream, std::string_view payload = {})
{
    return number(payload.size(), 3) + number(type, 1) + number(flags, 1) + number(stream, 4) + std::string{payload};
}

using field_lines = std::vector<std::pair<std::string, std::string>>;

// RFC 7541 sections 5.1, 5.2 and 6.2.2: literals that are not indexed, not in Huffman code.
inline std::string block_of(const field_lines& fields)
{
    const auto text = [](std::string_view of) {
        std::string out;
        if (of.size() < 127) {
            out.push_back(static_cast<char>(of.size()));
        } else {
            out.push_back(127);
            auto left = of.size() - 127;
            for (; left >= 128; left /= 128) {
                out.push_back(static_cast<char>(left % 128 + 128));
            }
            out.push_back(static_cast<char>(left));
        }
        return out.append(of);
    };
    std::string out;
    for (const auto& [name, value] : fields) {
        out += '\0' + text(name) + text(value);
    }
    return out;
}

inline std::string
headers_frame(std::uint32_t stream, const field_lines& fields, unsigned flags = end_headers | end_stream)
{
    return frame(headers, flags, stream, block_of(fields));
}

inline field_lines get(std::string path = "/", field_lines more = {})
{
    field_lines out{{":method", "GET"}, {":scheme", "http"}, {":authority", "a.test"}, {":path", std::move(path)}};
    out.insert(out.end(), more.begin(), more.end());
    return out;
}

inline field_lines post(std::string path = "/", field_lines more = {})
{
    auto out = get(std::move(path), std::move(more));
    out[0].second = "POST";
    return out;
}

inline std::string settings_frame(const std::vector<std::pair<unsigned, std::uint32_t>>& values = {})
{
    std::string payload;
    for (const auto& [id, value] : values) {
        payload += number(id, 2) + number(value, 4);
    }
    return frame(settings, 0, 0, payload);
}

inline std::string reset_frame(std::uint32_t stream, std::uint32_t code = 8)
{
    return frame(rst_stream, 0, stream, number(code, 4));
}

inline std::string update_frame(std::uint32_t stream, std::uint32_t by)
{
    return frame(window_update, 0, stream, number(by, 4));
}

inline std::string ping_frame(unsigned flags = 0)
{
    return frame(ping, flags, 0, "12345678");
}

inline std::string repeated(const std::string& frames, std::size_t times)
{
    std::string out;
    for (std::size_t i = 0; i < times; ++i) {
        out += frames;
    }
    return out;
}

inline std::string client_start()
{
    return std::string{preface} + settings_frame();
}

struct read_frame {
    unsigned type = 0;
    unsigned flags = 0;
    std::uint32_t stream = 0;
    std::string payload;

    // The code of RST_STREAM and GOAWAY.
    std::uint64_t code() const { return number_in(std::string_view{payload}.substr(type == goaway ? 4 : 0, 4)); }
};

// Takes the first whole frame out of `bytes`. False: there is none.
inline bool take_frame(std::string& bytes, read_frame& into)
{
    const std::string_view view{bytes};
    if (view.size() < 9 || view.size() < 9 + number_in(view.substr(0, 3))) {
        return false;
    }
    const auto size = number_in(view.substr(0, 3));
    into.type = static_cast<unsigned>(number_in(view.substr(3, 1)));
    into.flags = static_cast<unsigned>(number_in(view.substr(4, 1)));
    into.stream = static_cast<std::uint32_t>(number_in(view.substr(5, 4)));
    into.payload = view.substr(9, size);
    bytes.erase(0, 9 + size);
    return true;
}

inline std::vector<read_frame> take_frames(std::string& bytes)
{
    std::vector<read_frame> out;
    for (read_frame each; take_frame(bytes, each);) {
        out.push_back(each);
    }
    return out;
}

// Decodes the header blocks of one connection, in their order.
class block_reader {
public:
    block_reader()
        : native_{nullptr, &nghttp2_hd_inflate_del}
    {
        nghttp2_hd_inflater* made = nullptr;
        if (nghttp2_hd_inflate_new(&made) != 0) {
            throw std::bad_alloc{};
        }
        native_.reset(made);
    }

    field_lines read(std::string_view block)
    {
        field_lines out;
        auto* at = reinterpret_cast<const std::uint8_t*>(block.data());
        auto left = block.size();
        for (int flags = 0; (flags & NGHTTP2_HD_INFLATE_FINAL) == 0;) {
            nghttp2_nv field{};
            const auto used = nghttp2_hd_inflate_hd2(native_.get(), &field, &flags, at, left, 1);
            if (used < 0) {
                throw std::runtime_error{"a header block that cannot be read"};
            }
            at += used;
            left -= static_cast<std::size_t>(used);
            if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
                never_indexed += (field.flags & NGHTTP2_NV_FLAG_NO_INDEX) != 0 ? 1 : 0;
                out.emplace_back(
                    std::string{reinterpret_cast<const char*>(field.name), field.namelen},
                    std::string{reinterpret_cast<const char*>(field.value), field.valuelen}
                );
            }
        }
        nghttp2_hd_inflate_end_headers(native_.get());
        return out;
    }

    int never_indexed = 0;  // fields so far

private:
    std::unique_ptr<nghttp2_hd_inflater, decltype(&nghttp2_hd_inflate_del)> native_;
};

}  // namespace test_support::http2
