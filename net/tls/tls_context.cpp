#include "net/tls/tls_context.hpp"

#include "core/ascii.hpp"
#include "net/tls/tls_files.hpp"

#include <boost/asio/ip/address.hpp>

#include <openssl/err.h>
#include <openssl/sha.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <optional>
#include <unordered_map>
#include <utility>

namespace net {
namespace {

constexpr const char* server_ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20";
constexpr const char* client_ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20";
constexpr int security_level = 2;  // 112 bits: RSA from 2048, no SHA-1
// Certificates name hosts by subject alternative names, as a whole or with `*` as a whole label.
constexpr unsigned whole_names = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT;
constexpr std::string_view http1 = "http/1.1";
constexpr std::string_view http2_name = "h2";
constexpr auto offered_protocols = std::to_array<unsigned char>({8, 'h', 't', 't', 'p', '/', '1', '.', '1'});
constexpr auto with_http2 = std::to_array<unsigned char>({2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'});

// State of the callbacks of a server's context; it lives as long as OpenSSL's own count of references says.
struct server_data {
    ~server_data()
    {
        for (const auto& [name, context] : by_name) {
            SSL_CTX_free(context);
        }
    }

    std::shared_ptr<ticket_keys> tickets;
    // A reference is held on each; null: the context that has this data, which would else hold itself.
    std::unordered_map<std::string, SSL_CTX*> by_name;
    std::string client_trust;   // what callers' certificates are verified with; empty: none is asked for
    bool only_by_name = false;  // this context is for none but callers that ask for a name of its own

    auto find(const std::string& name) const
    {
        const auto found = by_name.find(name);
        return found != by_name.end() ? found : by_name.find('*' + name.substr(std::min(name.find('.'), name.size())));
    }
};

void free_server_data(void*, void* data, CRYPTO_EX_DATA*, int, long, void*)
{
    const std::unique_ptr<server_data> freed{static_cast<server_data*>(data)};
}

int server_data_index()
{
    static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_server_data);
    return index;
}

server_data& data_of(SSL_CTX& context)
{
    return *static_cast<server_data*>(SSL_CTX_get_ex_data(&context, server_data_index()));
}

const server_data& data_of(SSL* connection)
{
    return data_of(*SSL_get_SSL_CTX(connection));
}

// The name in the extension (RFC 6066 section 3): a list of one host_name. Empty: none, or one that OpenSSL refuses later.
std::string asked_name(SSL* connection)
{
    const unsigned char* at = nullptr;
    std::size_t size = 0;
    constexpr std::size_t frame = 5;  // the list's length, the kind of name, the name's length
    if (SSL_client_hello_get0_ext(connection, TLSEXT_TYPE_server_name, &at, &size) != 1 || size <= frame) {
        return {};
    }
    const auto length = static_cast<std::size_t>(at[3] * 256 + at[4]);
    const bool one_name = at[2] == TLSEXT_NAMETYPE_host_name && length == size - frame;
    return one_name ? core::in_lower_case({reinterpret_cast<const char*>(at) + frame, length}) : std::string{};
}

// With the caller's first message, before OpenSSL looks at the ticket in it: a session counts only for the context that it
// was made with (set_session_scope()), also in TLS 1.2, where the ticket comes before the name.
int choose_certificate(SSL* connection, int*, void*)
{
    const auto& data = data_of(connection);
    const auto found = data.find(asked_name(connection));
    if (found != data.by_name.end() && found->second != nullptr) {
        SSL_set_SSL_CTX(connection, found->second);
    }
    return SSL_CLIENT_HELLO_SUCCESS;
}

// RFC 6066 section 3: the caller is told that its name was of use.
int acknowledge_name(SSL* connection, int*, void*)
{
    const auto* const asked = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
    const auto& data = data_of(connection);
    const bool used =
        asked != nullptr && (data.only_by_name || data.find(core::in_lower_case(asked)) != data.by_name.end());
    return used ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

// Sessions are for callers that ask for one of the same names, under the same authorities of clients. By the names, so that
// they outlive a new certificate.
bool set_session_scope(SSL_CTX& context, const std::vector<std::string>& names)
{
    std::string text{"cardea"};
    for (const auto& name : names) {
        text += '\n' + core::in_lower_case(name);
    }
    if (SSL_CTX_get_verify_mode(&context) != SSL_VERIFY_NONE) {
        text += data_of(context).client_trust = "\nclients" + text_of_trust(context);
    }
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    static_assert(digest.size() <= SSL_MAX_SID_CTX_LENGTH);
    SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
    return SSL_CTX_set_session_id_context(&context, digest.data(), digest.size()) == 1;
}

// Non-null for connections that speak HTTP/2 too.
int http2_index()
{
    static const int index = SSL_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
    return index;
}

int choose_protocol(SSL* connection, const unsigned char** chosen, unsigned char* chosen_size, const unsigned char* offered, unsigned int size, void*)
{
    int result = SSL_TLSEXT_ERR_ALERT_FATAL;
    const bool has_http2 = SSL_get_ex_data(connection, http2_index()) != nullptr;
    for (unsigned int at = 0; at < size; at += offered[at] + 1U) {
        const std::string_view each{reinterpret_cast<const char*>(offered) + at + 1, offered[at]};
        const bool best = has_http2 && each == http2_name;
        if (best || (each == http1 && result != SSL_TLSEXT_ERR_OK)) {
            *chosen = offered + at + 1;
            *chosen_size = offered[at];
            result = SSL_TLSEXT_ERR_OK;
        }
        if (best) {
            break;
        }
    }
    return result;
}

int use_ticket_key(
    SSL* connection,
    unsigned char* name,
    unsigned char* iv,
    EVP_CIPHER_CTX* cipher,
    EVP_MAC_CTX* mac,
    int seal
)
{
    auto& keys = *data_of(connection).tickets;
    return seal == 1 ? keys.seal(name, iv, cipher, mac) : keys.open(name, iv, cipher, mac);
}

tls_context owned(SSL_CTX* context)
{
    return tls_context{context, SSL_CTX_free};
}

core::error invalid(std::string detail)
{
    return core::gateway_error(core::errc::config_invalid, std::move(detail));
}

core::error in_file(const std::string& path, const core::error& why)
{
    return invalid(path + ' ' + why.detail);
}

void set_up(SSL_CTX& context, const char* ciphers)
{
    SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
    SSL_CTX_set_security_level(&context, security_level);
    SSL_CTX_set_cipher_list(&context, ciphers);
    SSL_CTX_set_options(&context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_mode(
        &context,
        SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
    );
    SSL_CTX_set_read_ahead(&context, 1);  // else a record takes two reads
}

std::optional<core::error> use_identity(SSL_CTX& context, const std::string& cert_file, const std::string& key_file)
{
    if (const auto used = use_certificate(context, cert_file); !used) {
        return in_file(cert_file, used.error());
    }
    if (const auto used = use_key(context, key_file); !used) {
        return in_file(key_file, used.error());
    }
    return std::nullopt;
}

core::result<tls_context> make_one(const tls_certificate& shown, const std::shared_ptr<ticket_keys>& tickets)
{
    auto owner = owned(SSL_CTX_new(TLS_server_method()));
    if (owner == nullptr) {
        return invalid("no TLS: " + take_tls_error());
    }
    auto& context = *owner;
    set_up(context, server_ciphers);
    SSL_CTX_set_options(&context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
    SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_timeout(&context, std::chrono::duration_cast<std::chrono::seconds>(ticket_keys::period).count());
    SSL_CTX_set_alpn_select_cb(&context, choose_protocol, nullptr);
    SSL_CTX_set_client_hello_cb(&context, choose_certificate, nullptr);
    SSL_CTX_set_tlsext_servername_callback(&context, acknowledge_name);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(&context, use_ticket_key);
    auto data = std::make_unique<server_data>();
    data->tickets = tickets;
    if (SSL_CTX_set_ex_data(&context, server_data_index(), data.get()) != 1) {
        return invalid("no TLS: " + take_tls_error());
    }
    auto* const kept_by_context = data.release();
    static_cast<void>(kept_by_context);
    if (auto failed = use_identity(context, shown.cert_file, shown.key_file)) {
        return std::move(*failed);
    }
    return owner;
}

// Asks callers for a certificate. Who sends none gets on: whether it may, policies say.
std::optional<core::error> ask_for_certificates(SSL_CTX& context, const std::string& ca_file)
{
    if (const auto trusted = use_trust(context, ca_file); !trusted) {
        return in_file(ca_file, trusted.error());
    }
    SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(&context), X509_V_FLAG_PARTIAL_CHAIN);
    const auto* const all = X509_STORE_get0_objects(SSL_CTX_get_cert_store(&context));
    for (int i = 0; i < sk_X509_OBJECT_num(all); ++i) {
        auto* const authority = X509_OBJECT_get0_X509(sk_X509_OBJECT_value(all, i));
        if (authority != nullptr && SSL_CTX_add_client_CA(&context, authority) != 1) {
            return invalid(ca_file + " cannot be used: " + take_tls_error());
        }
    }
    return std::nullopt;
}

void free_verdict(void*, void* data, CRYPTO_EX_DATA*, int, long, void*)
{
    const std::unique_ptr<std::shared_ptr<long>> freed{static_cast<std::shared_ptr<long>*>(data)};
}

int verify_and_record(X509_STORE_CTX* chain, void* verdict)
{
    const int verified = X509_verify_cert(chain);
    *static_cast<long*>(verdict) = X509_STORE_CTX_get_error(chain);
    return verified;
}

bool is_address(const std::string& host)
{
    boost::system::error_code not_one;
    boost::asio::ip::make_address(host, not_one);
    return !not_one;
}

// A name that ends in its root is the same name (RFC 6066 section 3: SNI has it without).
std::string without_dot(std::string host)
{
    if (host.size() > 1 && host.back() == '.') {
        host.pop_back();
    }
    return host;
}

}  // namespace

core::result<tls_context> make_server_tls(
    const std::vector<tls_certificate>& certificates,
    std::shared_ptr<ticket_keys> tickets,
    const std::string& client_ca_file
)
{
    assert(tickets != nullptr);
    tls_context first;
    for (const auto& each : certificates) {
        auto context = make_one(each, tickets);
        if (!context) {
            return std::move(context).error();
        }
        if (!client_ca_file.empty()) {
            if (auto failed = ask_for_certificates(**context, client_ca_file)) {
                return std::move(*failed);
            }
        }
        const bool is_first = first == nullptr;
        first = is_first ? *context : first;
        auto& by_name = data_of(*first).by_name;
        data_of(**context).only_by_name = !is_first;
        const auto names = each.names.empty() ? certificate_names(**context) : each.names;
        if (names.empty() && !is_first) {
            return invalid(each.cert_file + " has no DNS name that it could be chosen by");
        }
        if (!set_session_scope(**context, names)) {
            return invalid("no TLS: " + take_tls_error());
        }
        for (const auto& name : names) {
            const bool added = by_name.emplace(core::in_lower_case(name), is_first ? nullptr : context->get()).second;
            if (added && !is_first) {
                SSL_CTX_up_ref(context->get());
            }
        }
    }
    if (first == nullptr) {
        return invalid("TLS without a certificate");
    }
    return first;
}

bool same_client_authorities(const tls_context& one, const tls_context& other)
{
    const auto trust = [](const tls_context& of) { return of == nullptr ? std::string{} : data_of(*of).client_trust; };
    return trust(one) == trust(other);
}

core::result<tls_context> make_client_tls(const tls_client_files& files)
{
    auto owner = owned(SSL_CTX_new(TLS_client_method()));
    if (owner == nullptr) {
        return invalid("no TLS: " + take_tls_error());
    }
    auto& context = *owner;
    set_up(context, client_ciphers);
    SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_alpn_protos(&context, offered_protocols.data(), offered_protocols.size());
    if (const auto trusted = use_trust(context, files.ca_file); !trusted) {
        return in_file(files.ca_file, trusted.error());
    }
    verify_strictly(context);
    if (!files.cert_file.empty()) {
        if (auto failed = use_identity(context, files.cert_file, files.key_file)) {
            return std::move(*failed);
        }
    }
    return owner;
}

void verify_strictly(SSL_CTX& context)
{
    SSL_CTX_set_security_level(&context, security_level);
    SSL_CTX_set_cipher_list(&context, client_ciphers);
    X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(&context), X509_V_FLAG_PARTIAL_CHAIN);
}

void record_verdict(SSL_CTX& context, std::shared_ptr<long> verdict)
{
    static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_verdict);
    auto held = std::make_unique<std::shared_ptr<long>>(std::move(verdict));
    if (SSL_CTX_set_ex_data(&context, index, held.get()) == 1) {
        SSL_CTX_set_cert_verify_callback(&context, verify_and_record, held.release()->get());
    }
}

bool expect_name(X509_VERIFY_PARAM& verification, const std::string& host)
{
    if (is_address(host)) {
        return X509_VERIFY_PARAM_set1_ip_asc(&verification, host.c_str()) == 1;
    }
    X509_VERIFY_PARAM_set_hostflags(&verification, whole_names);
    const auto name = without_dot(host);
    return !name.empty() && X509_VERIFY_PARAM_set1_host(&verification, name.data(), name.size()) == 1;
}

bool expect_peer(SSL& connection, const std::string& host)
{
    if (!expect_name(*SSL_get0_param(&connection), host)) {
        return false;
    }
    // RFC 6066 section 3: no literal addresses in SNI.
    return is_address(host) || SSL_set_tlsext_host_name(&connection, without_dot(host).c_str()) == 1;
}

bool offer_http2(SSL& connection)
{
    if (SSL_is_server(&connection) == 1) {
        return SSL_set_ex_data(&connection, http2_index(), &connection) == 1;
    }
    return SSL_set_alpn_protos(&connection, with_http2.data(), with_http2.size()) == 0;
}

bool chose_http2(const SSL& connection)
{
    const unsigned char* chosen = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(&connection, &chosen, &size);
    return std::string_view{reinterpret_cast<const char*>(chosen), size} == http2_name;
}

bool is_for_host(const SSL& connection, std::string_view host)
{
    const auto* const asked = SSL_get_servername(&connection, TLSEXT_NAMETYPE_host_name);
    if (asked != nullptr && core::equal_ignoring_case(asked, host)) {
        return true;
    }
    const auto name = without_dot(std::string{host});
    const bool address = is_address(name);
    const bool untold = SSL_session_reused(&connection) == 1 && SSL_version(&connection) < TLS1_3_VERSION;
    if (asked != nullptr ? core::equal_ignoring_case(asked, name) : address || untold) {
        return true;
    }
    auto* const shown = SSL_get_certificate(&connection);
    return address ? X509_check_ip_asc(shown, name.c_str(), 0) == 1
                   : X509_check_host(shown, name.data(), name.size(), whole_names, nullptr) == 1;
}

std::string handshake_failure(const SSL& connection, std::string_view reason)
{
    std::string why{reason};
    if (const auto verdict = SSL_get_verify_result(&connection); verdict != X509_V_OK) {
        why += std::string{": "} + X509_verify_cert_error_string(verdict);
    }
    return why;
}

}  // namespace net
