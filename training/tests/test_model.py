import importlib.util
import random
import tempfile
import unittest
from pathlib import Path

SIZES = dict(width=64, layers=3, heads=2, hidden=96, vocab=2048, context=96)

if importlib.util.find_spec('torch'):
    import torch

    from tiny_tools import checkpoint
    from tiny_tools.batches import OTHERS_WEIGHT, BatchSource, pad
    from tiny_tools.export import export
    from tiny_tools.model import Model
    from tiny_tools.probe import probe, spans
    from tiny_tools.tokenizer import SPECIAL, Tokenizer
    from tiny_tools.train import loss_of, split_parameters


@unittest.skipUnless(importlib.util.find_spec('torch'), 'torch is missing')
class ModelTest(unittest.TestCase):

    def setUp(self):
        torch.set_num_threads(1)
        torch.manual_seed(1)
        self.model = Model(**SIZES)

    def test_a_token_depends_on_no_later_one(self):
        tokens = torch.randint(266, 2048, (1, 40))
        later = tokens.clone()
        later[0, 20:] = torch.randint(266, 2048, (20,))
        with torch.no_grad():
            same = self.model(tokens)[0, :20] - self.model(later)[0, :20]
        self.assertLess(same.abs().max(), 1e-5)

    def test_it_starts_able_to_copy(self):
        word = torch.randint(266, 2048, (12,), generator=torch.Generator().manual_seed(3))
        tokens = torch.cat((word, word))[None]
        with torch.no_grad():
            guessed = self.model(tokens).argmax(-1)[0]
        right = (guessed[12:-1] == tokens[0, 13:]).float().mean()
        self.assertGreater(right, .5)  # chance is one in 2,048

    def test_logits_only_at_some_places_are_those_of_all(self):
        tokens = torch.randint(266, 2048, (2, 10))
        with torch.no_grad():
            whole, some = self.model(tokens), self.model(tokens, torch.tensor([3, 14]))
        self.assertTrue(torch.allclose(whole.reshape(20, -1)[[3, 14]], some, atol=1e-5))

    def test_the_first_weights_have_short_names_and_still_load(self):
        short = {long: name for name, long in checkpoint.SHORT.items()}
        weights = {
            '.'.join(part if part == 'weight' and 'norm' not in name else short.get(part, part) for part in name.split('.')): w
            for name, w in self.model.state_dict().items()}
        self.assertIn('b.0.q.weight', weights)
        self.assertIn('b.2.n1.w', weights)
        self.assertIn('e.weight', weights)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, 'model.pt')
            torch.save({'model': weights, 'config': self.model.config, 'step': 5}, path)
            loaded, step = checkpoint.load(path)
        self.assertEqual(step, 5)
        for name, tensor in self.model.state_dict().items():
            self.assertTrue(torch.equal(tensor, loaded.state_dict()[name]), name)

    def test_the_matrices_that_multiply_are_told_from_the_other_parameters(self):
        matrices, others = split_parameters(self.model)
        self.assertEqual({id(one) for one in matrices + others}, {id(one) for one in self.model.parameters()})
        self.assertEqual(len(matrices + others), len(list(self.model.parameters())))
        self.assertTrue(all(one.dim() == 2 for one in matrices))
        self.assertIn(id(self.model.embedding.weight), {id(one) for one in others})
        self.assertEqual(len(matrices), 7 * SIZES['layers'])

    def test_padding_has_no_weight_and_what_others_say_has_little(self):
        tokens = [SPECIAL['bos'], SPECIAL['call'], 300, 301, 302, 303, 304, 305, 306, SPECIAL['end'], SPECIAL['result'], 310]
        is_assistant = [False] + [True] * 9 + [False] * 2
        ids, weights = pad([(tokens, is_assistant), (tokens[:1], [False])], len(tokens))
        expected = [OTHERS_WEIGHT, 3, 1, 1, 1, 3, 3, 3, 1, 1, OTHERS_WEIGHT, OTHERS_WEIGHT]
        self.assertEqual(weights[0].tolist(), torch.tensor(expected).tolist())
        self.assertEqual(weights[1, 1:].sum(), 0)
        self.assertEqual(ids[1, 1:].unique().tolist(), [SPECIAL['eos']])

    def test_the_same_seed_gives_the_same_batches_within_their_size(self):
        first, second = (BatchSource(4, tokens=1500, context=400, easy=.2) for _ in range(2))
        for i in range(10):
            (ids, weights), (again, _) = first.next(i / 10), second.next(i / 10)
            self.assertTrue(torch.equal(ids, again))
            self.assertEqual(ids.shape, weights.shape)
            self.assertTrue(ids.numel() <= 1500 or len(ids) == 1)

    def test_a_few_steps_make_the_loss_smaller(self):
        class Options:
            device = 'cpu'
            precision = 'f32'
        model = Model(**{**SIZES, 'context': 300})
        ids, weights = BatchSource(4, tokens=600, context=300, easy=1).next(0)
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
        losses = []
        for _ in range(8):
            loss = loss_of(model, ids, weights, Options)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], losses[0] * .8)

    def test_the_probe_counts_every_conversation_that_fits(self):
        model = Model(**{**SIZES, 'context': 512})
        counts = probe(model, Tokenizer(), count=24)
        self.assertEqual(counts['calls'] + counts['none'], 24)
        self.assertLessEqual(counts['exact'], counts['tool'])
        self.assertEqual(spans([1, SPECIAL['say'], 300, SPECIAL['end']]), [(SPECIAL['say'], 1, 3)])

    def test_the_export_has_every_tensor(self):
        from tests.test_gguf import Reader
        random.seed(0)
        sizes = {}
        for precision in ('f32', 'f16', 'q8_0'):
            data = export(self.model, Tokenizer().merges, precision, 'test')
            reader = Reader(data)
            self.assertEqual(len(reader.tensors), 3 + 9 * SIZES['layers'])
            self.assertEqual(reader.tensors['token_embd.weight'][0], (64, 2048))
            self.assertEqual(reader.tensors['output_norm.weight'][1], 0)
            sizes[precision] = len(data)
        self.assertGreater(sizes['f32'], 1.8 * sizes['f16'])
        self.assertGreater(sizes['f16'], 1.6 * sizes['q8_0'])
