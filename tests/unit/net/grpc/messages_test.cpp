#include "net/grpc/messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace net::grpc;
using fault = message_reader::fault;

namespace {

std::string message(std::string_view data, char flag = '\0')
{
    std::string out;
    append_prefix(out, data.size());
    out[0] = flag;
    return out.append(data);
}

struct reading {
    std::vector<std::string> whole;
    fault problem = fault::none;
    bool between = true;

    bool operator==(const reading&) const = default;
};

reading read(std::string_view bytes, std::size_t at_once, std::uint64_t limit = 1'000)
{
    message_reader reader{limit};
    reading out;
    std::string open;
    for (; !bytes.empty(); bytes.remove_prefix(std::min(at_once, bytes.size()))) {
        auto piece = bytes.substr(0, at_once);
        while (!piece.empty() && reader.problem() == fault::none) {
            const auto part = reader.next(piece);
            open += part.data;
            if (part.ends) {
                out.whole.push_back(std::exchange(open, {}));
            }
        }
    }
    out.problem = reader.problem();
    out.between = reader.between_messages();
    CHECK(reader.count() == out.whole.size());
    return out;
}

}  // namespace

TEST_CASE("messages are the same in pieces of every size")
{
    const auto bytes = message("first") + message("") + message(std::string(300, 'x'), '\1') + message("last");
    const reading expected{{"first", "", std::string(300, 'x'), "last"}, fault::none, true};
    for (std::size_t at_once = 1; at_once <= bytes.size(); ++at_once) {
        CAPTURE(at_once);
        CHECK(read(bytes, at_once) == expected);
    }
}

TEST_CASE("a message is refused by its prefix if it is one byte over the limit")
{
    CHECK(read(message(std::string(99, 'x')), 7, 100).problem == fault::none);
    CHECK(read(message(std::string(100, 'x')), 7, 100).problem == fault::none);
    const auto prefix = message(std::string(101, 'x')).substr(0, prefix_size);
    CHECK(read(prefix, 1, 100).problem == fault::too_large);
    CHECK(read(std::string("\0\xFF\xFF\xFF\xFF", 5), 5, 0xFFFFFFFE).problem == fault::too_large);
}

TEST_CASE("a flag other than 0 and 1 is malformed at its first byte")
{
    CHECK(read("\2", 1).problem == fault::malformed);
    CHECK(read(message("a") + "\x80", 3).problem == fault::malformed);
    CHECK(read("\1", 1).problem == fault::none);
}

TEST_CASE("bytes of an unfinished message are within it")
{
    const auto bytes = message("abc");
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        CAPTURE(size);
        CHECK(read(bytes.substr(0, size), 2).between == (size == 0 || size == bytes.size()));
    }
}

TEST_CASE("a prefix tells size and compression before the message comes")
{
    message_reader reader{100};
    const auto bytes = message("abcdef", '\1');
    std::string_view piece = std::string_view{bytes}.substr(0, prefix_size);
    const auto part = reader.next(piece);
    CHECK(part.begins);
    CHECK_FALSE(part.ends);
    CHECK(reader.size() == 6);
    CHECK(reader.compressed());
}

TEST_CASE("a prefix can be set when the message is known")
{
    std::string out = "before";
    out.append(prefix_size, '?').append("message");
    set_prefix(out, 6);
    CHECK(out == "before" + message("message"));
}
