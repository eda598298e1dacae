// Certificates made at run time (EC P-256): nothing in the tree that expires. Files live in a directory of its own,
// removed with the object.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace test_support {

struct certificate {
    std::string cert_file;  // PEM
    std::string key_file;
};

// A certificate authority nobody trusts but who is given its ca_file(). Two of them do not trust each other.
// Throws std::runtime_error when OpenSSL or the file system refuses.
class test_ca {
public:
    test_ca();
    ~test_ca();
    test_ca(const test_ca&) = delete;
    test_ca& operator=(const test_ca&) = delete;

    const std::string& ca_file() const noexcept;

    // Names are DNS names or IP addresses.
    certificate issue(const std::vector<std::string>& names);
    certificate issue_expired(const std::vector<std::string>& names);
    certificate issue_not_yet_valid(const std::vector<std::string>& names);
    certificate self_signed(const std::vector<std::string>& names);  // has nothing to do with the authority

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace test_support
