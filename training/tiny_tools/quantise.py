"""Weights as bytes: 32-bit, 16-bit, or 8-bit in blocks (llama.cpp's Q8_0)."""
import numpy as np

from tiny_tools.gguf import TensorType

BLOCK = 32  # weights that share one scale
LARGEST = 127


def q8_0(weights):
    """Each block of 32 weights of a row as a 16-bit scale and 32 8-bit integers: 34 bytes."""
    if weights.shape[-1] % BLOCK:
        raise ValueError(f'rows of {weights.shape[-1]} weights: Q8_0 needs a multiple of {BLOCK}')
    blocks = weights.astype(np.float32).reshape(-1, BLOCK)
    scale = np.abs(blocks).max(1, keepdims=True) / LARGEST
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    packed = np.zeros(len(blocks), dtype=[('scale', '<f2'), ('weights', 'i1', BLOCK)])
    packed['scale'] = scale[:, 0]
    packed['weights'] = np.rint(blocks * inverse)
    return packed.tobytes()


def encode(weights, tensor_type):
    """The bytes of an array of weights."""
    if tensor_type == TensorType.Q8_0:
        return q8_0(weights)
    return weights.astype('<f2' if tensor_type == TensorType.F16 else '<f4').tobytes()
