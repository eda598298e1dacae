#include "tests/support/test_ca.hpp"

#include <boost/asio/ip/address.hpp>

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <stdexcept>

namespace test_support {

namespace {

template <auto Free>
struct freed_by {
    template <class T>
    void operator()(T* what) const noexcept
    {
        Free(what);
    }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using x509_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, freed_by<X509_EXTENSION_free>>;
using crl_ptr = std::unique_ptr<X509_CRL, freed_by<X509_CRL_free>>;
using time_ptr = std::unique_ptr<ASN1_TIME, freed_by<ASN1_TIME_free>>;
using file_ptr = std::unique_ptr<std::FILE, freed_by<std::fclose>>;

constexpr long day = 24L * 60 * 60;

void require(bool worked, const char* what)
{
    if (!worked) {
        throw std::runtime_error{std::string{"test_ca: "} + what};
    }
}

key_ptr new_key(key_kind kind = key_kind::p256)
{
    constexpr unsigned strong = 2048;
    constexpr unsigned weak = 1024;
    key_ptr key{kind == key_kind::p256 ? EVP_EC_gen("P-256") : EVP_RSA_gen(kind == key_kind::rsa1024 ? weak : strong)};
    require(key != nullptr, "no key");
    return key;
}

void add_extension(X509* to, X509* issuer, int which, const std::string& value)
{
    X509V3_CTX context;
    X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
    const extension_ptr extension{X509V3_EXT_conf_nid(nullptr, &context, which, value.c_str())};
    require(extension != nullptr && X509_add_ext(to, extension.get(), -1) == 1, "no extension");
}

// A certificate without extensions and signature; times are seconds from now.
x509_ptr new_certificate(EVP_PKEY* key, const std::string& common_name, long from, long until)
{
    x509_ptr made{X509_new()};
    std::uint64_t serial = 0;
    require(RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) == 1, "no serial");
    const auto* const text = reinterpret_cast<const unsigned char*>(common_name.c_str());
    auto* const subject = X509_get_subject_name(made.get());
    const bool filled = X509_set_version(made.get(), X509_VERSION_3) == 1 &&
                        ASN1_INTEGER_set_uint64(X509_get_serialNumber(made.get()), serial >> 1) == 1 &&
                        X509_gmtime_adj(X509_getm_notBefore(made.get()), from) != nullptr &&
                        X509_gmtime_adj(X509_getm_notAfter(made.get()), until) != nullptr &&
                        X509_set_pubkey(made.get(), key) == 1 &&
                        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1;
    require(filled, "no certificate");
    return made;
}

std::string alternative_names(const std::vector<std::string>& names)
{
    std::string list;
    for (const auto& name : names) {
        boost::system::error_code not_address;
        boost::asio::ip::make_address(name, not_address);
        const bool has_kind = name.starts_with("URI:") || name.starts_with("email:");
        list += (list.empty() ? "" : ",") + std::string{has_kind ? "" : not_address ? "DNS:" : "IP:"} + name;
    }
    return list;
}

void write_certificate(const std::string& path, X509* what, const char* mode = "w")
{
    const file_ptr file{std::fopen(path.c_str(), mode)};
    require(file != nullptr && PEM_write_X509(file.get(), what) == 1, "cannot write a certificate");
}

void write_key(const std::string& path, EVP_PKEY* what)
{
    const file_ptr file{std::fopen(path.c_str(), "w")};
    const bool written =
        file != nullptr && PEM_write_PrivateKey(file.get(), what, nullptr, nullptr, 0, nullptr, nullptr) == 1;
    require(written, "cannot write a key");
}

class directory {
public:
    directory()
    {
        auto name = (std::filesystem::temp_directory_path() / "cardea_test_ca_XXXXXX").string();
        require(mkdtemp(name.data()) != nullptr, "no directory");
        path_ = name;
    }
    ~directory()
    {
        std::error_code ignored;  // what stays behind in the temporary directory fails no test
        std::filesystem::remove_all(path_, ignored);
    }
    directory(const directory&) = delete;
    directory& operator=(const directory&) = delete;

    std::string file(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

struct authority {
    key_ptr key = new_key();
    x509_ptr itself;
};

// `above` null: by itself. `constraints` as OpenSSL writes them.
authority
new_authority(const authority* above, const std::string& name, bool may_sign, const std::string& constraints = "")
{
    authority made;
    made.itself = new_certificate(made.key.get(), name, -day, 30 * day);
    auto* const it = made.itself.get();
    auto* const issuer = above == nullptr ? it : above->itself.get();
    require(X509_set_issuer_name(it, X509_get_subject_name(issuer)) == 1, "no issuer");
    add_extension(it, issuer, NID_basic_constraints, may_sign ? "critical,CA:TRUE" : "critical,CA:FALSE");
    if (may_sign) {
        add_extension(it, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
    }
    add_extension(it, issuer, NID_subject_key_identifier, "hash");
    if (!constraints.empty()) {
        add_extension(it, issuer, NID_name_constraints, constraints);
    }
    auto* const signer = above == nullptr ? made.key.get() : above->key.get();
    require(X509_sign(it, signer, EVP_sha256()) > 0, "no signature");
    return made;
}

bool has_own_authority(chain_kind chain)
{
    return chain != chain_kind::direct && chain != chain_kind::itself;
}

}  // namespace

struct test_ca::state {
    directory files;
    explicit state(const std::string& name)
        : root{new_authority(nullptr, name, true)}
    {
    }

    authority root;
    std::string ca_file = files.file("ca.pem");
    std::size_t issued = 0;
    crl_ptr revocations{X509_CRL_new()};

    certificate make(const certificate_spec& what);
    void revoke(X509* which) const;
};

void test_ca::state::revoke(X509* which) const
{
    std::unique_ptr<X509_REVOKED, freed_by<X509_REVOKED_free>> entry{X509_REVOKED_new()};
    const time_ptr now{X509_gmtime_adj(nullptr, -day)};
    const bool filled = X509_REVOKED_set_serialNumber(entry.get(), X509_get_serialNumber(which)) == 1 &&
                        X509_REVOKED_set_revocationDate(entry.get(), now.get()) == 1 &&
                        X509_CRL_add0_revoked(revocations.get(), entry.get()) == 1;
    require(filled, "no revocation");
    static_cast<void>(entry.release());  // the list's own now
}

certificate test_ca::state::make(const certificate_spec& what)
{
    constexpr long hour = 60L * 60;
    const auto leaf_key = new_key(what.key);
    const auto leaf =
        new_certificate(leaf_key.get(), what.common_name, what.from.count() * hour, what.until.count() * hour);
    const authority between =
        has_own_authority(what.chain)
            ? new_authority(
                  &root,
                  "cardea test intermediate " + std::to_string(issued),
                  what.chain != chain_kind::not_an_authority,
                  what.chain == chain_kind::constrained ? "critical,permitted;DNS:allowed.test" : ""
              )
            : authority{};
    const bool by_itself = what.chain == chain_kind::itself;
    const auto& above = has_own_authority(what.chain) ? between : root;
    auto* const issuer = by_itself ? leaf.get() : above.itself.get();
    require(X509_set_issuer_name(leaf.get(), X509_get_subject_name(issuer)) == 1, "no issuer");
    add_extension(leaf.get(), issuer, NID_basic_constraints, "critical,CA:FALSE");
    if (!what.extended_use.empty()) {
        add_extension(leaf.get(), issuer, NID_ext_key_usage, what.extended_use);
    }
    if (!what.use.empty()) {
        add_extension(leaf.get(), issuer, NID_key_usage, what.use);
    }
    if (!what.names.empty()) {
        add_extension(leaf.get(), issuer, NID_subject_alt_name, alternative_names(what.names));
    }
    auto* const signer = by_itself ? leaf_key.get() : above.key.get();
    require(X509_sign(leaf.get(), signer, what.sha1 ? EVP_sha1() : EVP_sha256()) > 0, "no signature");
    if (what.revoked) {
        revoke(leaf.get());
    }
    const auto stem = "leaf" + std::to_string(++issued);
    certificate made{files.file(stem + ".pem"), files.file(stem + ".key")};
    write_certificate(made.cert_file, leaf.get());
    if (has_own_authority(what.chain) && what.chain != chain_kind::left_out) {
        write_certificate(made.cert_file, between.itself.get(), "a");
    }
    write_key(made.key_file, leaf_key.get());
    return made;
}

test_ca::test_ca(const std::string& name)
    : state_{std::make_unique<state>(name)}
{
    write_certificate(state_->ca_file, state_->root.itself.get());
}

test_ca::~test_ca() = default;

const std::string& test_ca::ca_file() const noexcept
{
    return state_->ca_file;
}

std::string test_ca::ca_file_with_revocations()
{
    auto* const list = state_->revocations.get();
    const time_ptr last{X509_gmtime_adj(nullptr, -day)};
    const time_ptr next{X509_gmtime_adj(nullptr, day)};
    auto* const root = state_->root.itself.get();
    const bool signed_now = X509_CRL_set_version(list, X509_CRL_VERSION_2) == 1 &&
                            X509_CRL_set_issuer_name(list, X509_get_subject_name(root)) == 1 &&
                            X509_CRL_set1_lastUpdate(list, last.get()) == 1 &&
                            X509_CRL_set1_nextUpdate(list, next.get()) == 1 && X509_CRL_sort(list) == 1 &&
                            X509_CRL_sign(list, state_->root.key.get(), EVP_sha256()) > 0;
    require(signed_now, "no list of revocations");
    auto path = state_->files.file("ca_and_crl.pem");
    write_certificate(path, root);
    const file_ptr file{std::fopen(path.c_str(), "a")};
    require(file != nullptr && PEM_write_X509_CRL(file.get(), list) == 1, "cannot write a list of revocations");
    return path;
}

std::string test_ca::file(const std::string& name) const
{
    return state_->files.file(name);
}

certificate test_ca::issue(const certificate_spec& what)
{
    return state_->make(what);
}

certificate test_ca::issue(const std::vector<std::string>& names)
{
    return issue(certificate_spec{.names = names});
}

certificate test_ca::issue_client()
{
    return issue(certificate_spec{.common_name = "cardea test client", .extended_use = "clientAuth"});
}

certificate test_ca::issue_expired(const std::vector<std::string>& names)
{
    return issue(certificate_spec{.names = names, .from = std::chrono::hours{-48}, .until = std::chrono::hours{-12}});
}

certificate test_ca::issue_not_yet_valid(const std::vector<std::string>& names)
{
    return issue(certificate_spec{.names = names, .from = std::chrono::hours{24}});
}

certificate test_ca::self_signed(const std::vector<std::string>& names)
{
    return issue(certificate_spec{.names = names, .chain = chain_kind::itself});
}

}  // namespace test_support
