#!/usr/bin/env python3
"""Workloads of bench/run.py in PyTorch. Prints `name seconds` lines.

    torch_peer.py [--threads 1] [--only resnet50_b1]
"""

import pathlib
import sys

import torch
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from models import STAGES  # noqa: E402: its folder is on the path only now
from timing import asked, seconds  # noqa: E402

options = asked(__doc__)
torch.set_num_threads(options.threads)
torch.set_flush_denormal(True)


def convolution(channels, out, window, stride):
    return nn.Sequential(nn.Conv2d(channels, out, window, stride, window // 2, bias=False), nn.BatchNorm2d(out))


class Block(nn.Module):
    """Three convolutions and a shortcut."""

    def __init__(self, channels, width, stride, first):
        super().__init__()
        self.narrow = convolution(channels, width, 1, stride)
        self.middle = convolution(width, width, 3, 1)
        self.wide = convolution(width, 4 * width, 1, 1)
        self.shortcut = convolution(channels, 4 * width, 1, stride) if first else nn.Identity()

    def forward(self, x):
        inner = torch.relu(self.middle(torch.relu(self.narrow(x))))
        return torch.relu(self.wide(inner) + self.shortcut(x))


def resnet50():
    """The frozen graph, its batch norms folded by PyTorch's passes."""
    layers, channels = [convolution(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1)], 64
    for width, blocks, stride in STAGES:
        for block in range(blocks):
            layers.append(Block(channels, width, stride if block == 0 else 1, block == 0))
            channels = 4 * width
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000), nn.Softmax(1)).eval()
    image = torch.rand(1, 3, 224, 224) * 2 - 1
    with torch.no_grad():
        frozen = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.trace(model, image)))
        return seconds(lambda: frozen(image), budget=3.0)


def adam():
    """A step of PyTorch's fused Adam on ten million parameters."""
    parameters = torch.rand(10_000_000, requires_grad=True)
    parameters.grad = torch.rand(10_000_000)
    return seconds(torch.optim.Adam([parameters], fused=True).step)


class Lstm(nn.Module):
    """Rows of images, of which the last output is classified."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(28, 128, batch_first=True)
        self.classes = nn.Linear(128, 10)

    def forward(self, x):
        return self.classes(self.lstm(x)[0][:, -1])


def lstm_step():
    """A training step with fused Adam."""
    model = Lstm()
    optimizer = torch.optim.Adam(model.parameters(), fused=True)
    x, labels = torch.rand(32, 28, 28) * 2 - 1, torch.arange(32) % 10

    def step():
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()

    return seconds(step)


WORKLOADS = {"adam_10m": adam, "resnet50_b1": resnet50, "traced_lstm_step": lstm_step, "keras_lstm_step": lstm_step}
for name, run in WORKLOADS.items():
    if not options.only or name in options.only.split(","):
        print(name, run(), flush=True)
