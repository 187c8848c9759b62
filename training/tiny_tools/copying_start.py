"""Weights that copy from the first step on, instead of waiting for that to form (the wait is most of a short run).

Embeddings use the lower half of the width and one constant dimension. Half of the heads of the first layer look one token
back and write what they see into the upper half. Half of those of the second layer look for the place where the token
before equals the present one, and bring the token that follows there. Half of those of the third layer look for the same
token. All of it is an ordinary starting point: every weight goes on learning.
"""
import math

import torch

EMBEDDING_SCALE = 0.08
LOOK_BACK = 2.9  # strength of the query and the key that find the token before
LOOK_BACK_PAIRS = 3  # how many rotary pairs it uses
FIND_FOLLOWER = 1.8
FIND_SAME = 1.3


@torch.no_grad()
def copying_start(model, frequencies, scale=EMBEDDING_SCALE):
    width, heads = model.config['width'], model.config['heads']
    half, size, rotated = width // 2, width // heads, 2 * len(frequencies)
    constant = half - 1  # the dimension that is the same for every token
    embedding = model.embedding.weight
    embedding.normal_(0, scale)
    embedding[:, half:] = 0
    embedding[:, constant] = 2 * scale
    first, second, third = model.blocks[0], model.blocks[1], model.blocks[2]
    for head in range(half // size):
        rows = slice(head * size, (head + 1) * size)
        for block in (first, second, third):
            block.query.weight[rows] = 0
            block.key.weight[rows] = 0
        for block in (first, second):
            block.value.weight[rows] = 0
            block.output.weight[:, rows] = 0
        for pair, frequency in enumerate(frequencies[:LOOK_BACK_PAIRS]):
            row = head * size + 2 * pair
            first.key.weight[row, constant] = LOOK_BACK
            first.query.weight[row, constant] = LOOK_BACK * math.cos(frequency)
            first.query.weight[row + 1, constant] = -LOOK_BACK * math.sin(frequency)
        for i in range(size):
            d = head * size + i
            first.value.weight[d, d] = 1
            first.output.weight[half + d, d] = 0.7 * scale
            second.value.weight[d, d] = 1
            second.output.weight[d, d] = 2 * scale
            if i >= rotated and d != constant:  # what rotates says where, the rest says what
                second.query.weight[d, d] = FIND_FOLLOWER
                second.key.weight[d, half + d] = FIND_FOLLOWER
                third.query.weight[d, d] = FIND_SAME
                third.key.weight[d, d] = FIND_SAME
