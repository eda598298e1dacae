#include "mcp/calls/name_filter.hpp"

#include <doctest/doctest.h>

#include <array>
#include <string_view>

TEST_SUITE_BEGIN("mcp/resource_uri");

TEST_CASE("a URI with one spelling is canonical")
{
    for (const std::string_view uri :
         {"file:///srv/a.txt",
          "file:///srv/a%20b",
          "file:///srv/%C3%A4",
          "file:///srv/a,b",
          "https://h.example/a//b?x=1",
          "https://h.example/a/",
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
          "file:///srv/secret?",
          "file:///srv/secret?x",
          "file:///srv/?secret",
          "file:////srv/secret",
          "file://///srv/secret",
          "file:///srv//secret",
          "file:///srv/secret/",
          "file:///srv/secret//",
          "file:///srv/x/%2E%2E/secret",
          "file:///srv%2Fsecret",
          "file:///srv/%5Csecret",
          "file:///srv/secret%00",
          "file:///srv/secret%00.txt",
          "File:///srv/secret",
          "file:///srv/\\secret",
          "file://127.0.0.1/srv/secret",
          "file:srv/secret",
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

TEST_CASE("A file has one name whatever of it is escaped, and other URIs stay")
{
    std::array<char, 16> room{};
    CHECK(mcp::unescaped_file("file:///a%2Cb", room) == "file:///a,b");
    CHECK(mcp::unescaped_file("file:///a,b", room) == "file:///a,b");
    CHECK(mcp::unescaped_file("file:///%", room) == "file:///%");
    CHECK(mcp::unescaped_file("file:///%2", room) == "file:///%2");
    CHECK(mcp::unescaped_file("file:///%zz", room) == "file:///%zz");
    CHECK(mcp::unescaped_file("http://h/a%2Cb", room) == "http://h/a%2Cb");
    CHECK(mcp::unescaped_file("file:///234%2C67", room) == "file:///234,67");
    CHECK(mcp::unescaped_file("file:///2345%2C78", room) == "file:///2345%2C78");
}

TEST_SUITE_END();
