import { expect, test } from 'vitest';
import { readListedTools } from './definition.ts';
import { inferDspyPrefix, listDspyFields } from './fields.ts';
import { signatureOf } from './test-states.ts';

// The first four are from DSPy's own tests (`tests/signatures/test_signature.py`).
test.each([
  ['someAttributeName42IsCool', 'Some Attribute Name 42 Is Cool:'],
  ['version2Update', 'Version 2 Update:'],
  ['modelT45Enhanced', 'Model T 45 Enhanced:'],
  ['someAttributeName', 'Some Attribute Name:'],
  ['some_attribute_name', 'Some Attribute Name:'],
  ['URLAddress', 'URL Address:'],
  ['isHTTPSecure', 'Is HTTP Secure:'],
  ['question', 'Question:'],
  ['next_tool_name', 'Next Tool Name:'],
  ['answer2', 'Answer 2:'],
  ['a1b', 'A 1 B:'],
  ['a_B', 'A B:'],
  ['my_Name', 'My  Name:'],
  ['_private', ' Private:'],
])('%s has the prefix %j', (name, prefix) => {
  expect(inferDspyPrefix(name)).toBe(prefix);
});

test.each([
  { kind: 'predict' as const, names: ['q', 'a'] },
  { kind: 'chain_of_thought' as const, names: ['q', 'reasoning', 'a'] },
  { kind: 'react' as const, names: ['q', 'trajectory', 'next_thought', 'next_tool_name', 'next_tool_args'] },
  { kind: 'extract' as const, names: ['q', 'trajectory', 'reasoning', 'a'] },
])('the fields of $kind', ({ kind, names }) => {
  expect(listDspyFields(kind, signatureOf('q -> a')).map(({ name }) => name)).toStrictEqual(names);
});

test.each([
  {
    what: 'with and without descriptions',
    text: 'Do it.\n(1) a, whose description is <desc>A.</desc>. It takes arguments {}.\n(2) b. It takes arguments {}.',
    names: ['a', 'b'],
  },
  {
    what: 'of an older DSPy',
    text: '(1) a, whose description is <desc>A.</desc>. It takes arguments {} in JSON format.',
    names: ['a'],
  },
  { what: 'with dots in the name', text: '(12) files.read. It takes arguments {}.', names: ['files.read'] },
  {
    what: 'whose description names another',
    text: '(1) a, whose description is <desc>As b. It takes arguments</desc>. It takes arguments {}.',
    names: ['a'],
  },
  { what: 'none', text: 'Do it.', names: undefined },
  { what: 'a list of something else', text: '(1) Think. (2) Answer.', names: undefined },
  { what: 'no name', text: '(1) . It takes arguments {}.', names: undefined },
])('tools in an instruction: $what', ({ text, names }) => {
  expect(readListedTools(text)).toStrictEqual(names);
});
