#include "gateway/lifecycle/certificate_watch.hpp"
#include "tests/support/test_ca.hpp"

#include <doctest/doctest.h>
#include <openssl/ssl.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

using gateway::lifecycle::listener_tls;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("gateway/lifecycle/listener_tls");

namespace {

struct kept_text final : core::log_sink {
    void write(std::string_view lines) override { text += lines; }
    std::string text;
};

// Files that are replaced, and a listener that shows them.
struct rig {
    rig() { put(ca.issue({"a.test"})); }

    void put(const test_support::certificate& which) const
    {
        fs::copy_file(which.cert_file, cert, fs::copy_options::overwrite_existing);
        fs::copy_file(which.key_file, key, fs::copy_options::overwrite_existing);
    }

    bool started() { return tls.start(std::make_shared<net::ticket_keys>(core::steady_time{})).has_value(); }

    bool said(std::string_view text) const { return sink.text.find(text) != std::string::npos; }

    test_support::test_ca ca;
    std::string cert = ca.file("live.pem");
    std::string key = ca.file("live.key");
    kept_text sink;
    core::logger log{sink, core::log_level::info};
    listener_tls tls{"traffic", {{cert, key, {}}}, log};
};

}  // namespace

TEST_CASE("The end of each certificate is known from the start, and changes with its file")
{
    rig x;
    CHECK(x.tls.ends().empty());
    REQUIRE(x.started());
    REQUIRE(x.tls.ends().size() == 1);
    const auto [cert, first] = *x.tls.ends().begin();
    CHECK(cert == x.cert);
    CHECK(first > std::chrono::system_clock::now());
    x.put(x.ca.issue(test_support::certificate_spec{.names = {"a.test"}, .until = std::chrono::hours{1}}));
    CHECK(x.tls.refresh(true));
    CHECK(x.tls.ends().at(x.cert) < first);
    std::ofstream{x.cert} << "not a certificate";
    const auto kept = x.tls.ends();
    CHECK_FALSE(x.tls.refresh(true));
    CHECK(x.tls.ends() == kept);
}

TEST_CASE("files that have not changed are not read again, unless it is asked")
{
    rig x;
    REQUIRE(x.started());
    const auto* const first = x.tls.current().get();
    CHECK_FALSE(x.tls.refresh(false));
    CHECK(x.tls.current().get() == first);
    CHECK(x.tls.refresh(true));
    CHECK(x.tls.current().get() != first);
    CHECK(x.said(R"("event":"certificates_reloaded","listener":"traffic","count":1)"));
}

TEST_CASE("files that have changed are read, once")
{
    rig x;
    REQUIRE(x.started());
    x.put(x.ca.issue({"b.test"}));
    CHECK(x.tls.refresh(false));
    CHECK_FALSE(x.tls.refresh(false));
}

TEST_CASE("a link that leads to other files is noticed")
{
    rig x;
    const auto one = x.ca.issue({"a.test"});
    const auto other = x.ca.issue({"b.test"});
    fs::remove(x.cert);
    fs::remove(x.key);
    fs::create_symlink(one.cert_file, x.cert);
    fs::create_symlink(one.key_file, x.key);
    REQUIRE(x.started());
    fs::remove(x.cert);
    fs::remove(x.key);
    fs::create_symlink(other.cert_file, x.cert);
    fs::create_symlink(other.key_file, x.key);
    CHECK(x.tls.refresh(false));
}

TEST_CASE("what cannot be used keeps what is there, says why once, and is got over")
{
    rig x;
    REQUIRE(x.started());
    const auto* const first = x.tls.current().get();
    const auto next = x.ca.issue({"b.test"});

    fs::copy_file(next.cert_file, x.cert, fs::copy_options::overwrite_existing);
    CHECK_FALSE(x.tls.refresh(false));
    CHECK(x.tls.current().get() == first);
    CHECK(
        x.said(R"("event":"certificate_reload_failed","listener":"traffic","reason":")" + x.key + " is not the key of")
    );
    x.sink.text.clear();
    CHECK_FALSE(x.tls.refresh(false));
    CHECK(x.sink.text.empty());

    fs::remove(x.key);
    CHECK_FALSE(x.tls.refresh(false));
    CHECK(x.said("live.key cannot be opened"));
    CHECK(x.tls.current().get() == first);

    fs::copy_file(next.key_file, x.key);
    CHECK(x.tls.refresh(false));
    CHECK(x.tls.current().get() != first);
}

TEST_CASE("callers are asked for certificates of the authorities that are set, and for none if these cannot be used")
{
    rig x;
    const auto clients = x.ca.file("clients.pem");
    const auto asks = [&] { return SSL_CTX_get_verify_mode(x.tls.current().get()) == SSL_VERIFY_PEER; };
    fs::copy_file(x.ca.ca_file(), clients);
    CHECK_FALSE(x.tls.set_client_authorities(clients));
    REQUIRE(x.started());
    CHECK(asks());
    CHECK_FALSE(x.tls.set_client_authorities(clients));
    CHECK_FALSE(x.tls.refresh(false));
    fs::copy_file(test_support::test_ca{}.ca_file(), clients, fs::copy_options::overwrite_existing);
    CHECK(x.tls.refresh(false));
    CHECK(x.tls.set_client_authorities(""));
    CHECK_FALSE(asks());
    CHECK(x.tls.set_client_authorities("/nonexistent/clients.pem"));
    CHECK(x.said("/nonexistent/clients.pem cannot be opened"));
    CHECK_FALSE(asks());
    CHECK(x.tls.set_client_authorities(clients));
    CHECK(asks());
    fs::remove(clients);
    CHECK_FALSE(x.tls.refresh(false));
    CHECK(asks());
}

TEST_CASE("a certificate that ends within two weeks, or has ended, is served with a warning")
{
    using std::chrono::hours;
    rig x;
    const auto put = [&](hours until, test_support::chain_kind chain) {
        x.sink.text.clear();
        x.put(x.ca.issue(test_support::certificate_spec{.names = {"a.test"}, .until = until, .chain = chain}));
    };
    put(hours{-3}, test_support::chain_kind::direct);
    REQUIRE(x.started());
    CHECK(x.said(
        R"("level":"warn","event":"certificate_expiring","listener":"traffic","cert":")" + x.cert + R"(","hours":-3)"
    ));
    put(hours{15 * 24}, test_support::chain_kind::intermediate);
    CHECK(x.tls.refresh(false));
    CHECK_FALSE(x.said("certificate_expiring"));
    put(hours{14 * 24} - hours{1}, test_support::chain_kind::direct);
    CHECK(x.tls.refresh(false));
    CHECK(x.said("certificate_expiring"));
}

TEST_CASE("at the start, what cannot be used is an error; without certificates there is nothing to do")
{
    rig x;
    fs::remove(x.key);
    CHECK_FALSE(x.started());
    listener_tls plain{"admin", {}, x.log};
    CHECK(plain.start(nullptr).has_value());
    CHECK(plain.current() == nullptr);
    CHECK_FALSE(plain.refresh(true));
}

TEST_SUITE_END();
