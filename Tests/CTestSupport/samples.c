#include "samples.h"

double hl_squared_differences(const uint8_t *one, const uint8_t *other, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        double difference = (double)one[i] - other[i];
        sum += difference * difference;
    }
    return sum;
}

void hl_blacken_clear(uint8_t *samples, size_t count) {
    for (size_t i = 3; i < count; i += 4)
        if (!samples[i]) samples[i - 3] = samples[i - 2] = samples[i - 1] = 0;
}
