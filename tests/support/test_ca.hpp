// Certificates made at run time: nothing in the tree that expires. Files live in a directory of its own, removed with the
// object.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace test_support {

struct certificate {
    std::string cert_file;  // PEM
    std::string key_file;
};

enum class key_kind : std::uint8_t { p256, rsa2048, rsa1024 };
enum class chain_kind : std::uint8_t {
    direct,            // signed by the root
    intermediate,      // by an authority below it, which stands in the file
    left_out,          // by an authority below it, which does not
    not_an_authority,  // by a certificate that must not sign
    constrained,       // by an authority that may sign for *.allowed.test only
    itself,            // by itself
};

// What a certificate says; the default is a good one for a server.
struct certificate_spec {
    // DNS names or IP addresses, or others such as `URI:https://a` and `email:a@b`; none: no subject alternative name.
    std::vector<std::string> names{};
    std::string common_name = "cardea test leaf";
    std::chrono::hours from{-24};  // from now
    std::chrono::hours until{7 * 24};
    key_kind key = key_kind::p256;
    bool sha1 = false;                        // the signature's digest
    std::string extended_use = "serverAuth";  // as OpenSSL writes it
    std::string use{};                        // keyUsage; empty: none
    chain_kind chain = chain_kind::direct;
    bool revoked = false;  // see ca_file_with_revocations()
};

// A certificate authority nobody trusts but who is given its ca_file(). Two of them do not trust each other.
// Throws std::runtime_error when OpenSSL or the file system refuses.
class test_ca {
public:
    explicit test_ca(const std::string& name = "cardea test root");
    ~test_ca();
    test_ca(const test_ca&) = delete;
    test_ca& operator=(const test_ca&) = delete;

    const std::string& ca_file() const noexcept;

    // The same with the list of what was revoked so far.
    std::string ca_file_with_revocations();

    certificate issue(const certificate_spec& what);

    // Names are DNS names or IP addresses.
    certificate issue(const std::vector<std::string>& names);
    certificate issue_client();
    certificate issue_expired(const std::vector<std::string>& names);
    certificate issue_not_yet_valid(const std::vector<std::string>& names);
    certificate self_signed(const std::vector<std::string>& names);  // has nothing to do with the authority

    // A file in the authority's directory.
    std::string file(const std::string& name) const;

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace test_support
