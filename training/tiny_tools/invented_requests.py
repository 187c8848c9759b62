"""Requests for tools that are put together: the verb, the noun and every argument in words."""
from tiny_tools import word_lists as lists
from tiny_tools.invented_tools import InventedTools

# Kinds whose values look alike: the words have to say which parameter takes which.
ALIKE = {'email': 'id', 'url': 'id', 'num': 'int', 'enum': 'name', 'date': 'date'}
NAMED = [
    'with {n} {q}', '{n} {q}', 'where {n} is {q}', '{n} = {q}', '{n}: {q}', 'using {q} as {n}', 'with {q} as the {n}',
    'the {n} is {q}', 'set {n} to {q}',
]
PLAIN = {
    'name': ['for {q}', 'to {q}', 'of {q}', 'in {q}', 'from {q}', 'called {q}', '{q}'],
    'path': ['{q}', 'at {q}', 'in {q}', 'from {q}', 'the file {q}', 'to {q}'],
    'text': ['saying {q}', '{q}', 'with the text {q}', 'about {q}', 'that says {q}'],
    'date': ['on {q}', 'for {q}', 'by {q}', '{q}'],
    'id': ['{q}', 'for {q}', 'to {q}', 'at {q}', 'of {q}'],
    'int': ['{q} {n}', 'for {q} {n}', '{q}', 'at {q}', 'by {q}', 'of {q}'],
    'enum': ['as {q}', 'in {q}', '{q}', 'with {q} {n}'],
}
PLAIN |= {'email': PLAIN['id'], 'url': PLAIN['id'], 'num': PLAIN['int']}
FORMS = [
    '{a}{s}', '{a}{s}', 'please {a}{s}', '{a}{s} please', 'could you {a}{s}?', 'can you {a}{s}?', 'I need you to {a}{s}',
    'I want to {a}{s}', 'I would like to {a}{s}', 'help me {a}{s}', 'it is time to {a}{s}', 'would you kindly {a}{s}?',
    'we should {a}{s} now', 'hey, {a}{s}', 'my boss asked me to {a}{s}', 'is it possible to {a}{s}?', 'go and {a}{s}',
]
FORMS_WITH_ARGUMENTS = ['{s}: {a}', 'for this one, {a}{s}', 'here is a job: {a}{s}']
FORMS_WITHOUT_VERB = ['{n}{s} please', 'I need the {n}{s}', '{n}{s}']
QUESTIONS = [
    'what is the {n}{s}?', 'tell me the {n}{s}', 'what about the {n}{s}?', 'do you know the {n}{s}?', 'which {n}{s}?',
    'how is the {n}{s}?', 'any news on the {n}{s}?',
]


def alike(parameter):
    return ALIKE.get(parameter.kind, parameter.kind)


class InventedRequests(InventedTools):

    def arguments(self, tool):
        """A value for every parameter of the tool."""
        return {
            parameter.name: self.pick(parameter.options) if parameter.options else self.value(parameter.kind)
            for parameter in tool.parameters}

    def phrase(self, parameter, value, named, last):
        """One argument in words. `named`: its parameter's name has to be said; `last`: nothing follows."""
        name, kind = parameter.name.replace('_', ' '), parameter.kind
        if kind == 'bool':
            words = ['with {n}', '{n} on', '{n} true', 'and make it {n}']
            negated = ['without {n}', '{n} off', '{n} false', 'not {n}']
            return self.pick(words if value else negated).format(n=name)
        quoted = value
        if kind == 'text':
            if last and self.chance(.35):
                return self.pick([f'saying {value}', f'{name}: {value}', f'with the {name} {value}'])
            quoted = self.pick([f'"{value}"', f"'{value}'"])
        elif kind in ('name', 'path') and self.chance(.12):
            quoted = self.pick([f'"{value}"', f"'{value}'"])
        form = self.pick(NAMED) if named or self.chance(.4) else self.pick(PLAIN[kind])
        return form.format(n=name, q=quoted)

    def said(self, tool, arguments, skip=()):
        """All arguments in words, in any order when the words make clear which is which."""
        parameters = [parameter for parameter in tool.parameters if parameter.name not in skip]
        if len(parameters) == 2 and alike(parameters[0]) == alike(parameters[1]):
            plain = parameters[0].kind not in ('bool', 'text', 'enum') and parameters[1].kind != 'enum'
            if plain and self.chance(.3):
                a, b = (arguments[parameter.name] for parameter in parameters)
                return self.pick([f'{a} and {b}', f'from {a} to {b}', f'between {a} and {b}', f'{a}, {b}'])
        order = parameters[:]
        self.random.shuffle(order)
        phrases = []
        for i, parameter in enumerate(order):
            confusable = sum(alike(other) == alike(parameter) for other in parameters) > 1
            named = confusable and parameter.kind != 'enum'
            phrases.append(self.phrase(parameter, arguments[parameter.name], named, i == len(order) - 1))
        return self.pick([' ', ' ', ', ', ' and ']).join(phrases) if len(phrases) > 1 else ''.join(phrases)

    def action(self, tool):
        """What to do with which thing, as the tool's name or its description calls it."""
        verb = self.pick([tool.verb, tool.other_verb])
        thing = tool.thing if self.chance(.8) else tool.noun
        return verb + ' ' + self.pick(['the ', 'the ', 'a ', 'my ', '', 'our ', 'that ']) + thing

    def request(self, tool, arguments, needs_verb=False):
        """`needs_verb`: another offered tool has the same noun, so the verb must be said."""
        action, said = self.action(tool), self.said(tool, arguments)
        forms = FORMS + (FORMS_WITH_ARGUMENTS if said else [])
        if not needs_verb:
            forms = forms + FORMS_WITHOUT_VERB + (QUESTIONS if tool.verb in lists.READING else [])
        form = self.pick(forms)
        values_first = form.startswith('{s}')
        text = form.format(a=action, s=said if values_first or not said else ' ' + said, n=tool.thing)
        # A value at the beginning stays as it is: it has to be copied.
        if self.chance(.5) and not (said and values_first):
            text = text[0].upper() + text[1:]
        if text[-1] != '?' and self.chance(.25):
            text += self.pick(['.', '.', '!'])
        return text
