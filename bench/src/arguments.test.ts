import { expect, test } from 'vitest';
import { names, parseArguments, parts } from './arguments.ts';

test.each([
  [[], { names, json: false, full: false }],
  [['--json'], { names, json: true, full: false }],
  [['size', '--json', 'stores', 'size'], { names: ['size', 'stores'], json: true, full: false }],
  [['guard', '--full'], { names: ['guard'], json: false, full: true }],
  [['call-path'], { names: parts.map((part) => `call-path/${part}`), json: false, full: false }],
  [
    ['call-path/loop', 'peers', 'call-path/peers'],
    { names: ['call-path/loop', 'call-path/peers'], json: false, full: false },
  ],
  [['--jsn'], { problem: expect.stringContaining('no benchmark `--jsn`') }],
  [['call-path', 'gone'], { problem: expect.stringContaining('no benchmark `gone`') }],
])('%j', (given, request) => {
  expect(parseArguments(given)).toEqual(request);
});
