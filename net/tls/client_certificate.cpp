#include "net/tls/client_certificate.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <ctime>
#include <string_view>

namespace net {
namespace {

struct free_names {
    void operator()(GENERAL_NAMES* names) const noexcept { GENERAL_NAMES_free(names); }
};

struct free_bio {
    void operator()(BIO* bio) const noexcept { BIO_free(bio); }
};

std::string visible_text(const ASN1_STRING& text)
{
    const auto* const bytes = reinterpret_cast<const char*>(ASN1_STRING_get0_data(&text));
    const std::string_view all{bytes, static_cast<std::size_t>(ASN1_STRING_length(&text))};
    const bool visible = std::ranges::all_of(all, [](char c) { return c > ' ' && c <= '~'; });
    return visible ? std::string{all} : std::string{};
}

void add_alternative_names(const X509& certificate, client_certificate& into)
{
    const std::unique_ptr<GENERAL_NAMES, free_names> names{
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr))
    };
    bool is_first = true;
    for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
        const auto* const each = sk_GENERAL_NAME_value(names.get(), i);
        if (each->type != GEN_DNS && each->type != GEN_URI && each->type != GEN_EMAIL) {
            continue;
        }
        auto text = visible_text(*each->d.ia5);
        if (each->type == GEN_URI) {
            into.uris.push_back(text);
        }
        if (is_first) {
            into.alternative_name = std::move(text);
        }
        is_first = false;
    }
}

std::string subject_of(const X509& certificate)
{
    const auto* const name = X509_get_subject_name(&certificate);
    const std::unique_ptr<BIO, free_bio> text{BIO_new(BIO_s_mem())};
    if (text == nullptr || X509_NAME_entry_count(name) == 0 ||
        X509_NAME_print_ex(text.get(), name, 0, XN_FLAG_RFC2253) < 0) {
        return {};
    }
    char* begin = nullptr;
    const auto size = BIO_get_mem_data(text.get(), &begin);
    return {begin, static_cast<std::size_t>(size)};
}

}  // namespace

std::unique_ptr<const client_certificate> client_certificate_of(SSL& connection)
{
    const auto* const certificate = SSL_get0_peer_certificate(&connection);
    std::tm end{};
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (certificate == nullptr || SSL_get_verify_result(&connection) != X509_V_OK ||
        ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1 ||
        X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) {
        return nullptr;
    }
    auto made = std::make_unique<client_certificate>();
    made->fingerprint.assign(reinterpret_cast<const char*>(digest.data()), size);
    add_alternative_names(*certificate, *made);
    made->subject = subject_of(*certificate);
    made->valid_until = std::chrono::system_clock::from_time_t(::timegm(&end));
    ERR_clear_error();
    return made;
}

}  // namespace net
