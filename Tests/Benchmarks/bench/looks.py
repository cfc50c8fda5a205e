"""How alike two pictures look, and what a look costs in bytes."""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence

import numpy
from PIL import Image

_SIGMA, _RADIUS = 1.5, 5
"""The window of SSIM: 11 × 11, Gaussian (Wang et al., Image Quality Assessment: From Error Visibility to Structural Similarity, 2004)."""
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def ssim(one: Image.Image, other: Image.Image) -> float:
    """The structural similarity of the light of two pictures of one size, at most 1: the mean over all whole windows."""
    x, y = (numpy.asarray(image.convert("L"), dtype=numpy.float64) for image in (one, other))
    mean_x, mean_y = _blurred(x), _blurred(y)
    deviation_x, deviation_y = _blurred(x * x) - mean_x**2, _blurred(y * y) - mean_y**2
    together = _blurred(x * y) - mean_x * mean_y
    light = (2 * mean_x * mean_y + _C1) / (mean_x**2 + mean_y**2 + _C1)
    structure = (2 * together + _C2) / (deviation_x + deviation_y + _C2)
    return float((light * structure).mean())


def _blurred(samples: Any) -> Any:
    weights = numpy.exp(-(numpy.arange(-_RADIUS, _RADIUS + 1) ** 2) / (2 * _SIGMA**2))
    weights /= weights.sum()
    for axis in (0, 1):
        count = samples.shape[axis] - 2 * _RADIUS
        samples = sum(weight * samples.take(range(at, at + count), axis) for at, weight in enumerate(weights))
    return samples


class Curve:
    """What one encoder makes of one picture at several numbers for the quality."""

    def __init__(self, points: Sequence[tuple[int, float, int]]) -> None:
        """``points`` are numbers, with SSIM and bytes."""
        self._points = sorted((-math.log(1 - similarity), number, math.log(count)) for number, similarity, count in points)

    def number_at(self, similarity: float) -> Optional[float]:
        """The number that gives a similarity; None outside of what was measured."""
        return self._at(similarity, 1)

    def bytes_at(self, similarity: float) -> Optional[float]:
        """The bytes that a similarity takes; None outside of what was measured."""
        found = self._at(similarity, 2)
        return None if found is None else math.exp(found)

    def _at(self, similarity: float, column: int) -> Optional[float]:
        look = -math.log(1 - similarity)
        for low, high in zip(self._points, self._points[1:]):
            if low[0] <= look <= high[0]:
                part = (look - low[0]) / max(high[0] - low[0], 1e-12)
                return low[column] + part * (high[column] - low[column])
        return None


def together(pictures: Sequence[Sequence[tuple[int, float, int]]]) -> list[tuple[int, float, int]]:
    """The points of several pictures as those of one: at each number the geometric means of bytes and of what SSIM lacks to 1."""
    found = []
    for points in zip(*pictures):
        lacking = math.exp(sum(math.log(1 - similarity) for _, similarity, _ in points) / len(points))
        count = math.exp(sum(math.log(count) for _, _, count in points) / len(points))
        found.append((points[0][0], 1 - lacking, round(count)))
    return found


def ratio(ours: Sequence[float], theirs: Sequence[Optional[float]]) -> Optional[float]:
    """The geometric mean of ours ÷ theirs, over those that are known, if that is at least half."""
    known = [math.log(one / other) for one, other in zip(ours, theirs) if other]
    return math.exp(sum(known) / len(known)) if known and 2 * len(known) >= len(ours) else None
