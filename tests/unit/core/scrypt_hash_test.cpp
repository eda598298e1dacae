#include "core/scrypt_hash.hpp"

#include <doctest/doctest.h>

#include <string>

using core::parse_scrypt_hash;

TEST_SUITE_BEGIN("core/scrypt_hash");

namespace {

const std::string salt = "c2FsdHNhbHQ";             // saltsalt
const std::string hash = "aGFzaGhhc2hoYXNoaGFzaA";  // hashhashhashhash

std::string with(const std::string& parameters)
{
    return "$scrypt$" + parameters + "$" + salt + "$" + hash;
}

}  // namespace

TEST_CASE("A hash has its parameters, a salt and the hash itself")
{
    const auto read = parse_scrypt_hash(with("ln=15,r=8,p=1"));
    REQUIRE(read.has_value());
    CHECK(read->log_cost == 15);
    CHECK(read->block_size == 8);
    CHECK(read->parallelism == 1);
    CHECK(read->salt == "saltsalt");
    CHECK(read->hash == "hashhashhashhash");
}

TEST_CASE("A check takes 16 to 64 MiB and is not more than fourfold")
{
    CHECK(parse_scrypt_hash(with("ln=14,r=8,p=1")));
    CHECK(parse_scrypt_hash(with("ln=16,r=8,p=4")));
    CHECK(parse_scrypt_hash(with("ln=17,r=4,p=1")));
    CHECK_FALSE(parse_scrypt_hash(with("ln=13,r=8,p=1")));
    CHECK_FALSE(parse_scrypt_hash(with("ln=14,r=7,p=1")));
    CHECK_FALSE(parse_scrypt_hash(with("ln=16,r=9,p=1")));
    CHECK_FALSE(parse_scrypt_hash(with("ln=17,r=8,p=1")));
    CHECK_FALSE(parse_scrypt_hash(with("ln=15,r=8,p=5")));
    CHECK_FALSE(parse_scrypt_hash(with("ln=64,r=8,p=1")));
    CHECK_FALSE(parse_scrypt_hash(with("ln=15,r=4294967295,p=1")));
    CHECK_FALSE(parse_scrypt_hash(with("ln=15,r=99999999999999999999,p=1")));
}

TEST_CASE("Another form is none")
{
    const std::string good = with("ln=15,r=8,p=1");
    for (const auto& text : {
             std::string{},
             good.substr(1),
             good + "$",
             good + "=",
             good + "B",
             with("ln=15,r=8"),
             with("r=8,ln=15,p=1"),
             with("ln=015,r=8,p=1"),
             with("ln=15,r=8,p=0"),
             with("ln=15,r=8,p=-1"),
             with("ln=15, r=8,p=1"),
             with("ln=15,r=8,p=1,x=1"),
             std::string{"$scrypt$ln=15,r=8,p=1$"} + salt,
             "$scrypt$ln=15,r=8,p=1$" + salt + "$",
             "$scrypt$ln=15,r=8,p=1$$" + hash,
             "$scrypt$ln=15,r=8,p=1$c2FsdHNhbHR$" + hash,
             "$scrypt$ln=15,r=8,p=1$c2FsdHNh$" + hash,
             "$scrypt$ln=15,r=8,p=1$c2FsdHNhb-Q$" + hash,
         }) {
        CAPTURE(text);
        CHECK_FALSE(parse_scrypt_hash(text).has_value());
    }
}

TEST_SUITE_END();
