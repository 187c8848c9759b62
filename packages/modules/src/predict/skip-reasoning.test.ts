import fc from 'fast-check';
import { expect, test } from 'vitest';
import { skipReasoning } from './parse-answer.ts';

test.each([
  ['', ''],
  ['Paris', 'Paris'],
  ['<think>x</think>Paris', 'Paris'],
  ['\n<think>\nx\n</think>\n\nParis', '\n\nParis'],
  ['<THINKING>x</thinking>Paris', 'Paris'],
  ['<think>x</think><think>y</think>Paris', 'Paris'],
  ['<think>x</think>\n<reflection>y</reflection>\nParis', '\nParis'],
  ['Let me think.\n<think>x</think>Paris', 'Paris'],
  ['<think>x <thinking>y</thinking> z</think>Paris', 'Paris'],
  // The chat template of some models writes the opening tag.
  ['x\n</think>\nParis', '\nParis'],
  ['{"a":1}? No.\n</think>\n{"a":2}', '\n{"a":2}'],
  ['[[ ## a ## ]]\nx</think>\n[[ ## a ## ]]\ny', '\n[[ ## a ## ]]\ny'],
  ['{"a":1}?\n</think>\n<think>y</think>\nParis', '\nParis'],
  ['</think>Paris', 'Paris'],
  ['x</think>\r\nParis', '\r\nParis'],
  // A quoted tag within reasoning.
  ['<think>it ends with </think>, so\n[[ ## a ## ]]\nx\n</think>\n[[ ## a ## ]]\ny', '\n[[ ## a ## ]]\ny'],
  // Only reasoning.
  ['<think>x', ''],
  ['<think>x</thinking>Paris', ''],
  ['Hm.\n<think>\n{"a":1}', ''],
  // Tags that belong to the answer.
  ['[[ ## a ## ]]\n<think>x</think>', '[[ ## a ## ]]\n<think>x</think>'],
  ['**[[ ## a ## ]]**\n<think>x', '**[[ ## a ## ]]**\n<think>x'],
  ['{"a":"<think>"}\n<think>', '{"a":"<think>"}\n<think>'],
  ['Use <think> and </think> here.', 'Use <think> and </think> here.'],
  ['<b>x</b>', '<b>x</b>'],
  ['<think', '<think'],
])('%j becomes %j', (text, answer) => {
  expect(skipReasoning(text)).toBe(answer);
});

test('property: the result is a suffix of the text, and reading it again skips nothing without a tag', () => {
  const pieces = fc.constantFrom(
    ...['<think>', '</think>', '<reasoning>', '\n', 'a', ' ', '{', '[[', '**', '\r\n', '<'],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
      const text = parts.join('');
      const answer = skipReasoning(text);
      expect(text.endsWith(answer)).toBe(true);
      if (!/<\/?(?:think|reasoning)>/.test(text)) expect(answer).toBe(text);
    }),
  );
});
