/// Loops over samples that a debug build of Swift takes long for.
#ifndef HALCYON_SAMPLES_H
#define HALCYON_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/// The sum of the squares of the differences.
double hl_squared_differences(const uint8_t *one, const uint8_t *other, size_t count);
/// Makes the clear ones of RGBA pixels black.
void hl_blacken_clear(uint8_t *samples, size_t count);

#endif
