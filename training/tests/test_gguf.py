import importlib.util
import struct
import unittest

from tiny_tools import llama_metadata
from tiny_tools.gguf import ALIGNMENT, Gguf, TensorType, Value
from tiny_tools.tokenizer import SPECIAL, Tokenizer

CONFIG = {'width': 64, 'layers': 3, 'heads': 2, 'hidden': 96, 'vocab': 2048, 'context': 512}
FORMATS = {Value.UINT32: '<I', Value.INT32: '<i', Value.FLOAT32: '<f', Value.BOOL: '<?'}


class Reader:
    """Reads what was written, on its own."""

    def __init__(self, data):
        self.data, self.at = data, 0
        assert data[:4] == b'GGUF'
        self.at = 4
        self.version, tensors, metadata = self.take('<IQQ')
        self.metadata = {}
        for _ in range(metadata):
            key, (kind,) = self.string(), self.take('<I')
            self.metadata[key] = self.value(kind)
        self.tensors = {}
        for _ in range(tensors):
            name, (dimensions,) = self.string(), self.take('<I')
            shape = self.take(f'<{dimensions}Q')
            self.tensors[name] = (shape, *self.take('<IQ'))
        self.start = -(-self.at // ALIGNMENT) * ALIGNMENT

    def take(self, form):
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values

    def string(self):
        (length,) = self.take('<Q')
        self.at += length
        return self.data[self.at - length:self.at].decode()

    def value(self, kind):
        if kind == Value.STRING:
            return self.string()
        if kind == Value.ARRAY:
            item, count = self.take('<IQ')
            return [self.value(item) for _ in range(count)]
        return self.take(FORMATS[kind])[0]


class GgufTest(unittest.TestCase):

    def test_metadata_and_tensors_come_back(self):
        gguf = Gguf()
        gguf.add('a.text', Value.STRING, 'na\u00efve')
        gguf.add('a.number', Value.UINT32, 7)
        gguf.add_array('a.list', Value.FLOAT32, [1.5, -2.0])
        gguf.add_tensor('one', (3, 2), TensorType.F32, b'\1' * 24)
        gguf.add_tensor('two', (2,), TensorType.F32, b'\2' * 8)
        data = gguf.bytes()
        reader = Reader(data)
        self.assertEqual(reader.version, 3)
        self.assertEqual(reader.metadata, {'a.text': 'na\u00efve', 'a.number': 7, 'a.list': [1.5, -2.0]})
        self.assertEqual(reader.tensors, {'one': ((3, 2), 0, 0), 'two': ((2,), 0, 32)})
        self.assertEqual(data[reader.start:reader.start + 24], b'\1' * 24)
        self.assertEqual(data[reader.start + 32:reader.start + 40], b'\2' * 8)
        self.assertEqual(len(data) % ALIGNMENT, 0)

    def test_llama_cpp_finds_the_sizes_and_the_vocabulary(self):
        gguf, tokenizer = Gguf(), Tokenizer()
        llama_metadata.add_sizes(gguf, CONFIG, 1e-5, 1, 'test')
        llama_metadata.add_vocabulary(gguf, tokenizer.merges)
        found = Reader(gguf.bytes()).metadata
        self.assertEqual(found['general.architecture'], 'llama')
        self.assertEqual(found['llama.rope.dimension_count'], 32)
        self.assertEqual(found['llama.embedding_length'], 64)
        tokens = found['tokenizer.ggml.tokens']
        self.assertEqual(len(tokens), tokenizer.size)
        self.assertEqual(len(set(tokens)), len(tokens))
        self.assertEqual(tokens[SPECIAL['call']], '<|hf_call|>')
        self.assertEqual(tokens[3 + 0x41], '<0x41>')
        self.assertEqual(tokens[266:], tokenizer.merges)
        self.assertEqual(found['tokenizer.ggml.eos_token_id'], SPECIAL['end'])
        scores = found['tokenizer.ggml.scores']
        self.assertEqual(scores[266:], sorted(scores[266:], reverse=True))

    def test_rotation_factors_give_our_frequencies(self):
        factors = llama_metadata.rotation_factors(32, [1.0, 0.5])
        own = [10000.0 ** (-2 * pair / 32) for pair in range(16)]
        self.assertEqual([round(o / f, 9) for o, f in zip(own, factors)][:3], [1.0, 0.5, 0.0])


@unittest.skipUnless(importlib.util.find_spec('numpy'), 'numpy is missing')
class QuantiseTest(unittest.TestCase):

    def test_eight_bits_in_blocks_of_32_come_close(self):
        import numpy as np
        from tiny_tools.quantise import q8_0
        weights = np.random.default_rng(1).normal(size=(5, 64)).astype(np.float32)
        weights[0, :32] = 0
        data = q8_0(weights)
        self.assertEqual(len(data), 5 * 2 * 34)
        for block in range(10):
            scale, *integers = struct.unpack_from('<e32b', data, block * 34)
            wanted = weights.reshape(-1, 32)[block]
            self.assertLessEqual(abs(np.array(integers) * scale - wanted).max(), abs(wanted).max() / 127 * .6)

    def test_rows_that_are_no_multiple_of_a_block_are_refused(self):
        import numpy as np
        from tiny_tools.quantise import q8_0
        with self.assertRaisesRegex(ValueError, 'multiple of 32'):
            q8_0(np.zeros((2, 40)))
