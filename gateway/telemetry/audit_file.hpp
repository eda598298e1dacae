// Where audit lines end: standard output, or a file that is appended to, written by one thread (gateway/telemetry/log_output.hpp).
#pragma once

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "core/log.hpp"
#include "gateway/telemetry/log_output.hpp"
#include "gateway/telemetry/replica_field.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace gateway::telemetry {

class audit_file final : public core::log_sink {
public:
    // `place`: `stdout` or `file:PATH`; a new file is for its owner alone. Fails with config_invalid: it is no regular file
    // but a symbolic link, say, or cannot be opened.
    static core::result<std::unique_ptr<audit_file>> open(const std::string& place);

    // Before the first line: what each line has besides.
    void set_replica(replica_field replica) { replica_ = std::move(replica); }

    // Writes as log_output::write() does.
    void write(std::string_view lines) override
    {
        output_.write(replica_.empty() ? lines : std::string_view{replica_.added_to(lines)});
    }

    // Later lines go to the file that has the name now: the previous one was rotated. Blocks; any thread.
    // Fails as open(), and the file before stays in use.
    core::result<> reopen();

    // Lines that will not be seen, and whether the latest one was such. Any thread.
    std::uint64_t dropped() const noexcept { return output_.dropped(); }
    bool failing() const noexcept { return output_.failing(); }

private:
    audit_file(std::string path, core::descriptor file);

    std::string path_;       // empty: standard output
    core::descriptor file_;  // its number stays, whatever file is behind it
    log_output output_;
    replica_field replica_;
};

}  // namespace gateway::telemetry
