#include "gateway/responses/content_coding.hpp"

#include <doctest/doctest.h>

#include <string_view>
#include <vector>

TEST_SUITE_BEGIN("gateway/content_coding");

namespace {

// With one field for each value.
bool gzip_for(const std::vector<std::string_view>& values)
{
    net::http1::field_list fields{{net::http1::field_name::host, "Host", "gzip"}};
    for (const auto value : values) {
        fields.push_back({net::http1::field_name::accept_encoding, "accept-encoding", value});
    }
    return gateway::responses::takes_gzip(fields);
}

}  // namespace

TEST_CASE("An answer is compressed for a caller that allows gzip")
{
    for (const auto* value :
         {"gzip",
          "GZip",
          "x-gzip",
          "deflate, gzip",
          "br;q=1.0, gzip;q=0.8, *;q=0.1",
          "gzip;q=0.001",
          "gzip ; q=1",
          "gzip;Q=1.000",
          "*",
          "*;q=0.5",
          " ,, gzip,",
          "identity, gzip",
          "identity;q=0.5, gzip;q=0.5",
          "identity;q=0, *",
          "gzip, gzip;q=0"}) {
        CAPTURE(value);
        CHECK(gzip_for({value}));
    }
    CHECK(gzip_for({"br", "gzip"}));
}

TEST_CASE("An answer is not compressed for a caller that does not allow gzip, or prefers the plain text")
{
    for (const auto* value :
         {"",
          "identity",
          "br, deflate",
          "gzip;q=0",
          "gzip;q=0.",
          "gzip;q=0.000",
          "gzip;q=0, *",
          "*;q=0",
          "*;q=0, identity",
          "identity;q=1, gzip;q=0.5",
          "identity, *;q=0.5",
          "gzipped",
          "\"gzip\""}) {
        CAPTURE(value);
        CHECK_FALSE(gzip_for({value}));
    }
    CHECK_FALSE(gzip_for({}));
    CHECK_FALSE(gzip_for({"gzip;q=0", "gzip"}));
}

TEST_CASE("A weight that is none counts as 0")
{
    for (const auto* value :
         {"gzip;q=",
          "gzip;q",
          "gzip;",
          "gzip;q=2",
          "gzip;q=1.001",
          "gzip;q=0.1234",
          "gzip;q=-1",
          "gzip;q=0,5",
          "gzip;q=.5",
          "gzip;q=0.x",
          "gzip;q=1x",
          "gzip;level=9",
          "gzip;q=01"}) {
        CAPTURE(value);
        CHECK_FALSE(gzip_for({value}));
    }
}

TEST_SUITE_END();
