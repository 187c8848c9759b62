"""What tools return as texts and lists, and what is said of it."""
import random
import unittest

from tiny_tools.documents import document, said_of
from tiny_tools.invented import FOUND, Invented


class DocumentsTest(unittest.TestCase):
    def setUp(self):
        self.maker = Invented(random.Random(4))

    def test_of_a_text_the_first_line_is_said(self):
        self.assertEqual(said_of('one line'), 'one line')
        self.assertEqual(said_of('# a title\nand more\n'), '# a title ...')

    def test_a_text_has_up_to_six_lines_and_no_empty_edge(self):
        texts = [document(self.maker) for _ in range(500)]
        self.assertEqual({len(text.split('\n')) for text in texts}, {1, 2, 3, 4, 5, 6})
        for text in texts:
            self.assertEqual(text, text.strip())
            self.assertNotRegex(text, r'\{\w+\}')

    def test_what_is_said_stands_in_the_result(self):
        kinds = {'text': 0, 'items': 0}
        for _ in range(2000):
            result, answer = self.maker.outcome('invoice')
            if 'text' in result:
                kinds['text'] += 1
                self.assertEqual(answer, f'It says: {said_of(result["text"])}')
            if result.get('items'):
                kinds['items'] += 1
                named = answer.removeprefix('Found: ').removesuffix(', ...').removesuffix('.')
                self.assertEqual(named, ', '.join(result['items'][:FOUND]).removesuffix('.'))
                self.assertEqual(answer.endswith(', ...'), len(result['items']) > FOUND)
        self.assertGreater(min(kinds.values()), 100)


if __name__ == '__main__':
    unittest.main()
