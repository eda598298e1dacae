#include "config/schema.hpp"

#include <iostream>

int main()
{
    std::cout << config::reference_markdown() << std::flush;
    return std::cout ? 0 : 1;
}
