#include "jose/sealed_text.hpp"

#include "core/base64.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

TEST_SUITE_BEGIN("jose/sealed_text");

using purpose = std::vector<std::string_view>;

namespace {

core::secret key(char fill)
{
    return core::secret{std::string(jose::sealing_key_bytes, fill)};
}

jose::text_sealer sealer(std::vector<core::secret> keys)
{
    return jose::text_sealer{keys};
}

// Counts, so that each seal has another nonce and a test the same ones.
jose::text_sealer counting_sealer()
{
    const std::vector<core::secret> keys{key('k')};
    return jose::text_sealer{keys, [count = 0](std::span<unsigned char> bytes) mutable {
                                 std::ranges::fill(bytes, static_cast<unsigned char>(++count));
                             }};
}

}  // namespace

TEST_CASE("a text opens for the purpose that it was sealed for, and for no other")
{
    const auto seals = sealer({key('k')});
    const auto sealed = seals.seal("plain", purpose{"a", "bc"});
    REQUIRE(sealed);
    CHECK(seals.open(*sealed, purpose{"a", "bc"})->view() == "plain");
    for (const auto& other : std::vector<purpose>{{}, {"a"}, {"ab", "c"}, {"abc"}, {"a", "bc", ""}, {"a", "bd"}}) {
        CHECK(!seals.open(*sealed, other));
    }
}

TEST_CASE("a sealed text is base64url, and another one each time")
{
    const auto seals = sealer({key('k')});
    std::set<std::string> all;
    for (int i = 0; i < 100; ++i) {
        all.insert(*seals.seal("plain", {}));
    }
    CHECK(all.size() == 100);
    CHECK(
        all.begin()->find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") ==
        std::string::npos
    );
    CHECK(all.begin()->find("plain") == std::string::npos);
}

TEST_CASE("the longest text fits into 512 characters, and one byte more is refused")
{
    const auto seals = sealer({key('k')});
    const std::string longest(jose::longest_unsealed, 'x');
    const auto sealed = seals.seal(longest, {});
    REQUIRE(sealed);
    CHECK(sealed->size() == jose::longest_sealed);
    CHECK(seals.open(*sealed, {})->view() == longest);
    CHECK(seals.open(*seals.seal("", {}), {})->view().empty());
    CHECK(!seals.seal(longest + "x", {}));
    CHECK(!seals.open(*sealed + "A", {}));
    CHECK(!seals.open(*sealed + "AAAA", {}));
}

TEST_CASE("no bit of a sealed text can be changed, and none of its bytes left out or added")
{
    const auto seals = counting_sealer();
    const auto sealed = *seals.seal("plain text", purpose{"p"});
    const auto bytes = *core::from_base64url(sealed);
    for (std::size_t i = 0; i < bytes.size() * 8; ++i) {
        auto changed = bytes;
        changed[i / 8] = static_cast<char>(changed[i / 8] ^ (1 << (i % 8)));
        CHECK(!seals.open(core::base64url(changed), purpose{"p"}));
    }
    for (std::size_t size = 0; size < sealed.size(); ++size) {
        CHECK(!seals.open(sealed.substr(0, size), purpose{"p"}));
        CHECK(!seals.open(sealed.substr(size + 1), purpose{"p"}));
    }
    for (const auto* const more : {"=", "A", " ", "\n"}) {
        CHECK(!seals.open(sealed + more, purpose{"p"}));
    }
}

TEST_CASE("the first key seals and all of them open")
{
    const auto old = sealer({key('a')});
    const auto rotated = sealer({key('b'), key('a')});
    const auto other = sealer({key('c')});
    const auto before = *old.seal("x", {});
    CHECK(rotated.open(before, {})->view() == "x");
    const auto after = *rotated.seal("y", {});
    CHECK(!old.open(after, {}));
    CHECK(sealer({key('b')}).open(after, {})->view() == "y");
    CHECK(!other.open(before, {}));
    std::vector<core::secret> eight;
    for (char c = '1'; c <= '8'; ++c) {
        eight.push_back(key(c));
    }
    CHECK(sealer(eight).open(*sealer({key('8')}).seal("z", {}), {})->view() == "z");
}

TEST_CASE("a sealer has 1 to 8 keys of 32 bytes")
{
    CHECK_THROWS_AS(sealer({}), std::invalid_argument);
    CHECK_THROWS_AS(sealer(std::vector(9, key('k'))), std::invalid_argument);
    CHECK_THROWS_AS(sealer({core::secret{"short"}}), std::invalid_argument);
}

TEST_CASE("a key is 64 hexadecimal digits or 32 bytes in base64 of either alphabet")
{
    std::string bytes;
    for (int i = 0; i < 32; ++i) {
        bytes += static_cast<char>(0xFF - i);
    }
    const std::string hex = "fffefdfcfbfaf9f8f7f6f5f4f3f2f1f0EFEEEDECEBEAE9E8E7E6E5E4E3E2E1E0";
    const auto base64 = core::base64(bytes);
    const auto base64url = core::base64url(bytes);
    REQUIRE(base64 != base64url);
    for (const auto& text : {hex, base64, base64url, base64.substr(0, 43)}) {
        CAPTURE(text);
        const auto read = jose::sealing_key(text);
        REQUIRE(read);
        CHECK(read->reveal() == bytes);
    }
    for (const auto& text :
         {std::string{},
          hex.substr(1),
          hex + "0",
          std::string(64, 'g'),
          base64.substr(1),
          base64 + "=",
          core::base64(bytes.substr(1)),
          core::base64(bytes + "x"),
          base64url.substr(0, 42) + "!"}) {
        CAPTURE(text);
        CHECK(!jose::sealing_key(text));
    }
}

TEST_CASE("a long text opens for its purpose alone, with any of the keys, and not when it was changed")
{
    const std::string plain(5000, 'x');
    const auto sealed = sealer({key('a')}).seal_long(plain, purpose{"p"});
    CHECK(sealed.size() == (5000 + 29) * 4 / 3 + 1);
    CHECK(sealer({key('b'), key('a')}).open_long(sealed, purpose{"p"}) == plain);
    CHECK_FALSE(sealer({key('b')}).open_long(sealed, purpose{"p"}).has_value());
    CHECK_FALSE(sealer({key('a')}).open_long(sealed, purpose{"q"}).has_value());
    auto changed = sealed;
    changed[changed.size() / 2] = changed[changed.size() / 2] == 'A' ? 'B' : 'A';
    CHECK_FALSE(sealer({key('a')}).open_long(changed, purpose{"p"}).has_value());
    CHECK_FALSE(sealer({key('a')}).open_long("", purpose{"p"}).has_value());
    CHECK_FALSE(sealer({key('a')}).open_long("AAAA", purpose{"p"}).has_value());
    CHECK_FALSE(sealer({key('a')}).open_long("not base64url!", purpose{"p"}).has_value());
}

TEST_CASE("a short text that was sealed as a long one opens as either, also an empty one")
{
    const auto seals = sealer({key('k')});
    for (const std::string plain : {"", "plain"}) {
        const auto sealed = seals.seal_long(plain, purpose{"p"});
        CHECK(seals.open(sealed, purpose{"p"})->view() == plain);
        CHECK(seals.open_long(*seals.seal(plain, purpose{"p"}), purpose{"p"}) == plain);
    }
}

TEST_CASE("Equal texts for one purpose are sealed equally with one key, and open as any other")
{
    const auto seals = sealer({key('k'), key('j')});
    const auto sealed = seals.seal_equally("plain", purpose{"p"});
    CHECK(sealed == seals.seal_equally("plain", purpose{"p"}));
    CHECK(sealed == sealer({key('k')}).seal_equally("plain", purpose{"p"}));
    CHECK(seals.open_long(sealed, purpose{"p"}) == "plain");
    CHECK(seals.open(sealed, purpose{"p"})->view() == "plain");
    CHECK(seals.open_long(sealer({key('j')}).seal_equally("plain", purpose{"p"}), purpose{"p"}) == "plain");
    CHECK_FALSE(seals.open_long(sealed, purpose{"q"}).has_value());
    CHECK(seals.open_long(seals.seal_equally("", purpose{"p"}), purpose{"p"}) == "");
    // No two of these have a nonce in common: it stands behind the mark of the key.
    std::set<std::string> nonces;
    for (const auto& each :
         {sealed,
          seals.seal_equally("plain2", purpose{"p"}),
          seals.seal_equally("plain", purpose{"q"}),
          seals.seal_equally("plain", purpose{"p", ""}),
          seals.seal_equally("plai", purpose{"p", "n"}),
          sealer({key('j')}).seal_equally("plain", purpose{"p"}),
          *seals.seal("plain", purpose{"p"})}) {
        nonces.insert(core::from_base64url(each)->substr(1, 12));
    }
    CHECK(nonces.size() == 7);
}

TEST_SUITE_END();
