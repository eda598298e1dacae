// The metrics page as it is sent: as it is, or as one member of gzip. On the control loop's thread.
#pragma once

#include "gateway/metrics_feed.hpp"
#include "gateway/model/turns.hpp"
#include "gateway/telemetry/gzip_stream.hpp"
#include "net/loop/types.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace gateway {

class metrics_body {
public:
    // Text that is compressed between two looks at the time: less than a millisecond's work.
    static constexpr std::size_t step = 16 * 1024;

    // Null `gzip`: as it is. `by` outlives the body.
    metrics_body(std::unique_ptr<metrics_feed> page, std::unique_ptr<telemetry::gzip_stream> gzip, model::turns& by);

    bool compressed() const noexcept { return gzip_ != nullptr; }

    // The next piece; empty: that was all.
    net::task<std::string> next();

private:
    std::unique_ptr<metrics_feed> page_;
    std::unique_ptr<telemetry::gzip_stream> gzip_;
    model::turns& turns_;
    std::string text_;       // of the page
    std::size_t taken_ = 0;  // of that, compressed
    bool ended_ = false;
};

}  // namespace gateway
