#include "net/tls/tls_files.hpp"

#include "core/ascii.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <system_error>
#include <utility>

namespace net {
namespace {

constexpr std::size_t most_bytes = 16 * 1024 * 1024;

template <auto Free>
struct freed_by {
    template <class T>
    void operator()(T* owned) const noexcept
    {
        Free(owned);
    }
};
using file_ptr = std::unique_ptr<std::FILE, freed_by<std::fclose>>;
using bio_ptr = std::unique_ptr<BIO, freed_by<BIO_free>>;
using x509_ptr = std::unique_ptr<X509, freed_by<X509_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<EVP_PKEY_free>>;
using context_ptr = std::unique_ptr<SSL_CTX, freed_by<SSL_CTX_free>>;
using name_list_ptr = std::unique_ptr<GENERAL_NAMES, freed_by<GENERAL_NAMES_free>>;

struct free_infos {
    void operator()(STACK_OF(X509_INFO) * infos) const noexcept { sk_X509_INFO_pop_free(infos, X509_INFO_free); }
};
using info_list_ptr = std::unique_ptr<STACK_OF(X509_INFO), free_infos>;

core::error invalid(std::string why)
{
    return core::gateway_error(core::errc::config_invalid, std::move(why));
}

core::error failed(std::string_view problem, int number)
{
    return invalid(std::string{problem} + ": " + std::generic_category().message(number));
}

// The whole file first: what OpenSSL then complains of is what stands in it.
core::result<bio_ptr> read_file(const std::string& path)
{
    const file_ptr file{std::fopen(path.c_str(), "rbe")};
    if (file == nullptr) {
        return failed("cannot be opened", errno);
    }
    std::setvbuf(file.get(), nullptr, _IONBF, 0);  // a key leaves no copy in a buffer
    bio_ptr content{BIO_new(BIO_s_secmem())};
    std::array<char, 16 * 1024> piece{};
    std::size_t size = 0;
    while (content != nullptr) {
        errno = 0;
        const auto got = std::fread(piece.data(), 1, piece.size(), file.get());
        if (got == 0) {
            OPENSSL_cleanse(piece.data(), piece.size());
            if (std::ferror(file.get()) != 0) {
                return failed("cannot be read", errno);
            }
            return content;
        }
        size += got;
        if (size > most_bytes) {
            return invalid("is longer than 16MiB");
        }
        if (BIO_write(content.get(), piece.data(), static_cast<int>(got)) != static_cast<int>(got)) {
            break;
        }
    }
    return invalid("cannot be read: out of memory");
}

// Nobody is there who could type it in.
int no_passphrase(char*, int, int, void* asked)
{
    *static_cast<bool*>(asked) = true;
    return -1;
}

core::result<context_ptr> plain_context()
{
    context_ptr context{SSL_CTX_new(TLS_method())};
    if (context == nullptr) {
        return invalid("cannot be used: " + take_tls_error());
    }
    SSL_CTX_set_security_level(context.get(), 2);
    return context;
}

void ask_for_revocations(SSL_CTX& context)
{
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(&context), X509_V_FLAG_CRL_CHECK);
}

core::wall_time end_of(const X509& certificate)
{
    std::tm at{};
    if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &at) != 1) {
        return {};
    }
    return std::chrono::system_clock::from_time_t(::timegm(&at));
}

}  // namespace

std::string take_tls_error()
{
    const auto first = ERR_get_error();
    ERR_clear_error();
    if (ERR_SYSTEM_ERROR(first)) {
        return std::generic_category().message(ERR_GET_REASON(first));
    }
    const auto* const reason = ERR_reason_error_string(first);
    return reason == nullptr ? "unknown error" : reason;
}

core::result<> use_certificate(SSL_CTX& context, const std::string& cert_file)
{
    const auto file = read_file(cert_file);
    if (!file) {
        return file.error();
    }
    ERR_clear_error();
    bool asked = false;
    const x509_ptr first{PEM_read_bio_X509_AUX(file->get(), nullptr, no_passphrase, &asked)};
    if (first == nullptr) {
        ERR_clear_error();
        return invalid("has no certificate in PEM");
    }
    if (SSL_CTX_use_certificate(&context, first.get()) != 1) {
        return invalid("cannot be used: " + take_tls_error());
    }
    SSL_CTX_clear_chain_certs(&context);
    for (;;) {
        const x509_ptr next{PEM_read_bio_X509(file->get(), nullptr, no_passphrase, &asked)};
        if (next == nullptr) {
            break;
        }
        if (SSL_CTX_add1_chain_cert(&context, next.get()) != 1) {
            return invalid("has a chain that cannot be used: " + take_tls_error());
        }
    }
    const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
    ERR_clear_error();
    if (!at_end) {
        return invalid("has a certificate in its chain that cannot be read");
    }
    return {};
}

core::result<> use_key(SSL_CTX& context, const std::string& key_file)
{
    const auto file = read_file(key_file);
    if (!file) {
        return file.error();
    }
    ERR_clear_error();
    bool asked = false;
    const key_ptr key{PEM_read_bio_PrivateKey(file->get(), nullptr, no_passphrase, &asked)};
    if (key == nullptr) {
        ERR_clear_error();
        return invalid(asked ? "has a key that is encrypted" : "has no private key in PEM");
    }
    if (SSL_CTX_use_PrivateKey(&context, key.get()) == 1 && SSL_CTX_check_private_key(&context) == 1) {
        return {};
    }
    const auto reason = ERR_GET_REASON(ERR_peek_error());
    const bool another = reason == X509_R_KEY_VALUES_MISMATCH || reason == X509_R_KEY_TYPE_MISMATCH ||
                         reason == SSL_R_NO_CERTIFICATE_ASSIGNED;
    const auto why = take_tls_error();
    return invalid(another ? "is not the key of the certificate" : "cannot be used: " + why);
}

core::result<> use_trust(SSL_CTX& context, const std::string& ca_file)
{
    if (ca_file.empty()) {
        if (SSL_CTX_set_default_verify_paths(&context) != 1) {
            return invalid("the system's authorities cannot be read: " + take_tls_error());
        }
        return {};
    }
    const auto file = read_file(ca_file);
    if (!file) {
        return file.error();
    }
    ERR_clear_error();
    bool asked = false;
    const info_list_ptr infos{PEM_X509_INFO_read_bio(file->get(), nullptr, no_passphrase, &asked)};
    auto* const store = SSL_CTX_get_cert_store(&context);
    bool authorities = false;
    bool lists = false;
    for (int i = 0; infos != nullptr && i < sk_X509_INFO_num(infos.get()); ++i) {
        const auto* const info = sk_X509_INFO_value(infos.get(), i);
        const bool added = (info->x509 == nullptr || X509_STORE_add_cert(store, info->x509) == 1) &&
                           (info->crl == nullptr || X509_STORE_add_crl(store, info->crl) == 1);
        if (!added) {
            return invalid("cannot be used: " + take_tls_error());
        }
        authorities = authorities || info->x509 != nullptr;
        lists = lists || info->crl != nullptr;
    }
    ERR_clear_error();
    if (!authorities) {
        return invalid(infos == nullptr ? "cannot be read as PEM" : "has no certificate in PEM");
    }
    if (lists) {
        ask_for_revocations(context);
    }
    return {};
}

void use_revocations(SSL_CTX& context, const std::string& ca_file)
{
    if (ca_file.empty()) {
        return;
    }
    const auto file = read_file(ca_file);
    if (file &&
        std::unique_ptr<X509_CRL, freed_by<X509_CRL_free>>{PEM_read_bio_X509_CRL(file->get(), nullptr, nullptr, nullptr)
        }) {
        ask_for_revocations(context);
    }
    ERR_clear_error();
}

std::vector<std::string> certificate_names(SSL_CTX& context)
{
    std::vector<std::string> names;
    auto* const certificate = SSL_CTX_get0_certificate(&context);
    const name_list_ptr list{
        certificate == nullptr
            ? nullptr
            : static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr))
    };
    for (int i = 0; list != nullptr && i < sk_GENERAL_NAME_num(list.get()); ++i) {
        const auto* const each = sk_GENERAL_NAME_value(list.get(), i);
        if (each->type == GEN_DNS) {
            const auto* const text = reinterpret_cast<const char*>(ASN1_STRING_get0_data(each->d.dNSName));
            names.push_back(core::in_lower_case({text, static_cast<std::size_t>(ASN1_STRING_length(each->d.dNSName))}));
        }
    }
    return names;
}

core::result<core::wall_time> valid_until(const std::string& cert_file)
{
    const auto context = plain_context();
    if (!context) {
        return context.error();
    }
    if (const auto used = use_certificate(**context, cert_file); !used) {
        return used.error();
    }
    auto earliest = end_of(*SSL_CTX_get0_certificate(context->get()));
    STACK_OF(X509)* chain = nullptr;
    SSL_CTX_get0_chain_certs(context->get(), static_cast<void*>(&chain));
    for (int i = 0; i < sk_X509_num(chain); ++i) {
        earliest = std::min(earliest, end_of(*sk_X509_value(chain, i)));
    }
    return earliest;
}

core::result<> check_certificate(const std::string& cert_file, bool by_name)
{
    const auto context = plain_context();
    if (!context) {
        return context.error();
    }
    auto used = use_certificate(**context, cert_file);
    if (used && by_name && certificate_names(**context).empty()) {
        return invalid("has no DNS name that it could be chosen by");
    }
    return used;
}

core::result<> check_key(const std::string& cert_file, const std::string& key_file)
{
    const auto context = plain_context();
    if (!context) {
        return context.error();
    }
    if (!use_certificate(**context, cert_file)) {
        return {};  // the certificate is at fault
    }
    return use_key(**context, key_file);
}

core::result<> check_trust(const std::string& ca_file)
{
    const auto context = plain_context();
    if (!context) {
        return context.error();
    }
    return use_trust(**context, ca_file);
}

std::string text_of_trust(SSL_CTX& context)
{
    std::string text;
    const auto* const all = X509_STORE_get0_objects(SSL_CTX_get_cert_store(&context));
    for (int i = 0; i < sk_X509_OBJECT_num(all); ++i) {
        const auto* const each = sk_X509_OBJECT_value(all, i);
        std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
        unsigned size = 0;
        if (const auto* const certificate = X509_OBJECT_get0_X509(each)) {
            X509_digest(certificate, EVP_sha256(), digest.data(), &size);
        } else if (auto* const list = X509_OBJECT_get0_X509_CRL(each)) {
            X509_CRL_digest(list, EVP_sha256(), digest.data(), &size);
        }
        text += '\n';
        text.append(reinterpret_cast<const char*>(digest.data()), size);
    }
    return text;
}

}  // namespace net
