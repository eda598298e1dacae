// RFC 1952, made with Beast's deflate: a peer's compressor that is not the one under test.
#pragma once

#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/crc.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

inline std::string gzip(std::string_view text)
{
    namespace zlib = boost::beast::zlib;
    zlib::deflate_stream deflate;
    std::string packed(deflate.upper_bound(text.size()), '\0');
    zlib::z_params at;
    at.next_in = text.data();
    at.avail_in = text.size();
    at.next_out = packed.data();
    at.avail_out = packed.size();
    boost::system::error_code done;
    deflate.write(at, zlib::Flush::finish, done);
    if (done != zlib::error::end_of_stream) {
        throw std::runtime_error{"gzip: " + done.message()};
    }
    packed.resize(at.total_out);

    boost::crc_32_type check;
    check.process_bytes(text.data(), text.size());
    std::string whole{"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10};
    whole += packed;
    for (const auto number : {static_cast<std::uint32_t>(check.checksum()), static_cast<std::uint32_t>(text.size())}) {
        for (unsigned shift = 0; shift < 32; shift += 8) {
            whole += static_cast<char>((number >> shift) & 0xffU);
        }
    }
    return whole;
}
