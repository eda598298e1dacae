// The common parts of requests and responses after their first lines: the field section, the framing, the limit of the head. Private to
// this folder.
#pragma once

#include "net/http1/grammar.hpp"
#include "net/http1/head.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

namespace net::http1 {

inline constexpr std::size_t usual_fields = 16;

// For the next message; the list of fields keeps its memory.
template <class Head>
void start_over(head_scan& scan, Head& head) noexcept
{
    scan = {};
    auto fields = std::move(head.fields);
    fields.clear();
    head = {};
    head.fields = std::move(fields);
}

// One call of a parser. Every function goes on where `scan` stands and either moves scan.where on, or leaves it for want of
// bytes, or gives a fault. `Reader` derives from this and has read_first_line(), take_field() and finish().
template <class Reader, class Head>
class head_reader {
public:
    fault read()
    {
        fault why = self().read_first_line();
        if (!why && scan_.where >= stage::line_start && scan_.where < stage::done) {
            why = read_fields();
        }
        if (!why && scan_.where != stage::done && in_.size() == limits_.bytes) {
            why = {core::errc::header_too_large, "the head is over the limit"};
        }
        return why;
    }

    fault read(const line_ends& lines)
    {
        fault why = self().read_first_line();
        if (why) {
            return why;
        }
        if (scan_.where != stage::line_start || lines.empty() || scan_.at != lines.front().end) {
            return bad("the first line is not one line");
        }
        for (auto line = lines.begin() + 1; line != lines.end(); ++line) {
            why = known_field(in_, scan_.at, *line, head_.fields, limits_);
            if (!why) {
                why = self().take_field(head_.fields.back());
            }
            if (why) {
                return why;
            }
            scan_.at = line->end;
        }
        scan_.where = stage::done;
        return self().finish();
    }

protected:
    using stage = head_scan::stage;

    fault take_shared_field(const field& line) noexcept
    {
        switch (line.id) {
            case field_name::content_length:
            case field_name::transfer_encoding:
                return note_framing(line, head_.minor_version, scan_);
            case field_name::connection:
                return note_connection(line.value, scan_);
            default:
                return {};
        }
    }

    bool announces_body() const noexcept { return scan_.chunked || scan_.has_length; }

    void take_framing() noexcept
    {
        if (scan_.chunked) {
            head_.body = framing::chunked;
        } else if (scan_.has_length) {
            head_.body = framing::length;
            head_.content_length = scan_.length;
        }
    }

    std::string_view in_;
    const head_limits& limits_;
    head_scan& scan_;
    Head& head_;

private:
    friend Reader;

    head_reader(std::string_view received, const head_limits& limits, head_scan& scan, Head& head) noexcept
        : in_{received.substr(0, limits.bytes)},
          limits_{limits},
          scan_{scan},
          head_{head}
    {
        if (received.data() != scan_.base) {
            start_over(scan_, head_);
            scan_.base = received.data();
        }
    }

    Reader& self() noexcept { return static_cast<Reader&>(*this); }

    fault read_fields()
    {
        fault why;
        while (true) {
            switch (next_field(in_, scan_, head_.fields, limits_, why)) {
                case line_result::more:
                case line_result::failed:
                    return why;
                case line_result::field:
                    why = self().take_field(head_.fields.back());
                    if (why) {
                        return why;
                    }
                    break;
                case line_result::end:
                    return self().finish();
            }
        }
    }
};

}  // namespace net::http1
