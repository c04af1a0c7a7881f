"""Training of the policy: double, dueling Q-learning, returns of several steps, prioritised replay, several actors.

The actors take turns in one process; each has its own share of random actions, as if they ran apart. What a tree is
worth comes from any value function: an estimate, so that hours become minutes, or measurements.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from time import monotonic
from typing import TYPE_CHECKING

from codegen.record import record
from codegen.tune.actions import ACTION_SETS, LANES
from codegen.tune.contraction import Contraction
from codegen.tune.learn.demos import ROOM, Demo, demo, ways
from codegen.tune.learn.estimate import Value
from codegen.tune.learn.network import NeuralNetwork
from codegen.tune.learn.policy import STEPS, moves, sight
from codegen.tune.learn.replay import Replay
from codegen.tune.learn.torch import Dueling, optimizer
from codegen.tune.tree import Tree, key, start

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

@record
class TrainingSettings:
    """Defaults are small enough for two cores and an hour."""

    hidden: tuple[int, ...] = (128, 128)
    actors: int = 16
    steps: int = 400_000  # of all actors together
    seconds: float = 3600.0
    gamma: float = 0.95
    returns: int = 3
    rate: float = 3e-4
    batch: int = 64
    every: int = 4  # steps for each update
    capacity: int = 1 << 17
    first: int = 5_000  # steps before the first update
    sync: int = 1_000  # updates between copies to the target network
    seed: int = 1
    demos: int = 120  # products of which a good way is shown first
    version: str = "v1"
    lanes: int = LANES
    room: int = ROOM  # elements in the registers


def exploration(actor: int, actors: int) -> float:
    """The share of random actions of one of several actors: 0.4^(1 + 7 i / (N - 1))."""
    return float(0.4 ** (1 + 7 * actor / max(1, actors - 1)))


def train(
    problems: Sequence[Contraction], value: Value, settings: TrainingSettings, say: Callable[[str], None],
    about: str = "",
    older: NeuralNetwork | None = None,
) -> NeuralNetwork:  # fmt: skip
    """A network whose greedy policy tunes trees of `problems`, which are taken in turn; `older` is where it begins."""
    import numpy as np

    random, begun = np.random.default_rng(settings.seed), monotonic()
    actions = ACTION_SETS[settings.version]
    width = len(sight(start(problems[0]), settings.version))
    replay = Replay(settings.capacity, width, len(actions))
    learner = Dueling(width, settings.hidden, len(actions), settings.seed, older)
    adam = optimizer(learner, settings.rate)
    worth = _Memory(value)
    lessons = _Lessons(problems, worth, settings, random)
    team = [_Actor(exploration(n, settings.actors), settings) for n in range(settings.actors)]
    taken, updates, gains, spoken = 0, 0, deque[float](maxlen=500), monotonic()
    order = random.permutation(len(problems))
    episode = 0
    while taken < settings.steps and monotonic() - begun < settings.seconds:
        for actor in team:
            if actor.finished:
                if actor.path:
                    gains.append(actor.values[-1] - actor.values[0])
                    actor.record(replay)
                first = start(problems[order[episode % len(order)]])
                actor.begin(first, worth([first])[0])
                episode += 1
        q = learner.network()(np.stack([a.sights[-1] for a in team]))
        for actor, row in zip(team, q, strict=True):
            actor.step(row, random)
        for actor, share in zip(team, worth([a.path[-1] for a in team]), strict=True):
            actor.values.append(share)
        taken += len(team)
        if taken >= settings.first:
            for _ in range(max(1, len(team) // settings.every)):
                lessons.show(replay, updates)
                batch = replay.draw(settings.batch, random)
                replay.surprise(batch.places, adam(batch))
                updates += 1
                if updates % settings.sync == 0:
                    learner.sync()
        if monotonic() - spoken > 10:
            spoken = monotonic()
            say(f"{taken} steps, {updates} updates, {len(worth.known)} trees, gain {np.mean(gains or [0]):.3f} of peak")
    return learner.network(about)


class _Memory:
    """Asks for the value of a nest once."""

    def __init__(self, value: Value) -> None:
        self.value = value
        self.known: dict[str, float] = {}

    def __call__(self, trees: Sequence[Tree]) -> list[float]:
        keys = [key(t) for t in trees]
        new = {k: t for k, t in zip(keys, trees, strict=True) if k not in self.known}
        if new:
            self.known.update(zip(new, self.value(list(new.values())), strict=True))
        return [self.known[k] for k in keys]


class _Actor:
    """One episode at a time: the trees, what was seen, chosen and gained."""

    def __init__(self, epsilon: float, settings: TrainingSettings) -> None:
        self.epsilon, self.settings = epsilon, settings
        self.actions = ACTION_SETS[settings.version]
        self.path: list[Tree] = []
        self.shown = False

    @property
    def finished(self) -> bool:
        return not self.path or len(self.chosen) >= STEPS or not any(self.reached)

    def begin(self, tree: Tree, value: float) -> None:
        self.path, self.values, self.chosen = [tree], [value], list[int]()
        self.sights = [sight(tree, self.settings.version)]
        self.legal: list[tuple[bool, ...]] = []
        self._look()

    def _look(self) -> None:
        self.reached = moves(self.path[-1], self.actions, self.settings.lanes)
        self.legal.append(tuple(r is not None for r in self.reached))

    def step(self, q: NDArray[numpy.float32], random: numpy.random.Generator) -> None:
        import numpy as np

        mask = np.array(self.legal[-1])
        free = random.random() < self.epsilon
        best = int(random.choice(np.flatnonzero(mask))) if free else int(np.argmax(np.where(mask, q, -np.inf)))
        made = self.reached[best]
        assert made is not None
        self.chosen.append(best)
        self.path.append(made)
        self.sights.append(sight(made, self.settings.version))
        self._look()

    def record(self, replay: Replay) -> None:
        """Sums of the gains of up to `returns` steps. An episode ends because time is up, not because all is done."""
        gamma, length = self.settings.gamma, len(self.chosen)
        for at in range(length):
            end = min(at + self.settings.returns, length)
            gain = sum(gamma ** (n - at) * (self.values[n + 1] - self.values[n]) for n in range(at, end))
            rest = 0.0 if end == length else gamma ** (end - at)
            begin, last = (self.sights[at], self.chosen[at]), (self.sights[end], self.legal[end])
            replay.add(begin, gain, last, rest, self.shown)

    def repeat(self, lesson: Demo, values: Sequence[float]) -> None:
        """An episode that was shown."""
        self.begin(lesson.path[0], values[0])
        self.shown = True
        for action, tree, value in zip(lesson.chosen, lesson.path[1:], values[1:], strict=True):
            self.chosen.append(action)
            self.path.append(tree)
            self.sights.append(sight(tree, self.settings.version))
            self._look()
            self.values.append(value)


class _Lessons:
    """Good ways, found with the value function, which are shown before the first update and again now and then."""

    def __init__(
        self, problems: Sequence[Contraction], worth: _Memory, settings: TrainingSettings,
        random: numpy.random.Generator
    ) -> None:
        self.episodes: list[_Actor] = []
        every = list(ways(settings.version, settings.room))
        count = min(settings.demos, len(problems))
        for n in random.choice(len(problems), count, replace=False):
            found = [d for way in every if (d := demo(problems[n], way, settings.version, settings.lanes)) is not None]
            if not found:
                continue
            ends = worth([d.path[-1] for d in found])
            best = max(range(len(found)), key=lambda k: ends[k])
            actor = _Actor(0.0, settings)
            actor.repeat(found[best], worth(found[best].path))
            self.episodes.append(actor)
        self.again = settings.capacity // (2 * STEPS)

    def show(self, replay: Replay, updates: int) -> None:
        if updates % self.again == 0:
            for actor in self.episodes:
                actor.record(replay)
