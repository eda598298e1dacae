// Text made smaller a piece at a time: one member of gzip (RFC 1952). One thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

struct z_stream_s;

namespace gateway::telemetry {

class gzip_stream {
public:
    // Null: there is no memory for it, which is 256 KiB.
    static std::unique_ptr<gzip_stream> make();

    // `text` is below 1 GiB. What is ready of the member is added to `out`; most waits for more text.
    void add(std::string_view text, std::string& out);

    // The rest of the member. Nothing is added afterwards.
    void finish(std::string& out);

private:
    struct closer {
        void operator()(z_stream_s* stream) const noexcept;
    };
    using handle = std::unique_ptr<z_stream_s, closer>;

    explicit gzip_stream(handle stream) noexcept
        : stream_{std::move(stream)}
    {
    }
    void run(std::string_view text, int flush, std::string& out);

    handle stream_;
};

}  // namespace gateway::telemetry
