// Judges a history as one of registers, by the search of Wing and Gong with Lowe's memory of what has been tried: for each key there must
// be an order of all that was acknowledged, refused or read fresh in which every answer is right, and in which nothing stands before
// something that had returned when it began. Versions are names of the texts that were there and nothing else; the trail is not looked at.
// What was asked for with unknown outcome may stand anywhere behind its beginning, or nowhere.
#pragma once

#include "tests/replicas/history.hpp"

namespace replicas {

// A problem for each key that has no such order.
verdict check_registers(const history& all);

}  // namespace replicas
