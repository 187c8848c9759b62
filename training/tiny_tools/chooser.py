"""Random choices. Everything that invents something draws from one source, so the same seed gives the same text."""


class Chooser:
    """What draws from a `random.Random`."""

    def __init__(self, random_source):
        self.random = random_source

    def chance(self, probability):
        """True with this probability (0 to 1)."""
        return self.random.random() < probability

    def pick(self, items):
        """One of the items, each equally likely. A string gives one of its characters."""
        return items[int(self.random.random() * len(items))]

    def between(self, low, high):
        """A whole number from low to high, both included."""
        return self.random.randint(low, high)
