import random
import re
import unittest

from tiny_tools.frames import SLOT
from tiny_tools.side_remarks import REMARKS, with_remark
from tiny_tools.values import KINDS, Values


class SideRemarksTest(unittest.TestCase):

    def test_their_slots_are_values(self):
        for remark in REMARKS['before'] + REMARKS['after']:
            self.assertLessEqual(set(SLOT.findall(remark)), KINDS | {'name'}, remark)

    def test_request_and_remark_are_two_parts(self):
        values = Values(random.Random(5))
        for request in ('is it late?', 'Close it.', 'close it'):
            for _ in range(1000):
                text = with_remark(values, request)
                self.assertIn(request.rstrip('.?'), text)
                self.assertGreater(len(text), len(request))
                self.assertNotRegex(text, r'[{}]|[?!][.,;]|\.[,;]|[a-z]\. \.')

    def test_there_is_none_beside_free_text(self):
        values = Values(random.Random(6))
        texts = [with_remark(values, 'say hello to you', begins_free, ends_free)
                 for begins_free, ends_free in [(False, True), (True, False), (True, True)] for _ in range(200)]
        self.assertFalse([text for text in texts[:200] if not text.endswith('say hello to you')])
        self.assertFalse([text for text in texts[200:400] if not text.startswith('say hello to you')])
        self.assertEqual(set(texts[400:]), {'say hello to you'})
        self.assertTrue(any(re.search(r'\w{3}', text[16:]) for text in texts[200:400]))
