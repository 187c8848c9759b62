"""Conversations about tools that are put together: one call, none, a pair of calls, or a chain of two."""
from tiny_tools import word_lists as lists
from tiny_tools.conversation import NO_TOOL, Conversation
from tiny_tools.documents import document, said_of
from tiny_tools.frames import SLOT
from tiny_tools.invented_requests import InventedRequests
from tiny_tools.small_talk import GREETINGS

KINDS = {'call': 66, 'none': 18, 'chain': 11, 'pair': 5}  # kind of conversation -> how often
FOUND = 5  # items of a list that are named
LINKS = [' and then ', ', then ', ' and ', '; after that ', '. Then ']


class Invented(InventedRequests):

    # ---- what a tool returns, and what is said then
    def outcome(self, noun):
        """(result object, answer) of a tool about the noun."""
        if self.chance(.14):
            error = self.error()
            return {'error': error}, f'That did not work: {error}.'
        x = self.random.random()
        if x < .22:
            return {'ok': True}, 'Done.'
        if x < .46:
            text = document(self) if self.chance(.65) else self.words(1, 5)
            return {'text': text}, f'It says: {said_of(text)}'
        if x < .58:
            return self.found()
        return self.facts(noun)

    def found(self):
        """A list and the sentence that names its first items."""
        makers = [self.syllables, lambda: self.pick(lists.NOUNS), lambda: self.value('path')]
        make = self.pick([makers[0], *makers])
        items = [make() for _ in range(self.between(0, 3) if self.chance(.7) else self.between(4, 12))]
        if not items:
            return {'items': items}, 'Nothing found.'
        return {'items': items}, 'Found: ' + ', '.join(items[:FOUND]) + (', ...' if len(items) > FOUND else '.')

    def error(self):
        """A word or two, or a sentence as programs write them."""
        x = self.random.random()
        if x < .4:
            return self.pick(lists.ERRORS)
        if x < .55:
            return self.words(1, 3)
        makers = {'word': self.fresh, 'noun': lambda: self.pick(lists.NOUNS), 'number': self.number}
        return SLOT.sub(lambda match: str(makers[match.group(1)]()), self.pick(lists.ERROR_FORMS))

    def facts(self, noun):
        """One or two named values and the sentence that states them."""
        keys = [self.result_key(noun)]
        if self.chance(.3):
            key = self.result_key(noun)
            if key not in keys:
                keys.append(key)
        result = {}
        for key in keys:
            values = [self.number(), *(self.value(kind) for kind in ('name', 'num', 'id', 'date'))]
            result[key] = self.pick(values)
        stated = [f'the {key.replace("_", " ")} is {value}' for key, value in result.items()]
        return result, 'T' + ' and '.join(stated)[1:] + '.'

    def result_key(self, noun):
        x = self.random.random()
        return noun if x < .25 else self.fresh() if x < .40 else self.pick(lists.RESULT_KEYS)

    # ---- whole conversations
    def conversation(self, max_tools=5, kind=None):
        kind = kind or self.random.choices(list(KINDS), list(KINDS.values()))[0]
        count = self.between(1, max_tools)
        if kind in ('chain', 'pair'):
            return self.two_calls(kind, max(2, count))
        tool = self.tool([])
        taken = [tool]
        for _ in range(count - 1 + (kind == 'none')):
            taken.append(self.tool(taken, like=tool if self.chance(.3) else None))
        needs_verb = any(other.noun == tool.noun for other in taken[1:])
        if kind == 'none':
            return self.no_tool_fits(tool, taken[1:], needs_verb)
        arguments = self.arguments(tool)
        self.random.shuffle(taken)
        text = self.request(tool, arguments, needs_verb)
        result, answer = self.outcome(tool.noun)
        steps = [('call', (tool.name, arguments)), ('result', result), ('say', answer)]
        return Conversation(kind, taken, text, steps)

    def no_tool_fits(self, wanted, offered, needs_verb):
        """A request for a tool that is not offered; an offered one may share its noun or its verb."""
        if self.chance(.15):
            text = self.pick(GREETINGS)
        else:
            text = self.request(wanted, self.arguments(wanted), needs_verb or self.chance(.5))
        self.random.shuffle(offered)
        return Conversation('none', offered, text, [('say', NO_TOOL)])

    def drill(self, max_tools=5):
        """Only the choice: several tools with at most one parameter, a short request, one call. Short, so many fit
        into a minute."""
        def few():
            return self.pick([0, 0, 1])
        tool = self.tool([], parameter_count=few())
        taken = [tool]
        for _ in range(self.between(1, max_tools - 1)):
            taken.append(self.tool(taken, tool if self.chance(.3) else None, few()))
        arguments, needs_verb = self.arguments(tool), any(other.noun == tool.noun for other in taken[1:])
        text = self.request(tool, arguments, needs_verb)
        if len(taken) > 2 and self.chance(.18):
            offered = taken[1:]
            self.random.shuffle(offered)
            return Conversation('none', offered, text, [('say', NO_TOOL)])
        self.random.shuffle(taken)
        return Conversation('call', taken, text, [('call', (tool.name, arguments))])

    def two_calls(self, kind, count):
        """chain: the second call takes a value from the first result. pair: all values stand in the request."""
        first = self.tool([], parameter_count=self.pick([1, 1, 2]))
        second = self.tool([first], parameter_count=self.pick([1, 2]))
        taken = [first, second]
        for _ in range(count - 2):
            taken.append(self.tool(taken))
        self.random.shuffle(taken)
        first_arguments, second_arguments = self.arguments(first), self.arguments(second)
        make = self.chain_words if kind == 'chain' else self.pair_words
        text, first_result = make(first, first_arguments, second, second_arguments)
        text = self.pick(['', '', 'please ', 'I want you to ', 'can you ']) + text
        if self.chance(.5):
            text = text[0].upper() + text[1:]
        if kind == 'pair' and 'error' in first_result:
            first_result = {'ok': True}
        steps = [('call', (first.name, first_arguments))]
        if self.chance(.12):
            error = self.error()
            steps += [('result', {'error': error}), ('say', f'That did not work: {error}.')]
        else:
            result, answer = self.outcome(second.noun)
            steps += [('result', first_result), ('call', (second.name, second_arguments)), ('result', result), ('say', answer)]
        return Conversation(kind, taken, text, steps)

    def chain_words(self, first, first_arguments, second, second_arguments):
        """(the request, the first result). One argument of the second call stands only in that result."""
        link, said_first = self.pick(LINKS), self.said(first, first_arguments)
        taken_over = self.pick(second.parameters)
        if taken_over.kind == 'bool':
            taken_over.kind, taken_over.type = 'id', 'string'
            second_arguments[taken_over.name] = self.value('id')
        if taken_over.options:
            taken_over.kind, taken_over.options = 'name', None
            second_arguments[taken_over.name] = self.value('name')
        value, name = second_arguments[taken_over.name], taken_over.name.replace('_', ' ')
        said_second = self.said(second, second_arguments, skip=(taken_over.name,))
        hint = self.pick([
            f' with that {name}', f' with its {name}', f' using the {name}', f' for the {name} you get',
            f' with the {name} from it', ' with the result'])
        text = self.action(first) + ' ' + said_first + link + self.action(second)
        text += (' ' + said_second if said_second else '') + hint
        return text, {taken_over.name if self.chance(.75) else self.result_key(first.noun): value}

    def pair_words(self, first, first_arguments, second, second_arguments):
        """(the request, the first result)"""
        link = self.pick(LINKS)
        said_first, said_second = self.said(first, first_arguments), self.said(second, second_arguments)
        text = self.action(first) + ' ' + said_first + link + self.action(second) + ' ' + said_second
        return text, {'ok': True} if self.chance(.5) else self.outcome(first.noun)[0]
