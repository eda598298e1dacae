// An index of texts in memory that ranks by BM25: SQLite's FTS5, with the porter stemmer. One thread at a time.
#pragma once

#include "core/error.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

namespace store {

class sqlite_connection;

class text_index {
public:
    // Each document has so many texts; a word counts as much as the weight of the text that it stands in. Fails with store_failed.
    static core::result<std::unique_ptr<text_index>> make(std::span<const double> weights);

    ~text_index();
    text_index(const text_index&) = delete;
    text_index& operator=(const text_index&) = delete;

    // A document, by a number that no other one has. Its texts are in the order of the weights; one that is missing is empty. They are not
    // kept.
    core::result<> add(std::int64_t number, std::span<const std::string> texts);

    // Makes the index small and quick, once every document has been added.
    core::result<> finish();

    // The documents that have one of the words at least go to `take`, the best first; equal ones by number. It says false when it has
    // enough. No word is read as syntax. Time grows with the number of documents that have each word.
    core::result<> find(std::span<const std::string> words, const std::function<bool(std::int64_t)>& take) const;

    // The memory of the index.
    std::size_t bytes() const;

private:
    text_index(std::unique_ptr<sqlite_connection> db, std::span<const double> weights);

    std::unique_ptr<sqlite_connection> db_;  // its statements change with each question
    std::size_t texts_;
    std::string insert_;
    std::string select_;
};

}  // namespace store
