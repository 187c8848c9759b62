"""Writes a checkpoint as GGUF (llama architecture), for llama.cpp and its bindings.

    python3 -m tiny_tools.export model.pt tiny-tools.gguf --precision f16
"""
import argparse
from pathlib import Path

import numpy as np

from tiny_tools import checkpoint, llama_metadata
from tiny_tools.gguf import Gguf, TensorType
from tiny_tools.model import FREQUENCIES, NORM_EPSILON
from tiny_tools.quantise import encode
from tiny_tools.tokenizer import Tokenizer

PRECISIONS = {'f32': (TensorType.F32, 0), 'f16': (TensorType.F16, 1), 'q8_0': (TensorType.Q8_0, 7)}  # and file type
NAMES = {
    'attn_norm': 'attention_norm', 'attn_q': 'query', 'attn_k': 'key', 'attn_v': 'value', 'attn_output': 'output',
    'ffn_norm': 'feed_norm', 'ffn_gate': 'gate', 'ffn_up': 'up', 'ffn_down': 'down',
}


def export(model, merges, precision, name):
    """The bytes of the GGUF file. Only matrices get the precision; norms and rotation factors stay 32-bit."""
    matrix_type, file_type = PRECISIONS[precision]
    config, weights = model.config, model.state_dict()
    gguf = Gguf()
    llama_metadata.add_sizes(gguf, config, NORM_EPSILON, file_type, name)
    llama_metadata.add_vocabulary(gguf, merges)
    factors = llama_metadata.rotation_factors(config['width'] // config['heads'], FREQUENCIES)
    arrays = {
        'rope_freqs.weight': np.array(factors, dtype=np.float32),
        'token_embd.weight': weights['embedding.weight'].numpy(), 'output_norm.weight': weights['norm.weight'].numpy(),
    }
    for i in range(config['layers']):
        arrays |= {f'blk.{i}.{to}.weight': weights[f'blocks.{i}.{of}.weight'].numpy() for to, of in NAMES.items()}
    for tensor_name, array in arrays.items():
        tensor_type = matrix_type if array.ndim > 1 else TensorType.F32
        gguf.add_tensor(tensor_name, array.shape[::-1], tensor_type, encode(array, tensor_type))
    return gguf.bytes()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('checkpoint', type=Path)
    parser.add_argument('out', type=Path)
    parser.add_argument('--precision', choices=PRECISIONS, default='f16', help='of the matrices (default f16)')
    parser.add_argument('--name', default='tiny-tools-general', help='general.name in the file')
    options = parser.parse_args()
    model, step = checkpoint.load(options.checkpoint)
    data = export(model, Tokenizer().merges, options.precision, options.name)
    options.out.write_bytes(data)
    print(f'{options.out}: {len(data)} bytes, {sum(w.numel() for w in model.parameters())} weights, step {step}')


if __name__ == '__main__':
    main()
