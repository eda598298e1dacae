// An index of texts in memory that ranks by BM25: SQLite's FTS5, with the porter stemmer. One thread at a time.
#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace store {

class sqlite_connection;

// Spellings of one thing that is looked for: a document has it if it has any of them.
using sought_thing = std::vector<std::string>;

class text_index {
public:
    static constexpr std::size_t most_texts = 16;
    static constexpr std::size_t most_things = 64;  // of one question; the rest is not looked for

    // Each document has so many texts, at most most_texts; a word counts as much as the weight of the text that it is in. Fails with
    // store_failed.
    static core::result<std::unique_ptr<text_index>> make(std::span<const double> weights);

    ~text_index();
    text_index(const text_index&) = delete;
    text_index& operator=(const text_index&) = delete;

    // Adds a document by a number that no other one has. Its texts are in the order of the weights; missing ones are empty. They are not
    // kept.
    core::result<> add(std::int64_t number, std::span<const std::string> texts);

    // Makes the index small and quick, once every document has been added.
    core::result<> finish();

    // Passes the documents that have one of the things at least to `take`, the best first; equal ones by number. It returns false when it
    // has enough. The rank is BM25 with the length of each text for itself, times the root of the share of the things that the document has.
    // No word is read as syntax. Time grows with the number of documents that have each word.
    core::result<> find(std::span<const sought_thing> things, const std::function<bool(std::int64_t)>& take) const;

    // The memory of the index, about.
    std::size_t bytes() const;

private:
    struct ranking;

    text_index(std::unique_ptr<sqlite_connection> db, std::span<const double> weights);

    core::result<> set_up();

    std::unique_ptr<ranking> ranking_;       // of the question under way
    std::unique_ptr<sqlite_connection> db_;  // its statements change with each question; it uses the ranking
    std::string insert_;
};

}  // namespace store
