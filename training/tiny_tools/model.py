"""The network: a llama (RMS norm, rotary positions, gated feed-forward, tied embeddings), two things apart.

Only the first few pairs of every head rotate, at frequencies of their own, and training starts from a hand-made copy
mechanism (copying_start.py).

Shapes: B conversations, T tokens, W width, H heads of size W / H, V vocabulary.
"""
import math

import torch
import torch.nn as nn
import torch.nn.functional as functional

from tiny_tools.copying_start import copying_start

# Radians a position for the first pairs of every head; the others are not rotated (exported as rope_freqs).
FREQUENCIES = [1.0, 0.5, 0.25, 0.1, 0.04, 0.015]
NORM_EPSILON = 1e-5


class Norm(nn.Module):
    """Divides by the root of the mean square, over the last dimension."""

    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + NORM_EPSILON) * self.weight


def linear(inputs, outputs):
    return nn.Linear(inputs, outputs, bias=False)


def rotate(x, cos, sin):
    """Rotates neighbouring pairs, as llama.cpp's llama architecture expects. x: B H T size; cos, sin: T pairs."""
    rotated = 2 * cos.shape[1]
    even, odd = x[..., 0:rotated:2], x[..., 1:rotated:2]
    turned = torch.stack((even * cos - odd * sin, even * sin + odd * cos), -1).flatten(-2)
    return torch.cat((turned, x[..., rotated:]), -1)


class Block(nn.Module):
    """Attention and feed-forward, each behind a norm and added to what came in. `hidden`: width of the feed-forward."""

    def __init__(self, width, heads, hidden):
        super().__init__()
        self.heads = heads
        self.attention_norm, self.feed_norm = Norm(width), Norm(width)
        self.query, self.key = linear(width, width), linear(width, width)
        self.value, self.output = linear(width, width), linear(width, width)
        self.gate, self.up, self.down = linear(width, hidden), linear(width, hidden), linear(hidden, width)

    def forward(self, x, mask, cos, sin):
        """x: B T W; mask: T T, minus infinity where nothing may be seen."""
        x = x + self.attention(self.attention_norm(x), mask, cos, sin)
        h = self.feed_norm(x)
        return x + self.down(functional.silu(self.gate(h)) * self.up(h))

    def attention(self, h, mask, cos, sin):
        b, t, width = h.shape
        size = width // self.heads

        def split(y):  # B T W -> B H T size
            return y.view(b, t, self.heads, size).transpose(1, 2)
        query, key = (rotate(split(y), cos, sin).reshape(-1, t, size) for y in (self.query(h), self.key(h)))
        value = split(self.value(h)).reshape(-1, t, size)
        scores = torch.baddbmm(mask.expand(b * self.heads, t, t), query, key.transpose(1, 2), alpha=1 / math.sqrt(size))
        seen = torch.bmm(scores.softmax(-1), value)
        return self.output(seen.view(b, self.heads, t, size).transpose(1, 2).reshape(b, t, width))


class Model(nn.Module):
    """`context`: the most tokens of a conversation. Width is a multiple of 64, heads = width / 32."""

    def __init__(self, width, layers, heads, hidden, vocab, context):
        super().__init__()
        self.config = dict(width=width, layers=layers, heads=heads, hidden=hidden, vocab=vocab, context=context)
        self.embedding = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList([Block(width, heads, hidden) for _ in range(layers)])
        self.norm = Norm(width)
        self.start()
        angle = torch.outer(torch.arange(context).float(), torch.tensor(FREQUENCIES))
        mask = torch.full((context, context), float('-inf')).triu(1)
        for name, tensor in (('cos', angle.cos()), ('sin', angle.sin()), ('mask', mask)):
            self.register_buffer(name, tensor, persistent=False)

    def start(self):
        """The weights before training."""
        for parameter in self.parameters():
            if parameter.dim() > 1:
                is_embedding = parameter.shape[0] == self.config['vocab']
                nn.init.normal_(parameter, 0, 0.05 if is_embedding else .5 / math.sqrt(parameter.shape[1]))
        for block in self.blocks:
            nn.init.normal_(block.output.weight, 0, 0.01)
            nn.init.zeros_(block.down.weight)
        copying_start(self, FREQUENCIES)

    def forward(self, tokens, at=None):
        """Logits, B T V. `at`: only at these positions of the flattened B * T, which saves most of the last step's work."""
        t = tokens.shape[1]
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.mask[:t, :t], self.cos[:t], self.sin[:t])
        x = self.norm(x)
        if at is not None:
            x = x.reshape(-1, x.shape[-1])[at]
        return x @ self.embedding.weight.t()
