"""Tools that are put together from a verb and a noun, so that nothing about them can be learnt by heart."""
from tiny_tools import word_lists as lists
from tiny_tools.conversation import Parameter, Tool
from tiny_tools.invented_words import InventedWords, is_held_out

KINDS = list(lists.KIND_WEIGHTS)
WEIGHTS = list(lists.KIND_WEIGHTS.values())
DESCRIPTIONS = [
    '{v} the {n}', '{v} a {n}', '{v} {n}', '{v} one {n}', 'use it to {v} a {n}', '{v} the {n} of the {o}',
    '{v} a {n} by {p}', '{v} {n} entries', 'helps to {v} the {n}', '{v} any {n} in the {o}',
]


class InventedTools(InventedWords):

    def parameter(self, taken):
        """A parameter whose name is not in `taken`."""
        kind = self.random.choices(KINDS, WEIGHTS)[0]
        while True:
            seen, unseen = lists.PARAMETERS[kind]
            name = self.pick(unseen) if self.held_out and self.chance(.35) else self.pick(seen)
            if self.chance(.12):
                prefixes = ['max', 'new', 'from', 'first', 'main', 'my'] if self.chance(.6) else [self.syllables(1, 2)]
                name = self.pick(prefixes) + '_' + name
            elif self.chance(.10):
                name = self.fresh()
            if name not in taken:
                break
            if self.chance(.2):
                kind = self.random.choices(KINDS, WEIGHTS)[0]
        options = None
        if kind == 'enum':
            ready = self.chance(.6)
            options = self.pick(lists.ENUMS).split('|') if ready else [self.fresh() for _ in range(self.between(2, 3))]
        return Parameter(name, kind, lists.JSON_TYPE.get(kind, 'string'), options)

    def noun(self):
        x = self.random.random()
        if self.held_out:
            return self.pick(lists.HELD_OUT_NOUNS) if x < .45 else self.fresh() if x < .65 else self.pick(lists.NOUNS)
        return self.fresh() if x < .45 else self.pick(lists.NOUNS)

    def tool(self, taken, like=None, parameter_count=None):
        """A new tool that cannot be mistaken for one of `taken`. `like`: share its verb or its noun."""
        for _ in range(100):
            verb, noun = self.verb_and_noun(like)
            if self.clashes(verb, noun, taken, like):
                continue
            adjective = self.pick(lists.ADJECTIVES) if self.chance(.15) else None
            name = self.tool_name(verb, adjective, noun)
            if name in [tool.name for tool in taken]:
                continue
            other_verb = self.pick(lists.VERBS[verb]) if verb in lists.VERBS and self.chance(.4) else verb
            parameters = self.parameters(parameter_count)
            thing = (adjective + ' ' if adjective else '') + noun
            description = self.description(other_verb, thing, parameters)
            return Tool(name, description, parameters, verb=verb, other_verb=other_verb, noun=noun, thing=thing)
        return self.tool(taken)

    def verb_and_noun(self, like):
        verb = self.pick(list(lists.VERBS)) if self.chance(.93) or like else self.fresh()
        noun = self.noun()
        if like and self.chance(.5):
            noun = like.noun
        elif like:
            verb = like.verb
        return verb, noun

    def clashes(self, verb, noun, taken, like):
        """Would a tool of this verb and noun be one that is there already, mean the same, or be of the other split?"""
        if (verb, noun) in [(tool.verb, tool.noun) for tool in taken]:
            return True
        if like and noun == like.noun and set(lists.VERBS.get(verb, [])) & set(lists.VERBS.get(like.verb, [])):
            return True
        if not like and noun in [tool.noun for tool in taken]:
            return True
        return verb in lists.VERBS and noun in lists.NOUNS and is_held_out(verb + '_' + noun) != self.held_out

    def tool_name(self, verb, adjective, noun):
        parts = [verb, adjective, noun] if adjective else [verb, noun]
        x = self.random.random()
        if x < .10 and not adjective:
            parts = [noun, verb]
        elif x < .18:
            parts = [self.pick(lists.PREFIXES)] + parts
        elif x < .22 and not adjective:
            parts = [noun]
        x = self.random.random()
        if x < .88:
            return '_'.join(parts)
        if x < .95:
            return parts[0] + ''.join(part.capitalize() for part in parts[1:])
        return '-'.join(parts)

    def parameters(self, count):
        parameters = []
        if count is None:
            count = self.random.choices([0, 1, 2, 3], [6, 44, 35, 15])[0]
        for _ in range(count):
            parameters.append(self.parameter({parameter.name for parameter in parameters}))
        return parameters

    def description(self, verb, thing, parameters):
        form = self.pick(DESCRIPTIONS)
        if '{p}' in form and not parameters:
            form = '{v} the {n}'
        first = parameters[0].name.replace('_', ' ') if parameters else ''
        owner = self.pick(['system', 'team', 'company', 'house', 'app', 'shop'])
        return form.format(v=verb, n=thing, o=owner, p=first)
