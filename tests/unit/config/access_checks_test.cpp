#include "tests/unit/config/access_rows.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace config::testing;
using namespace std::chrono_literals;

TEST_SUITE_BEGIN("config/access_checks");

TEST_CASE("A verifier has a URL that is safe, a timeout and a time for which its answers hold")
{
    const auto verifier = [](const std::string& more) { return "http_verifier, name: a, " + more; };
    const std::string url = "; expected an https URL, or an http URL of a loopback host\n";
    check_providers({
        {verifier("url: \"https://h/v?k=a\""), ""},
        {verifier("url: \"http://127.0.0.1:9/\""), ""},
        {verifier("url: \"http://s3cr3t.example/\""),
         "43: access.providers[0].url: is not safe from changes on its way" + url},
        {verifier("timeout: 1s"), "7: access.providers[0].url: is missing" + url},
        {verifier("url: \"https://h\", timeout: 10ms, cache: 0"), ""},
        {verifier("url: \"https://h\", timeout: 10s, cache: 1m"), ""},
        {verifier("url: \"https://h\", timeout: 9ms"),
         "65: access.providers[0].timeout: \"9ms\" is out of range; expected 10ms to 10s\n"},
        {verifier("url: \"https://h\", timeout: 10001ms"),
         "65: access.providers[0].timeout: \"10001ms\" is out of range; expected 10ms to 10s\n"},
        {verifier("url: \"https://h\", cache: 60001ms"),
         "63: access.providers[0].cache: \"60001ms\" is out of range; expected 0 to 1m\n"},
        {verifier("url: \"https://h\", token: a"),
         "56: access.providers[0].token: is not a known key; known here: type, name, url, timeout, cache\n"},
    });
    CHECK(
        type_of<core::http_verifier_provider>(verifier("url: \"https://h/v\"")) ==
        core::http_verifier_provider{"https://h/v", 1s, 5s}
    );
}

TEST_CASE("Certificates of clients have authorities, and a name that is the principal's id")
{
    const auto certificates = [](const std::string& more) { return "mtls, name: a, " + more; };
    const std::string file = "; expected the path of a PEM file with the authorities of clients\n";
    check_providers({
        {certificates("ca_file: clients.pem"), ""},
        {certificates("ca_file: \"\""), "38: access.providers[0].ca_file: is empty" + file},
        {certificates("principal: san"), "7: access.providers[0].ca_file: is missing" + file},
        {certificates("ca_file: c, principal: cn"),
         "52: access.providers[0].principal: \"cn\" is not one of them; expected san, subject or spiffe\n"},
    });
    CHECK(
        type_of<core::mtls_provider>(certificates("ca_file: c, principal: spiffe")) ==
        core::mtls_provider{"c", core::certificate_name::spiffe}
    );
    const auto checked = config::load(
        provider_text(certificates("ca_file: c")),
        "c.yml",
        variables,
        files,
        {.authorities =
             [](const std::string&) {
                 return core::result<>{core::gateway_error(core::errc::config_invalid, "has no certificate in PEM")};
             },
         .certificate = {},
         .key = {},
         .signing_key = {},
         .key_set = {}}
    );
    CHECK(lines(checked.problems) == "c.yml:3:38: access.providers[0].ca_file: \"c\" has no certificate in PEM" + file);
}

TEST_CASE("The hosts of AWS that may be asked are named as they are in URLs")
{
    const auto hosts = [](const std::string& list) { return "aws_sigv4, name: a, hosts: " + list; };
    const std::string expected = "; expected a host such as sts.eu-west-1.amazonaws.com, perhaps with a port\n";
    check_providers({
        {"aws_sigv4, name: a", ""},
        {hosts("[sts.cn-north-1.amazonaws.com.cn, \"127.0.0.1:4566\"]"), ""},
        {hosts("Sts.example"), "41: access.providers[0].hosts: \"Sts.example\" has capitals" + expected},
        {hosts("\"https://h\""), "41: access.providers[0].hosts: \"https://h\" is not a host" + expected},
        {hosts("\"h:0x1\""), "41: access.providers[0].hosts: \"h:0x1\" is not a host" + expected},
        {hosts("\"a@b\""), "41: access.providers[0].hosts: \"a@b\" is not a host" + expected},
        {hosts("\"*.example\""), "41: access.providers[0].hosts: \"*.example\" is not a host" + expected},
        {hosts("[]"), "41: access.providers[0].hosts: is empty" + expected},
    });
    CHECK(type_of<core::aws_sigv4_provider>("aws_sigv4, name: a").hosts.empty());
}

TEST_SUITE_END();
