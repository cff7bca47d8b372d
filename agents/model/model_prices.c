/* SPDX-License-Identifier: Apache-2.0 */
#include "agents/model/model.h"

/* From the providers' public lists of 2025-11, to be checked against today's: a configured price
 * wins, and a model that is not here costs "not known". */
const struct hone_model_price hone_model_prices[] = {
    {"anthropic", "claude-haiku-4-5", 1, 5, 0.1, 1.25},
    {"anthropic", "claude-opus-4-1", 15, 75, 1.5, 18.75},
    {"anthropic", "claude-opus-4-5", 5, 25, 0.5, 6.25},
    {"anthropic", "claude-sonnet-4-5", 3, 15, 0.3, 3.75},
    {"openai", "gpt-4.1", 2, 8, 0.5, 2},
    {"openai", "gpt-4.1-mini", 0.4, 1.6, 0.1, 0.4},
    {"openai", "gpt-4o", 2.5, 10, 1.25, 2.5},
    {"openai", "gpt-4o-mini", 0.15, 0.6, 0.075, 0.15},
    {"openai", "gpt-5", 1.25, 10, 0.125, 1.25},
    {"openai", "gpt-5-mini", 0.25, 2, 0.025, 0.25},
    {"openai", "gpt-5-nano", 0.05, 0.4, 0.005, 0.05},
    {"openai", "o3", 2, 8, 0.5, 2},
    {"openai", "o4-mini", 1.1, 4.4, 0.275, 1.1},
};
const size_t hone_model_n_prices = HONE_COUNTOF(hone_model_prices);
