"""Trains networks with PyTorch: updates of the dueling Q-network from batches of transitions (`Dueling`, `optimizer`),
and a least-squares fit of the estimate (`regress`). Results are NumPy networks (`network.py`); only this file imports
PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import TYPE_CHECKING

from codegen.record import record
from codegen.tune.learn.network import Layer, NeuralNetwork
from codegen.tune.learn.replay import Batch

try:
    import torch
    from torch import nn
except ImportError as error:  # pragma: no cover
    raise ImportError("training needs PyTorch: pip install 'tilewright[train]'") from error

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    Array = NDArray[numpy.float32]


torch.set_num_threads(1)  # the networks are small: more threads only wait for each other


class _Net(nn.Module):
    """The layers of a Network."""

    def __init__(self, width: int, hidden: Sequence[int], heads: Sequence[int]) -> None:
        super().__init__()
        sizes = (width, *hidden)
        self.trunk = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, hidden, strict=False))
        self.heads = nn.ModuleList(nn.Linear(sizes[-1], n) for n in heads)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.trunk:
            x = torch.relu(layer(x))
        if len(self.heads) == 1:
            return torch.as_tensor(self.heads[0](x))
        value, advantage = (head(x) for head in self.heads)
        return torch.as_tensor(value + advantage - advantage.mean(-1, keepdim=True))


def _network(net: _Net, about: str) -> NeuralNetwork:
    def layers(part: nn.ModuleList) -> tuple[Layer, ...]:
        pairs = ((x.weight.detach().numpy(), x.bias.detach().numpy()) for x in part)
        return tuple(Layer(w.T.copy(), b.copy()) for w, b in pairs)

    return NeuralNetwork(layers(net.trunk), layers(net.heads), about)


def _put(net: _Net, network: NeuralNetwork) -> None:
    """The weights of a network that was trained before."""
    with torch.no_grad():
        for to, layer in zip((*net.trunk, *net.heads), (*network.trunk, *network.heads), strict=True):
            to.weight.copy_(torch.from_numpy(layer.weights.T.copy()))
            to.bias.copy_(torch.from_numpy(layer.bias))


class Dueling:
    """The network that learns, and the older copy of it that judges what follows a step."""

    def __init__(
        self, width: int, hidden: Sequence[int], actions: int, seed: int, first: NeuralNetwork | None = None
    ) -> None:
        torch.manual_seed(seed)
        self.net = _Net(width, hidden, (1, actions))
        if first is not None:
            _put(self.net, first)
        self.target = deepcopy(self.net)

    def network(self, about: str = "") -> NeuralNetwork:
        return _network(self.net, about)

    def sync(self) -> None:
        self.target.load_state_dict(self.net.state_dict())


MARGIN = 0.05  # of peak: by so much what was shown should look better than anything else


def _margin(values: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    """How far an action that was shown is from being the best by a margin."""
    others = (values + MARGIN).scatter(1, actions, values.gather(1, actions))
    return torch.as_tensor(others.max(1).values - values.gather(1, actions)[:, 0])


def optimizer(learner: Dueling, rate: float) -> Callable[[Batch], Array]:
    """One update from a batch; gives the error of each transition."""
    adam = torch.optim.Adam(learner.net.parameters(), lr=rate)

    def update(batch: Batch) -> Array:
        states, after = torch.from_numpy(batch.states), torch.from_numpy(batch.next_states)
        actions = torch.from_numpy(batch.actions)[:, None]
        with torch.no_grad():
            choice = learner.net(after).masked_fill(~torch.from_numpy(batch.next_legal), -torch.inf).argmax(1, True)
            follow = learner.target(after).gather(1, choice)[:, 0]
            wanted = torch.from_numpy(batch.rewards) + torch.from_numpy(batch.discount) * follow
        values = learner.net(states)
        errors = values.gather(1, actions)[:, 0] - wanted
        margin = _margin(values, actions) * torch.from_numpy(batch.shown)
        loss = (torch.from_numpy(batch.weights) * nn.functional.huber_loss(
            errors, torch.zeros_like(errors), reduction="none"
        )).mean() + margin.mean()
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(learner.net.parameters(), 10.0)
        adam.step()
        found: Array = errors.detach().numpy()
        return found

    return update


@record
class Training:
    """How often all samples are seen, the largest learning rate, and where random numbers begin."""

    epochs: int
    rate: float
    seed: int


def regress(inputs: Array, wanted: Array, hidden: Sequence[int], how: Training, about: str) -> NeuralNetwork:
    """A network with one output that comes near `wanted`, least squares."""
    epochs, rate, seed = how.epochs, how.rate, how.seed
    torch.manual_seed(seed)
    net = _Net(inputs.shape[1], hidden, (1,))
    adam = torch.optim.AdamW(net.parameters(), lr=rate, weight_decay=1e-4)
    x, y = torch.from_numpy(inputs), torch.from_numpy(wanted)
    size = 128
    fall = torch.optim.lr_scheduler.OneCycleLR(adam, rate, total_steps=epochs * -(-len(x) // size))
    for _ in range(epochs):
        for part in torch.randperm(len(x)).split(size):
            loss = ((net(x[part])[:, 0] - y[part]) ** 2).mean()
            adam.zero_grad()
            loss.backward()
            adam.step()
            fall.step()
    return _network(net, about)
