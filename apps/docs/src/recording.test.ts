import { expect, test } from 'vitest';
import { drawRecording } from './recording.ts';

const call = (id: number, command: string) => `\u001B[2mcall-${id}\u001B[22m  \u001B[1m$ ${command}\u001B[22m`;

test('each call appears after the one before, in its colors', () => {
  const svg = drawRecording(
    `Start\n${call(1, 'ls')}\n        \u001B[32mallowed\u001B[39m, ran\n${call(2, 'a < b & c')}\n`,
  );
  expect(svg.match(/<g .*<\/g>/g)).toEqual([
    '<g style="animation-name:s0"><text x="16" y="30">Start</text></g>',
    expect.stringContaining('        <tspan class="g">allowed</tspan>, ran</text></g>'),
    expect.stringContaining('<tspan class="d">call-2</tspan>  <tspan class="b">$ a &lt; b &amp; c</tspan></text></g>'),
  ]);
  expect(svg.match(/@keyframes s\d[^}]+\}\d+\.\d%/g)).toEqual([
    '@keyframes s1{0%{opacity:0}13.7%',
    '@keyframes s2{0%{opacity:0}27.5%',
  ]);
});

test('a long line is broken between words and keeps its indentation', () => {
  const svg = drawRecording(`${call(1, 'ls')}\n    ${'word '.repeat(30)}`);
  const lines = [...svg.matchAll(/>( {4}word[^<]*)</g)].map(([, line = '']) => line);
  expect(lines.map((line) => line.trim().split(' ').length)).toEqual([18, 12]);
});
