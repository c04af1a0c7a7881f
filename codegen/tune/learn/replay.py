"""The replay buffer of the training: keeps transitions of past episodes, and draws them the more often the more they
surprised (proportional prioritised replay)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Array = NDArray[numpy.float32]

ALPHA = 0.6  # how much surprise counts
BETA = 0.4  # how much of the resulting bias is taken out again
EPSILON = 1e-6


class Batch(NamedTuple):
    """`discount` is gamma to the number of steps, and 0 where the episode ended; `weights` undo the uneven drawing."""

    places: NDArray[numpy.int64]
    states: Array
    actions: NDArray[numpy.int64]
    rewards: Array
    next_states: Array
    next_legal: NDArray[numpy.bool_]
    discount: Array
    shown: NDArray[numpy.bool_]  # by a demonstration, not by chance
    weights: Array


class Replay:
    """A ring of `capacity` transitions. A sum tree finds the transition under a drawn number in logarithmic time."""

    def __init__(self, capacity: int, width: int, actions: int) -> None:
        import numpy as np

        self.capacity = 1 << (capacity - 1).bit_length()
        self.states = np.zeros((self.capacity, width), np.float32)
        self.next_states = np.zeros((self.capacity, width), np.float32)
        self.next_legal = np.zeros((self.capacity, actions), np.bool_)
        self.actions = np.zeros(self.capacity, np.int64)
        self.rewards = np.zeros(self.capacity, np.float32)
        self.discount = np.zeros(self.capacity, np.float32)
        self.shown = np.zeros(self.capacity, np.bool_)
        self.sums = np.zeros(2 * self.capacity, np.float64)
        self.count = 0
        self._most = 1.0  # now and then brought up to date

    def __len__(self) -> int:
        return min(self.count, self.capacity)

    def add(self, begin: tuple[Array, int], reward: float, end: tuple[Array, tuple[bool, ...]],
            discount: float, shown: bool = False) -> None:  # fmt: skip
        """A transition: the state it begins in and the action taken there; the state it ends in and the actions that
        are legal there. New ones count as the most surprising one so far, so that each is seen."""
        (state, action), (next_state, next_legal) = begin, end
        import numpy as np

        at = self.count % self.capacity
        self.states[at], self.next_states[at], self.next_legal[at] = state, next_state, next_legal
        self.actions[at], self.rewards[at], self.discount[at], self.shown[at] = action, reward, discount, shown
        self.count += 1
        if self.count % 256 == 0:
            self._most = float(self.sums[self.capacity :].max())
        self._put(np.array([at]), np.array([self._most]))

    def draw(self, size: int, random: numpy.random.Generator) -> Batch:
        import numpy as np

        total = self.sums[1]
        wanted = (np.arange(size) + random.random(size)) * (total / size)
        at = np.ones(size, np.int64)
        while at[0] < self.capacity:
            left = self.sums[2 * at]
            right = wanted >= left
            wanted = np.where(right, wanted - left, wanted)
            at = 2 * at + right
        places = np.minimum(at - self.capacity, len(self) - 1)
        share = np.maximum(self.sums[places + self.capacity] / total, 1e-12)
        weights = (len(self) * share) ** -BETA
        return Batch(
            places,
            self.states[places],
            self.actions[places],
            self.rewards[places],
            self.next_states[places],
            self.next_legal[places],
            self.discount[places],
            self.shown[places],
            (weights / weights.max()).astype(np.float32),
        )

    def surprise(self, places: NDArray[numpy.int64], errors: Array) -> None:
        """What the last batch's transitions turned out to be worth a second look."""
        import numpy as np

        self._put(places, (np.abs(errors).astype(np.float64) + EPSILON) ** ALPHA)

    def _put(self, places: NDArray[numpy.int64], values: NDArray[numpy.float64]) -> None:
        at = places + self.capacity
        self.sums[at] = values
        while at[0] > 1:  # all are equally deep; the same sum may be made twice
            at = at // 2
            self.sums[at] = self.sums[2 * at] + self.sums[2 * at + 1]
