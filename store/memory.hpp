// A store that ends with the process.
#pragma once

#include "core/secret.hpp"
#include "store/engine.hpp"

#include <memory>
#include <vector>

namespace store {

std::unique_ptr<engine> make_memory();

// What a process passes to the one that takes its place. Cards and tasks are not in a store that ends with the process.
struct memory_contents {
    std::vector<record> records;
    std::vector<change> trail;
    std::vector<kept_delivery> deliveries;
    std::vector<kept_document> documents;
    core::secret key;  // of sessions; may be empty
};

// Of an engine of any kind. Fails as its functions do.
core::result<memory_contents> contents_of(engine& from);

// Goes on as the store did that these are of: no version is given twice.
std::unique_ptr<engine> make_memory(memory_contents contents);

}  // namespace store
