// The console's page: files that are part of the program (gateway/console/page/), for browsers, at /console/. They have no secret in them
// and are open to whoever reaches the admin listener; what they show comes from its methods. One thread.
#pragma once

#include "gateway/responses/answer.hpp"
#include "net/http1/head.hpp"

#include <array>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace gateway::console {

// A file as it lies in the tree; both are constants.
struct embedded_file {
    std::string_view name;  // below the folder of the page, such as `vendor/preact.js`
    std::string_view bytes;
};

// By name. From embed.cmake.
std::span<const embedded_file> embedded_files();

inline constexpr std::string_view page_path = "/console/";

// Whether the path is one of the page's, or its address without the slash.
bool is_page_path(std::string_view path) noexcept;

// Whether a request for the index of the listener is a browser's, which is led to the page.
bool wants_page(const net::http1::request_head& asked);

// 303 to the page, from the index and from its address without the slash. The address is relative: behind a proxy the listener may have
// another path.
responses::answer lead_to_page();

class page {
public:
    // `files` outlive the page.
    explicit page(std::span<const embedded_file> files = embedded_files());

    // To GET and HEAD for a path of the page: the file, 304 if the caller has it, 404 if there is none; 405 to other methods. Compressed,
    // with the first request that wants it so, for callers that take gzip.
    responses::answer answer(const net::http1::request_head& asked, std::string_view path);

private:
    struct served_file {
        std::string_view type;
        std::string_view bytes;
        std::string etag;
        std::string compressed;  // empty: not yet
    };

    std::map<std::string_view, served_file> files_;
};

}  // namespace gateway::console
