// Two readings of the same bytes: by our parsers and by Boost.Beast's, which share no code. Where both take a message,
// they must agree on where it ends, on what it says and on whether another may follow it: a disagreement is what request
// smuggling consists of. That we refuse what Beast takes is no disagreement. Every other difference that is known and
// meant has a row in the table of the target.
#pragma once

#include "core/ascii.hpp"
#include "net/http1/chunked.hpp"
#include "net/http1/head.hpp"
#include "tests/fuzz/http1_properties.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/beast/http/basic_parser.hpp>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tests {

enum class outcome : std::uint8_t { refused, waiting, message };

struct reading {
    outcome end = outcome::waiting;
    std::size_t length = 0;  // of the whole message
    std::string start;       // what the start line says
    std::string target;      // of a request
    std::string fields;      // a line each
    std::string trailers;    // those that Beast gives; we drop ours
    std::string body;        // without its coding
    bool keep_alive = false;
    std::string why;  // refused: in the parser's own words
};

enum class difference : std::uint8_t { end, length, start, target, fields, body, keep_alive };

inline const char* name(difference d) noexcept
{
    constexpr const char* names[] =
        {"refuses or waits for more", "length", "start line", "target", "fields", "body", "keep-alive"};
    return names[static_cast<std::size_t>(d)];
}

// A difference that is no fault of ours, and why.
struct accepted_difference {
    difference in;
    bool (*applies)(const reading& ours, const reading& theirs, std::string_view bytes);
    const char* why;
};

inline void append_field(std::string& fields, std::string_view name, std::string_view value)
{
    fields.append(name).append(":").append(value).append("\n");
}

// The body that `head` announces, from the bytes behind it. `ours.length` is that of the head so far.
template <class Head>
void read_body(const Head& head, std::string_view rest, reading& ours)
{
    using net::http1::framing;
    ours.end = outcome::message;
    if (head.body == framing::length) {
        ours.end = rest.size() < head.content_length ? outcome::waiting : outcome::message;
        ours.body = rest.substr(0, head.content_length);
    } else if (head.body == framing::until_close) {
        ours.body = rest;
    } else if (head.body == framing::chunked) {
        auto chunked = read_chunked(rest);
        ours.end = chunked.end == "over"      ? outcome::message
                   : chunked.end == "waiting" ? outcome::waiting
                                              : outcome::refused;
        ours.why = chunked.end;
        ours.body = std::move(chunked.data);
        ours.length += chunked.consumed;
        return;
    }
    ours.length += ours.body.size();
}

// Beast's parser with everything it says written down.
template <bool IsRequest>
class beast_reader final : public boost::beast::http::basic_parser<IsRequest> {
    using base = boost::beast::http::basic_parser<IsRequest>;
    using error_code = boost::beast::error_code;
    using text = boost::beast::string_view;

public:
    beast_reader()
    {
        this->header_limit(std::numeric_limits<std::uint32_t>::max());
        this->body_limit(boost::none);
        this->eager(true);
    }

    // `to_head`: of an answer, that the request was HEAD.
    reading read(std::string_view bytes, bool to_head = false)
    {
        this->skip(to_head);
        error_code failed;
        while (!this->is_done() && said_.length < bytes.size()) {
            const auto taken =
                this->put(boost::asio::buffer(bytes.data() + said_.length, bytes.size() - said_.length), failed);
            said_.length += taken;
            if (failed || taken == 0) {
                break;
            }
        }
        if (!this->is_done() && this->is_header_done() && this->need_eof() &&
            (!failed || failed == boost::beast::http::error::need_more)) {
            failed = {};
            this->put_eof(failed);
        }
        if (this->is_done()) {
            said_.end = outcome::message;
            said_.keep_alive = this->keep_alive();
        } else if (failed && failed != boost::beast::http::error::need_more) {
            said_.end = outcome::refused;
            said_.why = failed.message();
        }
        return said_;
    }

private:
    void on_request_impl(boost::beast::http::verb, text method, text target, int version, error_code& failed) override
    {
        failed = {};
        said_.start = std::string{method} + " " + std::to_string(version);
        said_.target = std::string{target};
    }
    void on_response_impl(int status, text, int version, error_code& failed) override
    {
        failed = {};
        said_.start = std::to_string(status) + " " + std::to_string(version);
    }
    void on_field_impl(boost::beast::http::field, text name, text value, error_code& failed) override
    {
        failed = {};
        auto& fields = in_body_ ? said_.trailers : said_.fields;
        append_field(fields, {name.data(), name.size()}, {value.data(), value.size()});
    }
    void on_header_impl(error_code& failed) override
    {
        failed = {};
        in_body_ = true;
    }
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code& failed) override { failed = {}; }
    std::size_t on_body_impl(text data, error_code& failed) override
    {
        failed = {};
        said_.body.append(data.data(), data.size());
        return data.size();
    }
    void on_chunk_header_impl(std::uint64_t, text, error_code& failed) override { failed = {}; }
    std::size_t on_chunk_body_impl(std::uint64_t, text data, error_code& failed) override
    {
        return on_body_impl(data, failed);
    }
    void on_finish_impl(error_code& failed) override { failed = {}; }

    reading said_;
    bool in_body_ = false;
};

// Trailers cannot change the framing of a message whose end they are (RFC 9110 section 6.5.1): we check and drop them.
// Beast reads them as fields of the head that came late: some it refuses, and a Connection among them it obeys.
inline bool refused_trailer(const reading& ours, const reading& theirs, std::string_view)
{
    const bool framing_field =
        theirs.why == "bad Content-Length" || theirs.why == "bad Transfer-Encoding" || theirs.why == "bad value";
    return ours.end == outcome::message && theirs.end == outcome::refused && framing_field &&
           ours.fields == theirs.fields && ours.body == theirs.body;
}

inline bool connection_trailer(const reading& ours, const reading& theirs, std::string_view)
{
    for (std::string_view rest = theirs.trailers; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
        if (core::equal_ignoring_case(rest.substr(0, rest.find(':')), "connection")) {
            return ours.fields == theirs.fields;
        }
    }
    return false;
}

inline std::vector<difference> compare(const reading& ours, const reading& theirs)
{
    if (ours.end == outcome::waiting) {
        // Until we take a message nothing depends on it, unless Beast has one already.
        return theirs.end == outcome::message ? std::vector{difference::end} : std::vector<difference>{};
    }
    if (theirs.end != outcome::message) {
        return {difference::end};
    }
    std::vector<difference> found;
    const auto note = [&](bool same, difference d) {
        if (!same) {
            found.push_back(d);
        }
    };
    note(ours.length == theirs.length, difference::length);
    note(ours.start == theirs.start, difference::start);
    note(ours.target == theirs.target, difference::target);
    note(ours.fields == theirs.fields, difference::fields);
    note(ours.body == theirs.body, difference::body);
    note(ours.keep_alive == theirs.keep_alive, difference::keep_alive);
    return found;
}

inline std::string describe(const reading& r)
{
    constexpr const char* ends[] = {"refused", "waiting", "message"};
    return std::string{ends[static_cast<std::size_t>(r.end)]} + " of " + std::to_string(r.length) + ": " + r.start +
           " " + r.target + (r.keep_alive ? " kept" : " closed") + "\n" + r.fields + "body: " + r.body + "\n" +
           r.trailers + "\n" + r.why;
}

// Ends the process if the readings differ in a way that no row accounts for.
inline void require_agreement(
    const reading& ours,
    const reading& theirs,
    std::string_view bytes,
    std::span<const accepted_difference> table
)
{
    if (ours.end == outcome::refused) {
        return;
    }
    for (const auto d : compare(ours, theirs)) {
        bool accepted = false;
        for (const auto& row : table) {
            accepted = accepted || (row.in == d && row.applies(ours, theirs, bytes));
        }
        require(accepted, name(d), describe(ours), describe(theirs));
    }
}

}  // namespace tests
