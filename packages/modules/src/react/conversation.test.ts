import type { Message } from '@holdfast/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Conversation } from './conversation.ts';

const says = (text: string): Message => ({ role: 'user', text });
const texts = (messages: readonly Message[]): string => messages.map(({ text }) => text).join(' ');

test('the oldest rounds are left out, never the newest; the history keeps all', () => {
  const conversation = new Conversation([says('start')]);
  expect(conversation.leaveOutOldest()).toBe(false);
  for (const round of ['a', 'b', 'c']) {
    conversation.begin(says(round));
    conversation.add(says(`${round}+`));
  }
  expect(conversation.leaveOutOldest()).toBe(true);
  expect(texts(conversation.sent)).toBe('start b b+ c c+');
  expect(conversation.leaveOutOldest()).toBe(true);
  expect(conversation.leaveOutOldest()).toBe(false);
  expect(texts(conversation.sent)).toBe('start c c+');
  expect(texts(conversation.history)).toBe('start a a+ b b+ c c+');
});

test('the sent messages grow in place until a round is left out', () => {
  const conversation = new Conversation([says('start')]);
  conversation.begin(says('a'));
  const { sent } = conversation;
  conversation.begin(says('b'));
  expect(conversation.sent).toBe(sent);
  conversation.leaveOutOldest();
  expect(texts(sent)).toBe('start a b');
});

test('saved as JSON and restored, it continues unchanged', () => {
  const moves = fc.array(fc.constantFrom('begin', 'add', 'leave'), { maxLength: 20 });
  const play = (conversation: Conversation, names: readonly string[]): void => {
    for (const [at, name] of names.entries()) {
      if (name === 'begin') conversation.begin(says(`${at}`));
      else if (name === 'add') conversation.add(says(`+${at}`));
      else conversation.leaveOutOldest();
    }
  };
  fc.assert(
    fc.property(moves, moves, (before, after) => {
      const first = new Conversation([says('start')]);
      play(first, before);
      const { start, rounds, leftOut } = JSON.parse(JSON.stringify(first));
      const second = new Conversation(start, rounds, leftOut);
      for (const conversation of [first, second]) play(conversation, after);
      expect(second.sent).toEqual(first.sent);
      expect(second.history).toEqual(first.history);
      expect(second.leftOut).toBe(first.leftOut);
    }),
  );
});
