import random
import time
import unittest

from tiny_tools.conversation import segments
from tiny_tools.dump_tokens import HOSTILE as TEXTS
from tiny_tools.learn_vocabulary import learn
from tiny_tools.mixture import Mixture
from tiny_tools.tokenizer import FIRST_MERGE, SPACE, SPECIAL, Tokenizer

HOSTILE = ['', ' ', '\x00\x7f', '\u2581', *TEXTS]


class TokenizerTest(unittest.TestCase):

    def setUp(self):
        self.tokenizer = Tokenizer()

    def texts(self, count=300):
        source = Mixture(random.Random(5))
        return [text for _ in range(count) for _, text, _ in segments(source.conversation())]

    def test_what_is_encoded_is_decoded(self):
        for text in HOSTILE + self.texts():
            self.assertEqual(self.tokenizer.decode(self.tokenizer.encode(text)), text)

    def test_no_text_gives_a_special_token(self):
        special = set(SPECIAL.values())
        for text in HOSTILE + self.texts(100):
            self.assertFalse(special & set(self.tokenizer.encode(text)), text)

    def test_a_word_has_the_same_tokens_wherever_it_stands(self):
        word = self.tokenizer.encode('kitchen')
        for text in ('kitchen', 'the kitchen', '"kitchen"', 'light_kitchen(room', '{"room":"kitchen"}', 'kitchen1'):
            tokens = self.tokenizer.encode(text)
            found = any(tokens[i:i + len(word)] == word for i in range(len(tokens)))
            self.assertTrue(found, text)

    def test_spaces_and_digits_stay_alone(self):
        tokens = self.tokenizer.encode('a 12')
        self.assertEqual(len(tokens), 4)
        self.assertEqual(tokens[1], SPACE)

    def test_the_numbers_that_weights_depend_on(self):
        self.assertEqual(SPECIAL, {
            'unk': 0, 'bos': 1, 'eos': 2, 'user': 259, 'tools': 260, 'call': 261, 'result': 262, 'say': 263, 'end': 264})
        self.assertEqual((SPACE, FIRST_MERGE, self.tokenizer.size), (265, 266, 2048))
        expected = [self.tokenizer.rank[text] + FIRST_MERGE for text in ('{"', 'name', '":"')]
        self.assertEqual(self.tokenizer.encode('{"name":"'), expected)

    def test_an_example_says_which_tokens_are_the_assistants(self):
        tokens, is_assistant = self.tokenizer.example([('bos', '', False), ('user', 'hi', False), ('say', 'hi', True)])
        self.assertEqual(len(tokens), len(is_assistant))
        said = [token for token, mine in zip(tokens, is_assistant) if mine]
        self.assertEqual(said, [SPECIAL['say'], *self.tokenizer.encode('hi')])

    def test_it_is_fast_enough_to_feed_a_training(self):
        texts = self.texts()
        started = time.process_time()
        tokens = sum(len(self.tokenizer.encode(text)) for text in texts)
        self.assertGreater(tokens / (time.process_time() - started), 20_000)  # tokens a second; a core trains on 2,000

    def test_frequent_neighbours_are_learnt_first_and_only_within_chunks(self):
        merges = learn(FIRST_MERGE + 3, ['low lower lowest'] * 3 + ['new 11 11 11 11 11'])
        self.assertEqual(merges, ['ow', 'low', 'lowe'])
