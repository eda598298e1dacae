#pragma once

#include "a2a/card/card_signature.hpp"
