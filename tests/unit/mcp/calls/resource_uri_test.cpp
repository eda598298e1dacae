#include "mcp/calls/resource_uri.hpp"

#include <doctest/doctest.h>

#include <string_view>

TEST_SUITE_BEGIN("mcp/resource_uri");

TEST_CASE("a URI with one spelling is canonical")
{
    for (const std::string_view uri :
         {"file:///srv/a.txt",
          "file:///srv/a%20b",
          "file:///srv/%C3%A4?x=1",
          "https://h.example/a/b",
          "demo://resource/static/document/Architecture.md",
          "demo://Host/a",
          "test://template/{id}/data",
          "urn:isbn:1",
          "a:b"}) {
        CAPTURE(uri);
        CHECK(mcp::is_canonical_uri(uri));
    }
}

TEST_CASE("a spelling that a reader may take for another URI is not")
{
    for (const std::string_view uri :
         {"",
          "a",
          ":a",
          "FILE:///srv/secret",
          "file:/srv/secret",
          "file://localhost/srv/secret",
          "file:///srv/x/../secret",
          "file:///srv/./secret",
          "file:///srv/..",
          "file:///srv/%2e%2e/secret",
          "file:///srv/%2E/secret",
          "file:///srv/%73ecret",
          "file:///srv/a%2fb",
          "file:///srv/a%2",
          "file:///srv/sec\tret",
          "file:///srv/secret\n",
          " file:///srv/secret",
          "file:///srv/secret ",
          "file:///srv\\secret",
          "file:///srv/secret#x",
          "file:///srv/\xC3\xA4",
          "http://H.example/a",
          "http://h.example",
          "http://h.example:80/a",
          "http://u@h.example/a",
          "http:a",
          "demo://h/a/../b"}) {
        CAPTURE(uri);
        CHECK_FALSE(mcp::is_canonical_uri(uri));
    }
}

TEST_SUITE_END();
