// The cookies that one server sets for one session (RFC 6265), all of one origin. A cookie is only ever sent to the host that has
// set it. Values may be credentials: never logged. Pure.
#pragma once

#include "core/clock.hpp"

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace net::http1 {

// Where the request went whose answer sets a cookie.
struct cookie_source {
    std::string_view host;  // without the port
    std::string_view path;  // may have a query
    bool secure = false;    // https
};

class cookie_jar {
public:
    static constexpr std::size_t most = 16;
    static constexpr std::size_t most_bytes = 4096;  // of all names, values and paths

    // Takes the value of a Set-Cookie field. True: the cookies have changed; a cookie that only lives longer does not change before half of its
    // time is over. These are ignored: a field without a name or with control
    // characters, a `Domain` that is not the host or above it, `Secure` over http, and what does not fit beside the other cookies.
    bool take(std::string_view field, const cookie_source& from, core::wall_time now);

    // The value of the Cookie field of a request to this path, which may have a query. Empty: there is none.
    std::string line(std::string_view path, core::wall_time now) const;

    bool empty() const noexcept { return all_.empty(); }
    void clear() noexcept { all_.clear(); }

    // A text that of_text() reads back; empty if the jar is.
    std::string to_text() const;
    static cookie_jar of_text(std::string_view text);

    friend bool operator==(const cookie_jar&, const cookie_jar&) = default;

private:
    struct cookie {
        std::string name;
        std::string value;
        std::string path;
        std::optional<std::chrono::sys_seconds> expires;  // nullopt: with the session

        std::size_t bytes() const noexcept { return name.size() + value.size() + path.size(); }
        bool is_over(core::wall_time now) const noexcept { return expires && *expires <= now; }

        friend bool operator==(const cookie&, const cookie&) = default;
    };

    static std::optional<cookie> read(std::string_view field, const cookie_source& from, core::wall_time now);
    bool put(cookie added);

    std::vector<cookie> all_;  // longest path first, then as they came (RFC 6265 section 5.4)
};

}  // namespace net::http1
