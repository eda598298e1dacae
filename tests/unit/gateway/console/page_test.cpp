#include "gateway/console/page.hpp"

#include "tests/unit/gateway/console/texts.hpp"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <string>

TEST_SUITE_BEGIN("gateway/console/page");

namespace {

using gateway::console::embedded_file;
using gateway::console::page;

const std::string script(5000, 'x');
const std::array<embedded_file, 4> files{{
    {"index.html", "<!doctype html>"},
    {"main.js", script},
    {"style.css", "a{}"},
    {"vendor/odd.bin", std::string_view{"\0\xff", 2}},
}};

gateway::responses::answer
ask(page& of, const std::string& path, const std::string& fields = "", const std::string& verb = "GET")
{
    const auto text = verb + ' ' + path + " HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
    return of.answer(request_head_of(text), path);
}

std::string field(const gateway::responses::answer& from, const std::string& name)
{
    const auto at = from.fields.find(name + ": ");
    if (at == std::string::npos) {
        return {};
    }
    const auto begin = at + name.size() + 2;
    return from.fields.substr(begin, from.fields.find("\r\n", begin) - begin);
}

std::string unpacked(std::string_view bytes)
{
    z_stream stream{};
    REQUIRE(::inflateInit2(&stream, 15 + 16) == Z_OK);
    std::string out(100'000, '\0');
    stream.next_in =
        reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));  // NOLINT(*-const-cast): zlib reads there
    stream.avail_in = static_cast<uInt>(bytes.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    CHECK(::inflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    ::inflateEnd(&stream);
    return out;
}

}  // namespace

TEST_CASE("the page is served byte for byte, with its type and the security fields")
{
    page of{files};
    const auto index = ask(of, "/console/");
    CHECK(index.status == 200);
    CHECK(index.content_type == "text/html; charset=utf-8");
    CHECK(index.rest == files[0].bytes);
    CHECK(
        field(index, "Content-Security-Policy") ==
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    );
    CHECK(field(index, "X-Content-Type-Options") == "nosniff");
    CHECK(field(index, "Referrer-Policy") == "no-referrer");
    CHECK(field(index, "Cross-Origin-Opener-Policy") == "same-origin");
    CHECK(field(index, "Cross-Origin-Resource-Policy") == "same-origin");
    CHECK(field(index, "Cache-Control") == "no-cache");
    CHECK(field(index, "Vary") == "Accept-Encoding");
    CHECK(ask(of, "/console/index.html").rest == files[0].bytes);
    CHECK(ask(of, "/console/main.js").content_type == "text/javascript; charset=utf-8");
    CHECK(ask(of, "/console/style.css").content_type == "text/css; charset=utf-8");
    CHECK(ask(of, "/console/vendor/odd.bin").content_type == "application/octet-stream");
    CHECK(ask(of, "/console/vendor/odd.bin").rest == files[3].bytes);
    CHECK(ask(of, "/console/", "", "HEAD").status == 200);
}

TEST_CASE("what is no file of the page is not found, and a page is only read")
{
    page of{files};
    for (const std::string path :
         {"/console/none.js", "/console/vendor/", "/console/../rpc", "/console//main.js", "/console/MAIN.JS"}) {
        CAPTURE(path);
        CHECK(ask(of, path).status == 404);
    }
    CHECK(ask(of, "/console/", "", "POST").status == 405);
    CHECK(ask(of, "/console/none.js", "", "DELETE").status == 405);
    CHECK(gateway::console::is_page_path("/console"));
    CHECK(gateway::console::is_page_path("/console/x"));
    CHECK_FALSE(gateway::console::is_page_path("/consoles"));
}

TEST_CASE("a caller that takes gzip gets it, with a tag of its own")
{
    page of{files};
    for (const std::string accepted :
         {"gzip", "br, gzip", "GZIP;q=0.001", "x-gzip", "*", "deflate, *;q=0.1", "gzip;q=1.0, *;q=0"}) {
        CAPTURE(accepted);
        const auto answer = ask(of, "/console/main.js", "Accept-Encoding: " + accepted + "\r\n");
        CHECK(field(answer, "Content-Encoding") == "gzip");
        CHECK(answer.rest.size() < 200);
        CHECK(unpacked(answer.rest) == script);
        CHECK(field(answer, "ETag").ends_with("-gzip\""));
    }
    for (const std::string accepted : {"", "br", "gzip;q=0", "gzip;q=0.000", "*;q=0", "*, gzip;q=0", "gzipped"}) {
        CAPTURE(accepted);
        const auto answer = ask(of, "/console/main.js", "Accept-Encoding: " + accepted + "\r\n");
        CHECK(field(answer, "Content-Encoding").empty());
        CHECK(answer.rest == script);
        CHECK_FALSE(field(answer, "ETag").ends_with("-gzip\""));
    }
    CHECK(
        field(ask(of, "/console/main.js", "Accept-Encoding: br\r\nAccept-Encoding: gzip\r\n"), "Content-Encoding") ==
        "gzip"
    );
}

TEST_CASE("a caller that has a file is told so")
{
    page of{files};
    const auto tag = field(ask(of, "/console/main.js"), "ETag");
    const auto other = field(ask(of, "/console/style.css"), "ETag");
    CHECK(tag.size() > 10);
    CHECK(tag != other);
    const auto again = ask(of, "/console/main.js", "If-None-Match: \"x\", " + tag + "\r\n");
    CHECK(again.status == 304);
    CHECK(again.rest.empty());
    CHECK(field(again, "ETag") == tag);
    CHECK(field(again, "Cache-Control") == "no-cache");
    CHECK(ask(of, "/console/main.js", "If-None-Match: " + other + "\r\n").status == 200);
    // The other coding is another representation.
    CHECK(ask(of, "/console/main.js", "Accept-Encoding: gzip\r\nIf-None-Match: " + tag + "\r\n").status == 200);
}

TEST_CASE("browsers are led to the page with a relative address, and nobody else is")
{
    const auto wants = [](const std::string& text) { return gateway::console::wants_page(request_head_of(text)); };
    CHECK(wants("GET / HTTP/1.1\r\nHost: a\r\nAccept: text/html,application/xhtml+xml\r\n\r\n"));
    CHECK(wants("HEAD / HTTP/1.1\r\nHost: a\r\nAccept: Text/HTML\r\n\r\n"));
    CHECK_FALSE(wants("GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n"));
    CHECK_FALSE(wants("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    CHECK_FALSE(wants("POST / HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\n\r\n"));
    page of{files};
    CHECK(ask(of, "/console").status == 303);
    CHECK(field(ask(of, "/console"), "Location") == "console/");
}

TEST_CASE("the program has the page in it, with what it uses of others")
{
    const auto has = [](std::string_view name) {
        return std::ranges::any_of(gateway::console::embedded_files(), [&](const auto& each) {
            return each.name == name && !each.bytes.empty();
        });
    };
    CHECK(has("index.html"));
    CHECK(has("vendor/preact.js"));
    CHECK(has("vendor/hooks.js"));
    CHECK(has("vendor/htm.js"));
}
