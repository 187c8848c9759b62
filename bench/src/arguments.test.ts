import { expect, test } from 'vitest';
import { names, parseArguments } from './arguments.ts';

test.each([
  [[], { names, json: false }],
  [['--json'], { names, json: true }],
  [['loop', '--json', 'call', 'loop'], { names: ['loop', 'call'], json: true }],
  [['--jsn'], { problem: expect.stringContaining('no benchmark `--jsn`') }],
  [['call', 'gone'], { problem: expect.stringContaining('no benchmark `gone`') }],
])('%j', (given, request) => {
  expect(parseArguments(given)).toEqual(request);
});
