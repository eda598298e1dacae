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
using file_ptr = std::unique_ptr<std::FILE, freed_by<std::fclose>>;

constexpr long day = 24L * 60 * 60;

void require(bool worked, const char* what)
{
    if (!worked) {
        throw std::runtime_error{std::string{"test_ca: "} + what};
    }
}

key_ptr new_key()
{
    key_ptr key{EVP_EC_gen("P-256")};
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
        list += (list.empty() ? "" : ",") + std::string{not_address ? "DNS:" : "IP:"} + name;
    }
    return list;
}

void write_certificate(const std::string& path, X509* what)
{
    const file_ptr file{std::fopen(path.c_str(), "w")};
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

}  // namespace

struct test_ca::state {
    directory files;
    key_ptr key = new_key();
    x509_ptr root;
    std::string ca_file = files.file("ca.pem");
    std::size_t issued = 0;

    // issuer and signer null: signed by itself.
    certificate make(const std::vector<std::string>& names, long from, long until, bool by_itself = false);
};

certificate test_ca::state::make(const std::vector<std::string>& names, long from, long until, bool by_itself)
{
    const auto leaf_key = new_key();
    const auto leaf = new_certificate(leaf_key.get(), "cardea test leaf", from, until);
    auto* const issuer = by_itself ? leaf.get() : root.get();
    require(X509_set_issuer_name(leaf.get(), X509_get_subject_name(issuer)) == 1, "no issuer");
    add_extension(leaf.get(), issuer, NID_basic_constraints, "critical,CA:FALSE");
    add_extension(leaf.get(), issuer, NID_ext_key_usage, "serverAuth");
    add_extension(leaf.get(), issuer, NID_subject_alt_name, alternative_names(names));
    require(X509_sign(leaf.get(), by_itself ? leaf_key.get() : key.get(), EVP_sha256()) > 0, "no signature");
    const auto stem = "leaf" + std::to_string(++issued);
    certificate made{files.file(stem + ".pem"), files.file(stem + ".key")};
    write_certificate(made.cert_file, leaf.get());
    write_key(made.key_file, leaf_key.get());
    return made;
}

test_ca::test_ca()
    : state_{std::make_unique<state>()}
{
    state_->root = new_certificate(state_->key.get(), "cardea test root", -day, 30 * day);
    auto* const root = state_->root.get();
    require(X509_set_issuer_name(root, X509_get_subject_name(root)) == 1, "no issuer");
    add_extension(root, root, NID_basic_constraints, "critical,CA:TRUE");
    add_extension(root, root, NID_key_usage, "critical,keyCertSign,cRLSign");
    add_extension(root, root, NID_subject_key_identifier, "hash");
    require(X509_sign(root, state_->key.get(), EVP_sha256()) > 0, "no signature");
    write_certificate(state_->ca_file, root);
}

test_ca::~test_ca() = default;

const std::string& test_ca::ca_file() const noexcept
{
    return state_->ca_file;
}

certificate test_ca::issue(const std::vector<std::string>& names)
{
    return state_->make(names, -day, 7 * day);
}

certificate test_ca::issue_expired(const std::vector<std::string>& names)
{
    return state_->make(names, -2 * day, -day / 2);
}

certificate test_ca::issue_not_yet_valid(const std::vector<std::string>& names)
{
    return state_->make(names, day, 7 * day);
}

certificate test_ca::self_signed(const std::vector<std::string>& names)
{
    return state_->make(names, -day, 7 * day, true);
}

}  // namespace test_support
