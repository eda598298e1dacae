#include "net/grpc/status.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

using namespace net::grpc;
using core::grpc_code;

namespace {

std::string escaped(std::string_view text)
{
    std::string out;
    append_message(out, text);
    return out;
}

std::string value_of(const std::string& lines, const std::string& name)
{
    const auto at = lines.find(name + ": ");
    if (at == std::string::npos) {
        return {};
    }
    const auto from = at + name.size() + 2;
    return lines.substr(from, lines.find("\r\n", from) - from);
}

status read_again(const status& of)
{
    std::string lines;
    append_status(lines, of);
    const auto read = read_status(
        value_of(lines, "grpc-status"),
        value_of(lines, "grpc-message"),
        value_of(lines, "grpc-status-details-bin")
    );
    REQUIRE(read);
    return *read;
}

}  // namespace

TEST_CASE("a message is escaped so that it is printable ASCII")
{
    CHECK(escaped("No such task.") == "No such task.");
    CHECK(escaped("100%") == "100%25");
    CHECK(escaped("a\r\nb") == "a%0D%0Ab");
    CHECK(escaped("\xC3\xA4") == "%C3%A4");
    CHECK(escaped("~\x7F") == "~%7F");
}

TEST_CASE("an escaped message is read, and a percent sign that escapes nothing stands for itself")
{
    CHECK(decoded_message("100%25 %C3%a4") == "100% \xC3\xA4");
    CHECK(decoded_message("5% of%") == "5% of%");
    CHECK(decoded_message("%zz%4") == "%zz%4");
}

TEST_CASE("a status without a reason has no details")
{
    std::string lines;
    append_status(lines, {grpc_code::unavailable, "Gone.", {}});
    CHECK(lines == "grpc-status: 14\r\ngrpc-message: Gone.\r\n");
}

TEST_CASE("the details of a status are a google.rpc.Status with an ErrorInfo, in base64 without padding")
{
    std::string lines;
    append_status(lines, {grpc_code::not_found, "m", {"R", "d", {{"k", "v"}}}});
    // protoc --encode=google.rpc.Status, then base64 without `=`.
    CHECK(
        value_of(lines, "grpc-status-details-bin") ==
        "CAUSAW0aOgoodHlwZS5nb29nbGVhcGlzLmNvbS9nb29nbGUucnBjLkVycm9ySW5mbxIOCgFSEgFkGgYKAWsSAXY"
    );
}

TEST_CASE("a status is read as it was written")
{
    const status of{
        grpc_code::failed_precondition,
        "No: 5 %.",
        {"TASK_NOT_CANCELABLE", "a2a-protocol.org", {{"agent", "dice"}, {"", ""}}}
    };
    const auto read = read_again(of);
    CHECK(read.code == of.code);
    CHECK(read.message == of.message);
    CHECK(read.info.reason == of.info.reason);
    CHECK(read.info.domain == of.info.domain);
    CHECK(read.info.metadata == of.info.metadata);
}

TEST_CASE("a code is a number, and one that gRPC does not have is unknown")
{
    CHECK(read_status("0", {}, {})->code == grpc_code::ok);
    CHECK(read_status("16", {}, {})->code == grpc_code::unauthenticated);
    CHECK(read_status("17", {}, {})->code == grpc_code::unknown);
    CHECK(read_status("999999999", {}, {})->code == grpc_code::unknown);
    for (const auto* const code : {"", "-1", "5 ", "OK", "1234567890"}) {
        CAPTURE(code);
        CHECK_FALSE(read_status(code, {}, {}));
    }
}

TEST_CASE("details that cannot be read are left out")
{
    // Not base64; a length beyond the end; a varint that does not end; a group.
    for (const auto* const details : {"*", "GhA", "gICAgICAgICAgIA", "Cw", "A"}) {
        CAPTURE(details);
        const auto read = read_status("5", "m", details);
        REQUIRE(read);
        CHECK(read->info.reason.empty());
        CHECK(read->message == "m");
    }
}

TEST_CASE("only messages of protocol buffers in gRPC are taken")
{
    CHECK(media_of("application/grpc") == media::grpc);
    CHECK(media_of("application/grpc+proto") == media::grpc);
    CHECK(media_of("Application/GRPC; charset=utf-8") == media::grpc);
    CHECK(media_of("application/grpc-web") == media::variant);
    CHECK(media_of("application/grpc-web-text+proto") == media::variant);
    CHECK(media_of("application/grpc+json") == media::variant);
    CHECK(media_of("application/connect+proto") == media::variant);
    CHECK(media_of("application/proto") == media::variant);
    CHECK(media_of("application/json") == media::other);
    CHECK(media_of("") == media::other);
}
