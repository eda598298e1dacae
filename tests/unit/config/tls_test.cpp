#include "config/tls.hpp"

#include "config/load.hpp"
#include "tests/unit/config/support.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace config::testing;

TEST_SUITE_BEGIN("config/tls");

namespace {

core::error because(std::string why)
{
    return core::gateway_error(core::errc::config_invalid, std::move(why));
}

// Files whose names say what is wrong with them.
config::tls_checks checks()
{
    const auto by_name = [](const std::string& file) -> core::result<> {
        if (file.find("missing") != std::string::npos) {
            return because("cannot be opened: No such file or directory");
        }
        return {};
    };
    config::tls_checks made;
    made.authorities = by_name;
    made.certificate = [by_name](const std::string& file, bool needs_name) -> core::result<> {
        if (needs_name && file.find("nameless") != std::string::npos) {
            return because("has no DNS name");
        }
        return by_name(file);
    };
    made.key = [by_name](const std::string& cert, const std::string& key) -> core::result<> {
        if (cert.substr(0, cert.find('.')) != key.substr(0, key.find('.'))) {
            return because("is not the key of the certificate");
        }
        return by_name(key);
    };
    return made;
}

std::string problems(const std::string& text)
{
    return lines(config::load(text, "c.yml", variables, {}, checks()).problems);
}

std::string of_agent(const std::string& tls)
{
    return problems("agents:\n  a:\n    url: https://h\n    tls: " + tls + "\n");
}

}  // namespace

TEST_CASE("a file that cannot be used is told at its place")
{
    CHECK(problems("tls: {cert: a.pem, key: a.key}") == "");
    CHECK(
        problems("tls: {cert: missing.pem, key: missing.key}") ==
        "c.yml:1:13: tls.cert: \"missing.pem\" cannot be opened: No such file or directory; expected the path of a PEM "
        "file\n"
        "c.yml:1:31: tls.key: \"missing.key\" cannot be opened: No such file or directory; expected the path of a PEM "
        "file\n"
    );
    CHECK(
        problems("admin_tls:\n  - {cert: a.pem, key: a.key}\n  - {cert: b.pem, key: a.key}\n") ==
        "c.yml:3:24: admin_tls[1].key: \"a.key\" is not the key of the certificate; expected the path of a PEM file\n"
    );
    CHECK(
        of_agent("{ca_file: missing.pem}") ==
        "c.yml:4:20: agents.a.tls.ca_file: \"missing.pem\" cannot be opened: No such file or directory; expected the "
        "path of a "
        "PEM file\n"
    );
    CHECK(of_agent("{ca_file: a.pem, cert: b.pem, key: b.key}") == "");
    CHECK(
        of_agent("{cert: b.pem, key: c.key}") ==
        "c.yml:4:29: agents.a.tls.key: \"c.key\" is not the key of the certificate; expected the path of a PEM file\n"
    );
}

TEST_CASE("a certificate for metrics without an address there is a problem")
{
    CHECK(problems("metrics: 0.0.0.0:4002\nmetrics_tls: {cert: a.pem, key: a.key}") == "");
    CHECK(
        problems("metrics_tls: {cert: a.pem, key: a.key}") ==
        "c.yml:1:14: metrics_tls: a.pem has no listener without metrics; expected an address there, or no "
        "metrics_tls\n"
    );
}

TEST_CASE("a certificate beside others needs a name, its own or a given one")
{
    CHECK(problems("tls: {cert: nameless.pem, key: nameless.key}") == "");
    CHECK(problems("tls: [{cert: a.pem, key: a.key}, {cert: nameless.pem, key: nameless.key, names: [x.test]}]") == "");
    CHECK(
        problems("tls: [{cert: a.pem, key: a.key}, {cert: nameless.pem, key: nameless.key}]") ==
        "c.yml:1:41: tls[1].cert: \"nameless.pem\" has no DNS name; expected the path of a PEM file\n"
    );
}

TEST_CASE("a certificate without its key, or the other way round, is told, and whatever is no certificate")
{
    struct row {
        const char* tls;
        const char* problem;
    };
    const row rows[] = {
        {"{cert: a.pem}", "c.yml:1:13: tls.cert: stands without `key`; expected both\n"},
        {"{key: a.key}", "c.yml:1:12: tls.key: stands without `cert`; expected both\n"},
        {"", "c.yml:1:1: tls: has no value; expected a map with cert and key, or a list of these\n"},
        {"[]", "c.yml:1:6: tls: is empty; expected a map with cert and key, or a list of these\n"},
        {"{}", "c.yml:1:6: tls: has neither cert nor key; expected a map with cert and key\n"},
        {"[{}]", "c.yml:1:7: tls[0]: has neither cert nor key; expected a map with cert and key\n"},
        {"true", "c.yml:1:6: tls: is a single value; expected a map with cert and key, or a list of these\n"},
        {"[a.pem]", "c.yml:1:7: tls[0]: is a single value; expected a map with cert and key\n"},
        {"{cert: \"\", key: a.key}", "c.yml:1:13: tls.cert: is empty; expected the path of a PEM file\n"},
        {"{certs: a.pem, key: a.key, cert: a.pem}", "c.yml:1:7: tls.certs: is not a known key; did you mean `cert`?\n"},
        {"{cert: a.pem, key: a.key, names: x.test}",
         "c.yml:1:39: tls.names: is a single value; expected a list of DNS names\n"},
        {"{cert: a.pem, key: a.key, names: [x.test, \"*.x.test\", \"a*.test\", \"10.0.0.1:1\"]}",
         "c.yml:1:60: tls.names[2]: \"a*.test\" is not a DNS name; expected a DNS name such as a.example.com or "
         "*.example.com\n"
         "c.yml:1:71: tls.names[3]: \"10.0.0.1:1\" is not a DNS name; expected a DNS name such as a.example.com or "
         "*.example.com\n"},
    };
    for (const auto& row : rows) {
        CAPTURE(row.tls);
        CHECK(problems("tls: " + std::string{row.tls}) == row.problem);
    }
    CHECK(of_agent("{cert: a.pem}") == "c.yml:4:17: agents.a.tls.cert: stands without `key`; expected both\n");
}

TEST_SUITE_END();
