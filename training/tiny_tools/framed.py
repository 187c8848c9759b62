"""Conversations in free wording, made of frames."""
import re
from typing import NamedTuple

from tiny_tools import frames
from tiny_tools.chooser import Chooser
from tiny_tools.conversation import NO_TOOL, Conversation, Parameter, Tool, tool_text
from tiny_tools.frames import SLOT, are_confusable
from tiny_tools.invented import Invented
from tiny_tools.nearness import misleads
from tiny_tools.side_remarks import with_remark
from tiny_tools.small_talk import ANSWERING_FRAMES, SMALL_TALK
from tiny_tools.typing_habits import vary
from tiny_tools.values import Values, json_type

KINDS = {'call': 74, 'none': 21, 'pair': 5}  # kind of conversation -> how often
# Of requests with more words of another tool than of their own: the writers of frames were told to avoid the tool's words.
MISLEADING_LEFT_OUT = .65
FREE_TEXT = {'text', 'title', 'query', 'topic', 'song', 'movie', 'book'}
LINKS = [' and then ', ', then ', ' and ', '; after that ', '. Then ', '. Also, ', ' and after that ']


class Request(NamedTuple):
    """A request and the call that it wants, and whether it begins or ends with free text."""

    tool: Tool
    arguments: dict
    text: str
    begins_free: bool
    ends_free: bool


class Framed(Chooser):
    """`held_out`: only frames that training never uses, and made-up tools that it never draws."""

    def __init__(self, random_source, held_out=False):
        super().__init__(random_source)
        self.values, self.invented = Values(random_source), Invented(random_source, held_out)
        self.frames = frames.HELD_OUT if held_out else frames.TRAINING

    # ---- tools
    def tool(self, frame, form=''):
        """A tool that does what the frame says. `form`: the words of the request that it has to be able to do."""
        parameters = []
        wanted = SLOT.findall(form)
        for slot, description in frame['params'].items():
            optional = description.get('optional', False)
            if optional and slot not in wanted and (self.chance(.5) or says_an_option(form, description)):
                continue
            free = [name for name in description['names'] if name not in [parameter.name for parameter in parameters]]
            if free:
                # What the request leaves out has to be optional; what it gives may be.
                optional = optional and (slot not in wanted or self.chance(.8))
                parameters.append(self.parameter(slot, description, self.pick(free), optional))
        if len(parameters) > 1 and self.chance(.2):
            self.random.shuffle(parameters)
        name, description = self.pick(frame['names']), self.pick(frame['descriptions'])
        # Once in a while only the name or only the description says what the tool does.
        x = self.random.random()
        if x < .05:
            description = re.sub(r'[._-]', ' ', re.sub(r'([a-z])([A-Z])', r'\1 \2', name)).lower()
        elif x < .10:
            name = self.pick(['tool', 'fn', 'do', 'run', 'x', 'op']) + '_' + self.values.made_up()
        return Tool(name, description, parameters, frame=frame)

    def parameter(self, slot, description, name, optional):
        kind = description['kind']
        options = self.pick(description['options']) if kind == 'enum' else None
        phrases = {True: description['true'], False: description['false']} if kind == 'bool' else None
        type_name = 'string' if options else json_type(kind)
        return Parameter(name, kind, type_name, options, optional, description.get('list', False), slot, phrases)

    def other_tool(self, frame, taken):
        """Another offered tool: mostly of the same domain or theme, sometimes one that is made up."""
        names = [tool.name for tool in taken]
        near = [self.frames.by_domain[frame['domain']], self.frames.by_theme[frame['theme']]]
        for _ in range(0 if self.chance(.08) else 50):
            other = self.pick(self.pick(near) if self.chance(.75) else self.frames.all)
            if any(are_confusable(tool.frame, other) for tool in taken):
                continue
            tool = self.tool(other)
            if tool.name not in names:
                return tool
        while (tool := self.invented.tool([])).name in names:
            pass
        return tool

    # ---- requests
    def typed(self, text, edges):
        """The text as a user types it, sometimes with a side remark."""
        text = vary(self, text, *edges)
        return with_remark(self.values, text, *edges) if self.chance(.2) else text

    def request(self, frame):
        form = self.pick(frame['requests'])
        slots = SLOT.findall(form)
        tool = self.tool(frame, form)
        said, values = {}, {}
        for slot in slots:
            parameter = tool.parameter_of_slot(slot)
            if parameter is None:
                return self.request(frame)
            values[slot], said[slot] = self.fill(parameter)
        text = SLOT.sub(lambda match: said[match.group(1)], form)
        # A value at the beginning stays as it is: it has to be copied.
        if form[0] != '{' and text[0].isalpha() and self.chance(.3) and text[:2] not in ('I ', "I'"):
            text = text[0].swapcase() + text[1:]
        arguments = {one.name: values[one.slot] for one in tool.parameters if one.slot in values}
        return Request(tool, arguments, text, *free_edges(frame, form))

    def fill(self, parameter):
        """(the value, its words)"""
        if parameter.options:
            value = self.pick(parameter.options)
            return value, value
        if parameter.kind == 'bool':
            value = self.chance(.5)
            return value, self.pick(parameter.phrases[value])
        if not parameter.is_list:
            value = self.values.value(parameter.kind)
            return value, str(value)
        items = []
        while len(items) < self.pick([2, 2, 3]):
            item = self.values.value(parameter.kind)
            if item not in items:
                items.append(item)
        words = [str(item) for item in items]
        return items, ', '.join(words) if self.chance(.2) else ', '.join(words[:-1]) + ' and ' + words[-1]

    # ---- whole conversations
    def conversation(self, max_tools=5, kind=None):
        kind = kind or self.random.choices(list(KINDS), list(KINDS.values()))[0]
        frame = self.pick(self.frames.all)
        if kind == 'pair':
            return self.pair(frame, max_tools)
        request = self.request(frame)
        tool, text, edges = request.tool, request.text, (request.begins_free, request.ends_free)
        taken = [tool]
        count = self.between(1, max_tools) + (kind == 'none')
        while len(taken) < count:
            taken.append(self.other_tool(frame, taken))
        if kind == 'none':
            taken = taken[1:]
            answering = any(one.frame and one.frame['id'] in ANSWERING_FRAMES for one in taken)
            if self.chance(.2) and not answering:
                text, edges = self.pick(SMALL_TALK), (False, False)
            steps = [('say', NO_TOOL)]
        else:
            steps = [('call', (tool.name, request.arguments)), *self.ending(tool)]
        self.random.shuffle(taken)
        text = self.typed(text, edges)
        if kind == 'call' and self.chance(MISLEADING_LEFT_OUT):
            if misleads([tool_text(one) for one in taken], text, taken.index(tool)):
                return self.conversation(max_tools, kind)
        return Conversation(kind, taken, text, steps)

    def pair(self, frame, max_tools):
        """Two calls in one request."""
        second_frame = self.pick(self.frames.by_domain[frame['domain']] if self.chance(.5) else self.frames.all)
        if are_confusable(frame, second_frame):
            return self.conversation(max_tools, 'call')
        first, second = self.request(frame), self.request(second_frame)
        if first.tool.name == second.tool.name:
            return self.conversation(max_tools, 'call')
        taken = [first.tool, second.tool]
        while len(taken) < self.between(2, max_tools):
            taken.append(self.other_tool(frame, taken))
        self.random.shuffle(taken)
        text = first.text.rstrip('.!?') + self.pick(LINKS) + second.text
        result = {'ok': True} if self.chance(.5) else self.invented.outcome(result_noun(first.tool))[0]
        if 'error' in result:
            result = {'ok': True}
        steps = [
            ('call', (first.tool.name, first.arguments)), ('result', result),
            ('call', (second.tool.name, second.arguments)), *self.ending(second.tool)]
        return Conversation('pair', taken, self.typed(text, (first.begins_free, second.ends_free)), steps)

    def ending(self, tool):
        """The result of the last call and what is said then."""
        result, answer = self.invented.outcome(result_noun(tool))
        return [('result', result), ('say', answer)]

    def drill(self, max_tools=5):
        """Only the choice and the call, without what comes of it: short, so many fit into a minute."""
        whole = self.conversation(max_tools, self.random.choices(['call', 'none'], [78, 22])[0])
        return Conversation(whole.kind, whole.tools, whole.request, whole.steps[:1])


def free_edges(frame, form):
    """(begins, ends): does the form begin or end with a slot of free text?"""
    free = ['{%s}' % slot for slot, description in frame['params'].items() if description['kind'] in FREE_TEXT]
    return form.startswith(tuple(free)), form.rstrip('.!?').endswith(tuple(free))


def says_an_option(form, description):
    """Do the words of a request themselves name an option, as "show the open tickets" does?"""
    words = re.findall(r'\w+', SLOT.sub(' ', form).lower())
    return any(option in words for options in description.get('options', ()) for option in options)


def result_noun(tool):
    """The last word of the tool's name."""
    return re.split(r'[^a-z]+', tool.name.lower())[-1] or 'result'
