#include "config/values.hpp"

#include "config/choice.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

TEST_SUITE_BEGIN("config/values");

namespace {

template <class T>
std::string failure(const core::result<T>& value)
{
    return value ? "no failure" : value.error().detail;
}

}  // namespace

TEST_CASE("a duration is whole numbers with units, the largest first")
{
    const std::pair<const char*, std::int64_t> rows[] = {
        {"0", 0},
        {"0s", 0},
        {"1ms", 1},
        {"500ms", 500},
        {"5s", 5000},
        {"05s", 5000},
        {"5m", 300'000},
        {"1h", 3'600'000},
        {"1d", 86'400'000},
        {"1h30m", 5'400'000},
        {"1d2h3m4s5ms", 93'784'005},
        {"90m", 5'400'000},
        {"1s1ms", 1001},
        {"106751991167d", 9'223'372'036'828'800'000},
        {"9223372036854775807ms", 9'223'372'036'854'775'807},
    };
    for (const auto& [text, milliseconds] : rows) {
        CAPTURE(text);
        const auto value = config::parse_duration(text);
        REQUIRE(value.has_value());
        CHECK(value->count() == milliseconds);
    }
}

TEST_CASE("what is no duration says why")
{
    const std::pair<const char*, const char*> rows[] = {
        {"", "is empty"},
        {"5", "has no unit"},
        {"00", "has no unit"},
        {"1h30", "has no unit"},
        {"-5s", "is negative"},
        {"-0", "is negative"},
        {"+5s", "is not a duration"},
        {"s", "is not a duration"},
        {"5 s", "is not a duration"},
        {" 5s", "is not a duration"},
        {"5s ", "is not a duration"},
        {"5S", "is not a duration"},
        {"5min", "is not a duration"},
        {"5us", "is not a duration"},
        {"1.5s", "is not a duration"},
        {"1e3s", "is not a duration"},
        {"30m1h", "is not a duration"},
        {"1h1h", "is not a duration"},
        {"1h30m ", "is not a duration"},
        {"1h-30m", "is not a duration"},
        {"nan", "is not a duration"},
        {".inf", "is not a duration"},
        {"0x5s", "is not a duration"},
        {"106751991168d", "is too large"},
        {"9223372036854775808ms", "is too large"},
        {"9223372036854775s808ms", "is too large"},
        {"18446744073709551616ms", "is too large"},
        {"99999999999999999999999999d", "is too large"},
    };
    for (const auto& [text, why] : rows) {
        CAPTURE(text);
        CHECK(failure(config::parse_duration(text)) == why);
    }
    CHECK(failure(config::parse_duration(std::string_view{"5s\0", 3})) == "is not a duration");
}

TEST_CASE("a size is bytes, in powers of 1024 or of 1000")
{
    const std::pair<const char*, std::uint64_t> rows[] = {
        {"0", 0},
        {"512", 512},
        {"512B", 512},
        {"1KiB", 1024},
        {"16KiB", 16'384},
        {"1MiB", 1'048'576},
        {"1GiB", 1'073'741'824},
        {"1kB", 1000},
        {"1MB", 1'000'000},
        {"1GB", 1'000'000'000},
        {"9223372036854775807", 9'223'372'036'854'775'807},
        {"8589934591GiB", 9'223'372'035'781'033'984},
    };
    for (const auto& [text, bytes] : rows) {
        CAPTURE(text);
        const auto value = config::parse_size(text);
        REQUIRE(value.has_value());
        CHECK(*value == bytes);
    }
}

TEST_CASE("what is no size says why")
{
    const std::pair<const char*, const char*> rows[] = {
        {"", "is empty"},
        {"-1", "is negative"},
        {"KiB", "is not a size"},
        {"1 KiB", "is not a size"},
        {"1K", "is not a size"},
        {"1KB", "is not a size"},
        {"1kib", "is not a size"},
        {"1TiB", "is not a size"},
        {"1.5MiB", "is not a size"},
        {"1MiB1KiB", "is not a size"},
        {"+1", "is not a size"},
        {"0x10", "is not a size"},
        {"1e6", "is not a size"},
        {"9223372036854775808", "is too large"},
        {"8589934592GiB", "is too large"},
        {"18446744073709551616", "is too large"},
    };
    for (const auto& [text, why] : rows) {
        CAPTURE(text);
        CHECK(failure(config::parse_size(text)) == why);
    }
}

TEST_CASE("a count is digits")
{
    CHECK(config::parse_count("0").value() == 0);
    CHECK(config::parse_count("18446744073709551615").value() == 18'446'744'073'709'551'615U);
    const std::pair<const char*, const char*> rows[] = {
        {"", "is empty"},
        {"-1", "is negative"},
        {"1.0", "is not a whole number"},
        {"+1", "is not a whole number"},
        {"1 ", "is not a whole number"},
        {"18446744073709551616", "is too large"},
    };
    for (const auto& [text, why] : rows) {
        CAPTURE(text);
        CHECK(failure(config::parse_count(text)) == why);
    }
}

TEST_CASE("A share is a decimal fraction, and is written as short as it goes")
{
    CHECK(config::parse_share("0").value() == 0.0);
    CHECK(config::parse_share("0.5").value() == 0.5);
    CHECK(config::parse_share("1.00").value() == 1.0);
    const std::pair<const char*, const char*> rows[] = {
        {"", "is empty"},
        {"-0.5", "is negative"},
        {".5", "is not a decimal fraction"},
        {"5.", "is not a decimal fraction"},
        {"0.5.5", "is not a decimal fraction"},
        {"1e1", "is not a decimal fraction"},
        {"50%", "is not a decimal fraction"},
        {"half", "is not a decimal fraction"},
    };
    for (const auto& [text, why] : rows) {
        CAPTURE(text);
        CHECK(failure(config::parse_share(text)) == why);
    }
    CHECK(config::share_text(0.5) == "0.5");
    CHECK(config::share_text(1) == "1");
    CHECK(config::share_text(0.01) == "0.01");
}

TEST_CASE("a switch is true or false as YAML 1.2 writes them")
{
    for (const auto* text : {"true", "True", "TRUE"}) {
        CHECK(config::parse_switch(text).value());
    }
    for (const auto* text : {"false", "False", "FALSE"}) {
        CHECK_FALSE(config::parse_switch(text).value());
    }
    for (const auto* text : {"yes", "no", "on", "off", "1", "0", "tRUE", "true "}) {
        CAPTURE(text);
        CHECK(failure(config::parse_switch(text)) == "is not a switch");
    }
    CHECK(failure(config::parse_switch("")) == "is empty");
}

TEST_CASE("an address is a host and a port")
{
    const std::pair<const char*, config::endpoint> rows[] = {
        {"127.0.0.1:4000", {"127.0.0.1", 4000}},
        {"0.0.0.0:0", {"0.0.0.0", 0}},
        {"localhost:65535", {"localhost", 65535}},
        {"gate-1.example_x.com:80", {"gate-1.example_x.com", 80}},
        {"[::1]:4000", {"::1", 4000}},
        {"[::]:4000", {"::", 4000}},
        {"[::ffff:10.0.0.1]:1", {"::ffff:10.0.0.1", 1}},
    };
    for (const auto& [text, meant] : rows) {
        CAPTURE(text);
        const auto value = config::parse_endpoint(text);
        REQUIRE(value.has_value());
        CHECK(*value == meant);
        CHECK(config::to_text(*value) == text);
    }
}

TEST_CASE("what is no address says why")
{
    const std::pair<std::string, const char*> rows[] = {
        {"", "is empty"},
        {"localhost", "has no port"},
        {"4000", "has no port"},
        {"[::1]", "has no port"},
        {":4000", "has no host"},
        {"::1:4000", "has an IPv6 address without brackets"},
        {"[]:4000", "has no valid host"},
        {"[::g]:4000", "has no valid host"},
        {"[127.0.0.1]:4000", "has no valid host"},
        {"1.2.3:4000", "has no valid host"},
        {"256.0.0.1:4000", "has no valid host"},
        {"a b:4000", "has no valid host"},
        {"http://h:4000", "has no valid host"},
        {"*:4000", "has no valid host"},
        {"h\n:4000", "has no valid host"},
        {std::string(254, 'a') + ":1", "has no valid host"},
        {"h:", "has no valid port"},
        {"h:65536", "has no valid port"},
        {"h:-1", "has no valid port"},
        {"h:http", "has no valid port"},
        {"h:80 ", "has no valid port"},
    };
    for (const auto& [text, why] : rows) {
        CAPTURE(text);
        CHECK(failure(config::parse_endpoint(text)) == why);
    }
    CHECK(config::parse_endpoint(std::string(253, 'a') + ":1").has_value());
}

TEST_CASE("A URL of PostgreSQL has users, hosts, sockets and options as libpq reads them")
{
    for (const auto* text :
         {"postgresql://",
          "postgres://db",
          "postgresql://cardea@db1,db2:5432/cardea",
          "postgresql://cardea@db1:1,db2:65535/cardea?sslmode=require&application_name=a@b",
          "postgresql://cardea@10.0.0.7,[2001:db8::1]:5432,[::1]/cardea",
          "postgresql://%2Fvar%2Frun%2Fpostgresql/cardea",
          "postgresql:///cardea?host=/tmp/sockets&port=5433",
          "postgresql://user%40realm@db/a%2Fb"}) {
        CAPTURE(text);
        const auto value = config::parse_store(text);
        CHECK(failure(value) == "no failure");
        CHECK((value ? *value : "") == text);
    }
}

TEST_CASE("A URL of PostgreSQL with a password, or that libpq reads as another one, is refused without being shown")
{
    constexpr const char* password = "has a password in it, which belongs in store_options.password_file";
    const std::pair<const char*, const char*> rows[] = {
        {"postgresql://cardea:s3cr3t@db/cardea", password},
        {"postgresql://cardea:@db/cardea", password},
        {"postgresql://:s3cr3t@db", password},
        {"postgresql://cardea:12/34@db/cardea", password},
        {"postgresql://cardea:s3c@r3t@db/cardea", password},
        {"postgresql://cardea@db/cardea?password=s3cr3t", password},
        {"postgresql://cardea@db/cardea?sslmode=require&password=", password},
        {"postgresql://cardea@db/cardea?sslpassword=s3cr3t", "has the password of a key in it"},
        {"postgresql://cardea@db/cardea?passw%6Frd=s3cr3t", "is not a URL"},
        {"postgresql://cardea@/cardea?service=prod", "names a service of libpq, which could be any host"},
        {"postgresql://cardea:s3cr/3t@db/cardea", password},
        {"postgresql://cardea:s3cr3t", "has no valid port (1 to 65535)"},
        {"postgresql://db:0/cardea", "has no valid port (1 to 65535)"},
        {"postgresql://db:65536/cardea", "has no valid port (1 to 65535)"},
        {"postgresql://db:/cardea", "has no valid port (1 to 65535)"},
        {"postgresql://d!b/cardea", "has no valid host"},
        {"postgresql://db1,d!b/cardea", "has no valid host"},
        {"postgresql://[::1/cardea", "has no valid host"},
        {"postgresql://[db]/cardea", "has no valid host"},
        {"postgresql://db /cardea", "is not a URL"},
        {"postgresql:/db", "is not a store"},
        {"mysql://db", "is not a store"},
    };
    for (const auto& [text, why] : rows) {
        CAPTURE(text);
        CHECK(failure(config::parse_store(text)) == why);
    }
}

TEST_CASE("a level is one of the five")
{
    using core::log_level;
    for (const auto level : {log_level::debug, log_level::info, log_level::warn, log_level::error, log_level::off}) {
        CHECK(config::parse_choice<log_level>(core::name(level)).value() == level);
    }
    CHECK(failure(config::parse_choice<log_level>("INFO")) == "is not a level");
    CHECK(failure(config::parse_choice<log_level>("")) == "is empty");
}

TEST_CASE("values are written in the largest unit that is exact, and read back as the same")
{
    const std::pair<std::int64_t, const char*> durations[] = {
        {0, "0"},
        {1, "1ms"},
        {1500, "1500ms"},
        {75'000, "75s"},
        {300'000, "5m"},
        {5'400'000, "90m"},
        {86'400'000, "1d"},
    };
    for (const auto& [milliseconds, text] : durations) {
        CHECK(config::to_text(core::duration{milliseconds}) == text);
        CHECK(config::parse_duration(text).value() == core::duration{milliseconds});
    }
    const std::pair<std::uint64_t, const char*> sizes[] = {
        {0, "0"},
        {512, "512B"},
        {1000, "1000B"},
        {1024, "1KiB"},
        {1536, "1536B"},
        {1'048'576, "1MiB"},
        {1'073'741'824, "1GiB"},
    };
    for (const auto& [bytes, text] : sizes) {
        CHECK(config::size_text(bytes) == text);
        CHECK(config::parse_size(text).value() == bytes);
    }
}

TEST_SUITE_END();
