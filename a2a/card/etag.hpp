#pragma once

#include "a2a/card/card.hpp"
