#include "tests/unit/config/access_rows.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace config::testing;

TEST_SUITE_BEGIN("config/access_conflicts");

namespace {

// What is wrong with the second of two providers.
std::string problem(const std::string& first, const std::string& second)
{
    return problems_of("access:\n  providers:\n    - {type: " + first + "}\n    - {type: " + second + "}\n");
}

std::string tokens(const std::string& name, const std::string& issuer, const std::string& audience)
{
    return "jwt, name: " + name + ", issuer: " + issuer + ", audience: " + audience + ", jwks_file: k";
}

const std::string check = "http_verifier, name: check, url: \"https://h\"";

}  // namespace

TEST_CASE("Behind a verifier no provider reads bearer tokens, because the verifier decides on all of them")
{
    const std::string behind =
        "c.yml:4:7: access.providers[1]: is behind \"check\", which decides on every bearer token; expected it in "
        "front "
        "of that\n";
    CHECK(problem(check, static_token(token)) == behind);
    CHECK(problem(check, jwt("jwks_file: k")) == behind);
    CHECK(problem(check, "http_verifier, name: b, url: \"https://h\"") == behind);
    CHECK(problem(check, api_keys("keys: []")) == "");
    CHECK(problem(static_token(token), check) == "");
    CHECK(problem(jwt("jwks_file: k"), check) == "");
}

TEST_CASE("There is one provider of client certificates, and one of AWS")
{
    const std::string second =
        "c.yml:4:7: access.providers[1]: is of the same type as \"a\"; expected one provider of this type\n";
    CHECK(problem("mtls, name: a, ca_file: c", "mtls, name: b, ca_file: d") == second);
    CHECK(problem("aws_sigv4, name: a", "aws_sigv4, name: b, hosts: h") == second);
    CHECK(problem(check, "mtls, name: b, ca_file: d") == "");
    CHECK(problem(check, "gcp_iap, name: b, audience: d") == "");
}

TEST_CASE("Two providers of one issuer accept tokens for different audiences")
{
    const std::string same =
        "c.yml:4:7: access.providers[1]: accepts tokens of the same issuer for the same audience or client as \"a\"; "
        "expected one provider for these\n";
    CHECK(problem(tokens("a", "i", "x"), tokens("b", "i", "x")) == same);
    CHECK(problem(tokens("a", "i", "[x, y]"), tokens("b", "i", "[z, y]")) == same);
    CHECK(problem(tokens("a", "i", "x"), tokens("b", "i", "y")) == "");
    CHECK(problem(tokens("a", "i", "x"), tokens("b", "j", "x")) == "");
    const auto of_client = [](const std::string& name, const std::string& client) {
        return "jwt, name: " + name + ", issuer: i, client_id: " + client + ", jwks_file: k";
    };
    CHECK(problem(of_client("a", "x"), of_client("b", "[y, x]")) == same);
    CHECK(problem(of_client("a", "x"), of_client("b", "y")) == "");
    CHECK(problem(of_client("a", "x"), tokens("b", "i", "x")) == "");
}

TEST_SUITE_END();
