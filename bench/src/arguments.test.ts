import { expect, test } from 'vitest';
import { names, parseArguments } from './arguments.ts';

test.each([
  [[], { names, json: false }],
  [['--json'], { names, json: true }],
  [['size', '--json', 'call-path', 'size'], { names: ['size', 'call-path'], json: true }],
  [['call-path/loop'], { names: ['call-path/loop'], json: false }],
  [['--jsn'], { problem: expect.stringContaining('no benchmark `--jsn`') }],
  [['call-path', 'gone'], { problem: expect.stringContaining('no benchmark `gone`') }],
])('%j', (given, request) => {
  expect(parseArguments(given)).toEqual(request);
});
