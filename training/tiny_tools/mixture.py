"""The training text: conversations in free wording, and about tools that are put together from words."""
from tiny_tools.chooser import Chooser
from tiny_tools.framed import Framed
from tiny_tools.invented import Invented

FREE_WORDING = .75  # share of the conversations


class Mixture(Chooser):
    """`held_out=True` draws only frames, names and words that training never draws."""

    def __init__(self, random_source, held_out=False):
        super().__init__(random_source)
        self.framed, self.invented = Framed(random_source, held_out), Invented(random_source, held_out)

    def source(self):
        return self.framed if self.chance(FREE_WORDING) else self.invented

    def conversation(self, max_tools=5):
        return self.source().conversation(max_tools)

    def drill(self, max_tools=5):
        """Only the choice of a tool and its call."""
        return self.source().drill(max_tools)
