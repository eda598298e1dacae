#include "gateway/telemetry/gzip_stream.hpp"

#define ZLIB_CONST
#include <zlib.h>

#include <array>

namespace gateway::telemetry {
namespace {

constexpr int window_of_gzip = 15 + 16;  // 32 KiB, in the format of gzip
constexpr int usual_memory = 8;

}  // namespace

void gzip_stream::closer::operator()(z_stream_s* stream) const noexcept
{
    deflateEnd(stream);
    delete stream;
}

std::unique_ptr<gzip_stream> gzip_stream::make()
{
    auto state = std::make_unique<z_stream>();
    const int begun =
        deflateInit2(state.get(), Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_of_gzip, usual_memory, Z_DEFAULT_STRATEGY);
    if (begun != Z_OK) {
        return nullptr;
    }
    return std::unique_ptr<gzip_stream>{new gzip_stream{handle{state.release()}}};
}

void gzip_stream::add(std::string_view text, std::string& out)
{
    run(text, Z_NO_FLUSH, out);
}

void gzip_stream::finish(std::string& out)
{
    run({}, Z_FINISH, out);
}

// With room for its output deflate() cannot fail; it is done when it leaves some of it.
void gzip_stream::run(std::string_view text, int flush, std::string& out)
{
    std::array<unsigned char, 16 * 1024> room{};
    stream_->next_in = reinterpret_cast<const unsigned char*>(text.data());
    stream_->avail_in = static_cast<unsigned>(text.size());
    do {
        stream_->next_out = room.data();
        stream_->avail_out = static_cast<unsigned>(room.size());
        deflate(stream_.get(), flush);
        out.append(reinterpret_cast<const char*>(room.data()), room.size() - stream_->avail_out);
    } while (stream_->avail_out == 0);
}

}  // namespace gateway::telemetry
