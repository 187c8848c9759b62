import type { Message } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Conversation } from './conversation.ts';

const id = fc.constantFrom('a', 'b');
const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant('user' as const), text: fc.string() }),
  fc.record({
    role: fc.constant('assistant' as const),
    text: fc.string(),
    calls: fc.array(fc.record({ id, name: id, arguments: fc.json() }), { maxLength: 2 }),
  }),
  fc.record({ role: fc.constant('tool' as const), callId: id, name: id, success: fc.boolean(), text: fc.string() }),
);

test('a conversation converted step by step equals one converted at once, and earlier messages are not mutated', () => {
  fc.assert(
    fc.property(fc.array(fc.array(anyMessage, { maxLength: 4 }), { maxLength: 6 }), (steps) => {
      const conversation = new Conversation('p');
      const messages: Message[] = [];
      const seen: { readonly prompt: readonly object[]; readonly copy: unknown }[] = [];
      for (const step of steps) {
        messages.push(...step);
        const prompt = conversation.toPrompt(messages);
        expect(prompt).toEqual(new Conversation('p').toPrompt([...messages]));
        // The list itself grows; its messages are never mutated.
        seen.push({ prompt: [...prompt], copy: structuredClone(prompt) });
      }
      for (const { prompt, copy } of seen) expect(prompt).toEqual(copy);
    }),
  );
});

test('a list with a replaced message is converted again', () => {
  const conversation = new Conversation('p');
  const messages: Message[] = [{ role: 'user', text: 'one' }];
  conversation.toPrompt(messages);
  messages[0] = { role: 'user', text: 'two' };
  expect(conversation.toPrompt(messages)).toEqual([{ role: 'user', content: [{ type: 'text', text: 'two' }] }]);
});

test('adjacent results become one complete message', () => {
  fc.assert(
    fc.property(fc.array(anyMessage), (messages) => {
      const prompt = new Conversation('p').toPrompt(messages) as readonly {
        readonly role: string;
        readonly content: readonly unknown[];
      }[];
      const roles = prompt.map(({ role }) => role);
      expect(roles.some((role, index) => role === 'tool' && roles[index + 1] === 'tool')).toBe(false);
      const results = prompt.flatMap(({ role, content }) => (role === 'tool' ? content : []));
      expect(results).toHaveLength(messages.filter(({ role }) => role === 'tool').length);
    }),
  );
});

test.each<[string, Message, readonly unknown[]]>([
  ['nothing', { role: 'assistant', text: '', calls: [] }, []],
  ['white space', { role: 'assistant', text: ' \n', calls: [] }, []],
  [
    'white space, and more of it for the provider alone',
    {
      role: 'assistant',
      text: ' ',
      calls: [],
      providerMetadata: { aiSdk: { provider: 'p', content: [{ type: 'text', text: ' ' }] } },
    },
    [],
  ],
  [
    'white space beside a call',
    { role: 'assistant', text: '\n', calls: [{ id: 'a', name: 'b', arguments: '{}' }] },
    [
      {
        role: 'assistant',
        content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'b', input: {} }],
      },
    ],
  ],
])('a message that is %s has no text and is omitted without calls', (_title, message, expected) => {
  const before: Message = { role: 'user', text: 'Go.' };
  const after: Message = { role: 'user', text: 'It is not done.' };
  const prompt = new Conversation('p').toPrompt([before, message, after]);
  expect(prompt).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Go.' }] },
    ...expected,
    { role: 'user', content: [{ type: 'text', text: 'It is not done.' }] },
  ]);
});
