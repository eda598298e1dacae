#pragma once

#include "a2a/card/card_interfaces.hpp"
